"""Sweeps leave a line on how long they took, and broken lines are told."""

import pytest

from spadework.errors import DataError
from spadework_research.runs.sweeps import SWEEPS, Sweep, logged_sweep, read_sweeps


def test_a_sweep_that_is_broken_off_is_noted_with_the_runs_that_ended(tmp_path):
    def interrupted():
        with logged_sweep(tmp_path, 3) as ended:
            ended()
            ended()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with logged_sweep(tmp_path, 2, gpu=True) as ended:
        ended()
    first, second = read_sweeps(tmp_path)
    assert (first.n_runs, first.n_cores) == (2, 3)
    assert (second.n_runs, second.n_cores) == (1, 2)
    assert (first.gpu, second.gpu) == (False, True)
    assert 0 <= first.seconds < 60


def test_a_line_from_before_gpus_were_noted_is_read(tmp_path):
    (tmp_path / SWEEPS).write_text('{"n_runs": 1, "n_cores": 4, "seconds": 2.0}\n')
    assert read_sweeps(tmp_path) == [Sweep(1, 4, 2.0, gpu=False)]


def test_a_sweep_without_a_run_leaves_nothing(tmp_path):
    with logged_sweep(tmp_path, 2):
        pass
    assert list(tmp_path.iterdir()) == []
    assert read_sweeps(tmp_path) == []


@pytest.mark.parametrize("line", ["{", '{"n_runs": 1}', "[1]", "3"])
def test_a_line_that_is_no_sweep_is_told(tmp_path, line):
    (tmp_path / SWEEPS).write_text(line + "\n")
    with pytest.raises(DataError, match="not a list of sweeps"):
        read_sweeps(tmp_path)


def test_a_sweep_without_cores_is_refused(tmp_path):
    (tmp_path / SWEEPS).write_text('{"n_runs": 1, "n_cores": 0, "seconds": 2.0}\n')
    with pytest.raises(DataError, match="above zero"):
        read_sweeps(tmp_path)
