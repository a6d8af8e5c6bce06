"""Files of pictures are found below a folder, and others are left out."""

import os

import pytest
from made_photos import put

from spadework.errors import DataError
from spadework.images.photos import find_photos


def test_hidden_and_other_files_are_left_out(tmp_path):
    put(tmp_path, "good/a.png", "good/._a.png", "good/.thumbs/b.png", ".cache/c.png")
    put(tmp_path, "good/notes.txt", "good/film.gif", "README")
    assert find_photos(tmp_path).names == ("good/a.png",)


def test_pictures_of_kinds_that_are_not_read_are_counted(tmp_path, caplog):
    put(tmp_path, "good/a.jfif", "good/b.HEIC", "good/c.gif", "defect/d.jpe", "notes.txt")
    assert find_photos(tmp_path).names == ("defect/d.jpe", "good/a.jfif")
    (record,) = caplog.records
    assert "left out: 2 pictures" in record.getMessage()
    assert ".gif, .heic" in record.getMessage()


def test_linked_folders_are_followed_and_circles_are_not(tmp_path):
    put(tmp_path / "elsewhere", "a.png")
    put(tmp_path / "set", "good/b.png")
    os.symlink(tmp_path / "elsewhere", tmp_path / "set" / "good" / "linked")
    os.symlink(tmp_path / "set" / "good", tmp_path / "set" / "good" / "circle")
    assert find_photos(tmp_path / "set").names == ("good/b.png", "good/linked/a.png")


def test_an_absent_folder_a_file_and_no_pictures_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"nothing does not exist; expected a folder"):
        find_photos(tmp_path / "nothing")
    with pytest.raises(DataError, match="found no file at all"):
        find_photos(tmp_path)
    put(tmp_path, "good/a.gif", "good/b.gif", "notes.txt")
    with pytest.raises(DataError, match=r"end in \.jpg.*2 with \.gif, 1 with \.txt"):
        find_photos(tmp_path)
    with pytest.raises(DataError, match="is a file, not a folder"):
        find_photos(tmp_path / "notes.txt")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any folder")
def test_a_folder_that_may_not_be_read_is_named(tmp_path):
    put(tmp_path, "good/locked/a.png")
    (tmp_path / "good" / "locked").chmod(0)
    try:
        with pytest.raises(DataError, match="locked may not be read"):
            find_photos(tmp_path)
    finally:
        (tmp_path / "good" / "locked").chmod(0o755)
