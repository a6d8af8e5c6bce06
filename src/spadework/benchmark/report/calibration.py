"""How far the probabilities of each method come true, by setting of the labels."""

from collections import defaultdict
from statistics import mean
from typing import NamedTuple

from spadework.benchmark.methods import COMPARED, METHODS, Method
from spadework.benchmark.report.cells import Runs
from spadework.benchmark.report.summary import SUMMARIZED
from spadework.benchmark.tables import TABLES

SETTINGS = ("PNU", "PU", "NU")


class Calibration(NamedTuple):
    """Means over the cells of a setting."""

    error: float
    brier: float
    n_cells: int


class CalibrationRow(NamedTuple):
    """A method, and its calibration in every setting it was measured in."""

    method: Method
    by_setting: dict[str, Calibration]


def measure_calibration(runs: Runs) -> list[CalibrationRow]:
    """Average over seeds, then over cells, in the order of the methods."""
    rows = []
    for name in COMPARED:
        cells: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for table in (TABLES[each] for each in SUMMARIZED):
            for column in table.columns:
                where = table.name, column.key, name
                errors = runs.values(*where, "calibration_error")
                briers = runs.values(*where, "brier_score")
                if errors and briers:
                    cells[column.setting].append((mean(errors), mean(briers)))
        by_setting = {
            setting: Calibration(
                mean(error for error, _ in found),
                mean(brier for _, brier in found),
                len(found),
            )
            for setting, found in cells.items()
        }
        if by_setting:
            rows.append(CalibrationRow(METHODS[name], by_setting))
    return rows
