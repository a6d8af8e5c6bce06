"""The command line tells its version, and errors in a paragraph."""

import spadework
from commands import QUIET, ended


def test_version_is_the_package_version(tmp_path):
    assert ended("--version", cwd=tmp_path).stdout.strip() == spadework.__version__


def test_unknown_verb_is_refused(tmp_path):
    assert "frobnicate" in ended("frobnicate", cwd=tmp_path, code=2).stderr


def test_unexpected_errors_are_one_paragraph_without_debug(made):
    fit = ("fit", "old.csv", *QUIET, "--learner", "nonsense", "-o", "x")
    done = ended(*fit, cwd=made, code=1)
    assert done.stderr.count("\n") <= 2
    assert "learner must be" in done.stderr
