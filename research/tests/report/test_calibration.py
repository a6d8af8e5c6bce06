"""Calibration is compared over the same cells alone."""

from made_results import done
from spadework_research.report.calibration import measure_calibration
from spadework_research.report.cells import Runs


def test_probabilities_are_compared_over_the_same_cells_alone():
    def run(column, method, error):
        measured = {"calibration_error": error, "brier_score": error / 2}
        return done("new_types", column, method, **measured)

    both = [run(column, "spade", 0.1) for column in ("thyroid", "drug")]
    rows = measure_calibration(Runs([*both, run("drug", "occ", 0.01)]))
    assert [row.method.name for row in rows] == ["spade"]
    assert rows[0].by_setting == {"PNU": (0.1, 0.05)}
    as_many = [run(column, "occ", 0.01) for column in ("thyroid", "drug")]
    rows = measure_calibration(Runs([*both, *as_many]))
    assert [row.method.name for row in rows] == ["spade", "occ"]
