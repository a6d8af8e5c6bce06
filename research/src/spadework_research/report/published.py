"""The paper's numbers, and how near our runs of its baselines come to them."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from spadework_research.runs.tables import Column

Measure = Literal["auc", "auc_given", "auc_missed", "average_precision"]

SPADE_ROW = "SPADE"
TOLERANCE = 0.03
"""A difference in AUC that is always within; two standard deviations are, too."""

NO_EXPLANATION = "no explanation given"

_ROUNDING = 1e-9
_FOLDER = Path(__file__).parent
_SUFFIXES = {"auc": "overall", "auc_given": "given", "auc_missed": "missed"}


class PaperValue(NamedTuple):
    """A mean of the paper with its standard deviation, where it prints one."""

    mean: float
    std: float | None


@cache
def read_paper() -> dict[str, dict[str, dict[str, PaperValue]]]:
    """Read the paper's tables: table, row and column to value."""
    content = json.loads((_FOLDER / "paper.json").read_text(encoding="utf-8"))
    return {
        table: {
            row: {column: PaperValue(**value) for column, value in columns.items()}
            for row, columns in rows.items()
        }
        for table, rows in content.items()
    }


@cache
def read_explanations() -> dict[str, str]:
    """Read why numbers differ from the paper's; see `explain` for the keys."""
    return json.loads((_FOLDER / "explanations.json").read_text(encoding="utf-8"))


def paper_rows(table: str) -> list[str]:
    """Return the rows of a table in the paper; where it has none, of the first one."""
    paper = read_paper()
    return list(paper.get(table, paper["new_types"]))


def paper_value(
    table: str, column: Column, measure: Measure, row: str | None
) -> PaperValue | None:
    """Look up a number of the paper, None where it has none."""
    cells = read_paper().get(table, {}).get(row or "", {})
    key = column.key.replace("-", "/", 1)
    found = cells.get(f"{key}/{_SUFFIXES.get(measure)}")
    return cells.get(key) if found is None and measure == "auc" else found


def is_within(difference: float, std: float | None) -> bool:
    """Tell whether a mean agrees with the paper's: ``max(0.03, 2 * std)`` apart."""
    return abs(difference) <= max(TOLERANCE, 2 * (std or 0.0)) + _ROUNDING


def explain(table: str, column: Column, method: str, sentences: Mapping[str, str]) -> str:
    """Look up why a number differs; of several sentences, the most specific.

    Keys are ``table/column/method``, ``dataset/method`` and ``method``.
    """
    keys = (f"{table}/{column.key}/{method}", f"{column.dataset}/{method}", method)
    return next((sentences[key] for key in keys if key in sentences), NO_EXPLANATION)
