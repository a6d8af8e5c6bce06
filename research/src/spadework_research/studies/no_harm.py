"""Whether unlabeled rows help or harm, on made tables that no training saw.

``python -m spadework_research.studies.no_harm`` scores the same rows twice, once in the
context of labeled and unlabeled rows and once of the labeled rows alone, and keeps mean
AUC by scenario.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor

from spadework.in_context.encoding import ColumnScale
from spadework.in_context.modules import InContextModel
from spadework.in_context.weights import Weights, published
from spadework.progress import progress
from spadework_research.made_tables.draw import Draw
from spadework_research.made_tables.labeling import SCENARIOS
from spadework_research.made_tables.tables import MadeTables, Prior, draw_tables
from spadework_research.places import results_folder

RESULTS = "no_harm.json"
UNSEEN = 2**62
"""Seeds from here on are never trained on."""

_UNLABELED = 2
_SHAPES = ((700, 5), (1000, 10), (1500, 20), (1000, 40))  # rows, columns
_CONTEXT_SHARE = 0.7
_TABLES_A_SHAPE = 4


class Help(NamedTuple):
    """What unlabeled rows bring in a scenario: mean AUC, and its difference."""

    scenario: str
    n_tables: int
    auc: float
    auc_blind: float
    difference: float
    standard_error: float


def measure(model: InContextModel, scenario: int, n_tables: int) -> Help:
    """Score tables of a scenario with and without their unlabeled rows."""
    frequencies = tuple(float(i == scenario) for i in range(len(SCENARIOS)))
    pairs: list[tuple[float, float]] = []
    number = 0
    while len(pairs) < n_tables:
        n_rows, n_columns = _SHAPES[number % len(_SHAPES)]
        draw = Draw(UNSEEN + number)
        tables = draw_tables(
            draw,
            Prior(frequencies),
            n_tables=_TABLES_A_SHAPE,
            n_rows=n_rows,
            n_columns=n_columns,
            n_context=int(_CONTEXT_SHARE * n_rows),
        )
        pairs += [
            pair
            for position in range(_TABLES_A_SHAPE)
            if (pair := _aucs(model, draw, tables, position)) is not None
        ]
        number += 1
    seeing, blind = np.array(pairs[:n_tables]).T
    apart = seeing - blind
    return Help(
        list(SCENARIOS)[scenario],
        n_tables,
        auc=_rounded(seeing.mean()),
        auc_blind=_rounded(blind.mean()),
        difference=_rounded(apart.mean()),
        standard_error=_rounded(apart.std(ddof=1) / n_tables**0.5),
    )


def _rounded(value: np.floating) -> float:
    return round(float(value), 4)


def _aucs(
    model: InContextModel, draw: Draw, tables: MadeTables, position: int
) -> tuple[float, float] | None:
    """AUC with and without unlabeled rows; none where all rows are of one kind."""
    states = tables.states[position]
    context, rows = tables.X[position].tensor_split([len(states)])
    truth = tables.kind[position, len(states) :] > 0
    if truth.all() or not truth.any():
        return None
    identity = draw.normal(1, context.shape[1], model.config.n_identity)
    labeled = states != _UNLABELED
    seeing, blind = (
        float(
            roc_auc_score(
                truth, _score(model, context[kept], states[kept], rows, identity)
            )
        )
        for kept in (torch.ones_like(labeled), labeled)
    )
    return seeing, blind


def _score(
    model: InContextModel, context: Tensor, states: Tensor, rows: Tensor, identity: Tensor
) -> Tensor:
    """Logits of rows (n_rows, n_columns) in a context (n_context, n_columns)."""
    with torch.inference_mode():
        scale = ColumnScale.of(context[None])
        reading = model.read(scale.cells(context[None]), states[None], identity)
        return model.score(scale.cells(rows[None]), reading.state)[0]


def main() -> None:
    """Measure every scenario and keep the result."""
    parser = argparse.ArgumentParser(prog="python -m spadework_research.studies.no_harm")
    parser.add_argument("--tables", type=int, default=120, help="for each scenario")
    parser.add_argument("--weights", type=Path, help="a file that training wrote")
    asked = parser.parse_args()
    weights = Weights.read(asked.weights) if asked.weights else published()
    model, found = weights.model(), []
    with progress("scoring made tables", len(SCENARIOS), verbose=True) as advance:
        for position, name in enumerate(SCENARIOS):
            found.append(measure(model, position, asked.tables)._asdict())
            advance(name)
    lines = ",\n".join(json.dumps(each) for each in found)
    (results_folder() / RESULTS).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(lines)


if __name__ == "__main__":
    main()
