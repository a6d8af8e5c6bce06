"""How far the probabilities of each method come true, by setting of the labels."""

from statistics import mean
from typing import NamedTuple

from spadework_research.report.cells import Runs
from spadework_research.report.summary import SUMMARIZED
from spadework_research.runs.methods import COMPARED, METHODS, Method
from spadework_research.runs.tables import TABLES

SETTINGS = ("PNU", "PU", "NU")


class Calibration(NamedTuple):
    """Means over the cells of a setting."""

    error: float
    brier: float


class CalibrationRow(NamedTuple):
    """A method, and its calibration in every setting it was measured in."""

    method: Method
    by_setting: dict[str, Calibration]


def measure_calibration(runs: Runs) -> list[CalibrationRow]:
    """Average over seeds, then over cells, in the order of the methods.

    A setting counts for methods that were measured in as many of its cells as any other:
    means over different cells cannot be compared.
    """
    measured = {name: _cells(runs, name) for name in COMPARED}
    n_cells = {
        setting: max(len(cells[setting]) for cells in measured.values())
        for setting in SETTINGS
    }
    rows = []
    for name, cells in measured.items():
        by_setting = {
            setting: Calibration(*map(mean, zip(*cells[setting], strict=True)))
            for setting in SETTINGS
            if cells[setting] and len(cells[setting]) == n_cells[setting]
        }
        if by_setting:
            rows.append(CalibrationRow(METHODS[name], by_setting))
    return rows


def _cells(runs: Runs, method: str) -> dict[str, list[Calibration]]:
    """Average a method over seeds, in every cell of each setting."""
    cells: dict[str, list[Calibration]] = {setting: [] for setting in SETTINGS}
    for table in (TABLES[each] for each in SUMMARIZED):
        for column in table.columns:
            where = table.name, column.key, method
            errors = runs.values(*where, "calibration_error")
            briers = runs.values(*where, "brier_score")
            if errors and briers:
                cells[column.setting].append(Calibration(mean(errors), mean(briers)))
    return cells
