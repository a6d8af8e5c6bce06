"""Files are written whole or not at all, and only where they may be."""

import os
import stat

import pytest

from spadework.errors import DataError
from spadework.files import (
    MODEL_FILE,
    check_ending,
    check_place,
    model_file,
    open_new,
    refuse_to_replace,
    write_whole,
)

OLD, NEW = b"what was there", b"what is written"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.csv"


@pytest.fixture
def old(path):
    path.write_bytes(OLD)
    return path


def interrupt_by(error):
    def interrupt(*args, **kwargs):
        raise error

    return interrupt


def write_new(path, *, force=False):
    with open_new(path, force=force) as file:
        file.write(NEW)


# Whole or not at all


@pytest.mark.parametrize("write", [write_whole, lambda path, _: write_new(path)])
def test_a_new_file_has_the_content_and_the_permissions_of_any(path, write):
    write(path, NEW)
    assert path.read_bytes() == NEW
    path.with_name("other").touch()
    assert len({stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}) == 1


def test_a_file_that_is_replaced_keeps_its_permissions(old):
    old.chmod(0o640)
    write_whole(old, NEW)
    assert old.read_bytes() == NEW
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


def test_a_link_stays_a_link(old):
    link = old.with_name("link")
    link.symlink_to(old)
    write_whole(link, NEW)
    assert link.is_symlink()
    assert old.read_bytes() == NEW


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_an_interruption_leaves_the_old_file_whole(old, monkeypatch, step, error):
    with monkeypatch.context() as patch:
        patch.setattr(os, step, interrupt_by(error))
        with pytest.raises(type(error)):
            write_whole(old, NEW)
    assert old.read_bytes() == OLD
    assert os.listdir(old.parent) == [old.name]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interruption_of_the_first_writing_leaves_nothing(path, monkeypatch, step):
    with monkeypatch.context() as patch:
        patch.setattr(os, step, interrupt_by(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            write_whole(path, NEW)
    assert os.listdir(path.parent) == []


def test_why_a_file_could_not_be_written_is_said(path, monkeypatch):
    monkeypatch.setattr(os, "fsync", interrupt_by(OSError(28, "No space left on device")))
    with pytest.raises(DataError, match=r"a\.csv could not be written: No space left"):
        write_whole(path, NEW)


# Where a file may be


def test_a_file_that_is_there_is_replaced_by_force_alone(old):
    with pytest.raises(DataError, match="is left as it is; give --force"):
        write_new(old)
    assert old.read_bytes() == OLD
    write_new(old, force=True)
    assert old.read_bytes() == NEW


def test_a_file_that_appears_meanwhile_is_left_as_it_is(path):
    def write_beside():
        with open_new(path, force=False) as file:
            file.write(NEW)
            path.write_bytes(OLD)

    with pytest.raises(DataError, match="left as it is"):
        write_beside()
    assert path.read_bytes() == OLD
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("force", [True, False])
def test_no_file_takes_the_place_of_a_folder_or_lies_in_none(path, force):
    with pytest.raises(DataError, match="is a folder; name a file in it"):
        check_place(path.parent, force=force)
    with pytest.raises(DataError, match=r"there is no folder .*; make it first"):
        check_place(path / "b.csv", force=force)
    check_place(path, force=force)


def test_what_is_no_file_is_not_replaced_by_force_either(path):
    os.mkfifo(path)
    with pytest.raises(DataError, match="is not a file, and left as it is"):
        refuse_to_replace(path, force=True)


def test_a_name_must_end_as_what_the_file_holds_does(path):
    check_ending(path.with_suffix(".CSV"), ".parquet", ".csv")
    with pytest.raises(DataError, match=r"must end in \.html or \.htm$"):
        check_ending(path, ".html", ".htm")


def test_a_folder_stands_for_the_model_in_it(tmp_path):
    assert model_file(tmp_path) == tmp_path / MODEL_FILE
    assert model_file(tmp_path / "a.spade") == tmp_path / "a.spade"
