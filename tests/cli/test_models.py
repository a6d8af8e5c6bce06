"""Verbs write over nothing that is read, and name what is not there."""

import pytest

from commands import QUIET, ended


@pytest.mark.parametrize("read", ["old.csv", "model/model.spade"])
def test_what_is_read_is_not_written_over_though_that_is_wanted(made, read):
    before = (made / read).read_bytes()
    for verb in ("report", "score"):
        done = ended(verb, "model", "old.csv", "-o", read, "--force", cwd=made, code=1)
        assert f"{read} is read, and left as it is" in done.stderr
    assert (made / read).read_bytes() == before


def test_files_that_a_glob_or_another_option_names_are_read_too(made):
    report = ("report", "model", "old.csv", "-o", "new.csv", "--force")
    score = ("score", "model", "n*.csv", "-o", "new.csv", "--force")
    for command in ((*report, "--held-out", "new.csv"), score):
        done = ended(*command, cwd=made, code=1)
        assert "new.csv is read, and left as it is" in done.stderr


def test_a_place_that_cannot_be_written_to_is_refused_before_anything_is_done(made):
    report = ("report", "model", "old.csv", "-o")
    assert "no folder none" in ended(*report, "none/r.html", cwd=made, code=1).stderr
    fit = ended("fit", "old.csv", *QUIET, "-o", "new.csv/sub", cwd=made, code=1).stderr
    assert "new.csv is a file" in fit


@pytest.mark.parametrize(
    ("verb", "out", "ending"),
    [("report", "r.pdf", ".html"), ("export", "m.bin", ".onnx")],
)
def test_a_file_is_not_given_the_name_of_another_kind(made, verb, out, ending):
    said = ended(verb, "model", "old.csv", "-o", out, cwd=made, code=1).stderr
    assert f"{out} must end in {ending}" in said
    assert not (made / out).exists()


def test_a_folder_without_a_model_is_told(made):
    done = ended("report", "nowhere", "old.csv", cwd=made, code=1)
    assert "there is no model" in done.stderr
