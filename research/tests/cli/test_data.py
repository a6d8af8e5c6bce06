"""The command lists data sets and refuses unknown ones."""

from commands import assert_refused, run


def test_the_command_lists_data_sets_and_refuses_unknown_ones(tmp_path):
    assert "covertype" in run("data", "list", cwd=tmp_path).stdout
    refused = run("data", "fetch", "iris", cwd=tmp_path)
    assert_refused(refused, "known are thyroid")
