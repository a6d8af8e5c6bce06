"""Publishing: the averaged weights go into the library, with a card beside them."""

import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from spadework.errors import InputError
from spadework.in_context.weights import PUBLISHED, Weights

CARD = "weights.md"

_CARD = """\
# Weights of the in-context model

| | |
|---|---|
| data | made tables only (`spadework_research.made_tables`); no real row was seen |
| steps | {steps} |
| time | {hours:.2f} hours on {device} |
| weights | {n_weights:,} in half precision |
| shape | `{config}` |
| versions | spadework {spadework}, PyTorch {torch} |
| sha256 | `{sha256}` |
| licence | Apache-2.0, as spadework |

| until step | prior | schedule |
|---|---|---|
{stages}

Checkpoints and their evaluation are chosen on half A of sixty public tables
(`research/results/tables60.jsonl`). Seeds draw the same tables again; on a GPU sums are
added in an order that is not fixed, so a second run gives other weights of the same kind.
"""


def publish(folders: Sequence[Path]) -> None:
    """Put the weights that training wrote to a folder in the library, with their card.

    Of several folders, whose training went on from one another, the mean is taken: it
    ranks real tables at least as well as each of them, for nothing.
    """
    for folder in folders:
        if not (folder / PUBLISHED).exists():
            raise InputError(
                f"{folder} must be a folder that training wrote to; it has no {PUBLISHED}"
            )
    target = Path(str(files("spadework.in_context")))
    mean([Weights.read(folder / PUBLISHED) for folder in folders]).write(
        target / PUBLISHED
    )
    told = [json.loads((f / "checkpoint.json").read_text("utf-8")) for f in folders]
    content = (target / PUBLISHED).read_bytes()
    (target / CARD).write_text(card(told, content), encoding="utf-8")


def mean(weights: Sequence[Weights]) -> Weights:
    """Average weights of one shape."""
    shapes = {each.config for each in weights}
    if len(shapes) > 1:
        raise InputError(f"weights must be of one shape to be averaged; got {shapes}")
    arrays = {
        name: np.mean([w.arrays[name].astype(np.float32) for w in weights], axis=0)
        for name in weights[0].arrays
    }
    halves = {name: np.asarray(array, np.float16) for name, array in arrays.items()}
    return Weights(shapes.pop(), halves)


def card(told: Sequence[dict[str, Any]], content: bytes) -> str:
    """Say how weights came to be, from what their checkpoints tell, the latest last."""
    steps = [f"{each['step']:,}" for each in told]
    stages = "\n".join(
        f"| {stage['step']:,} | `{stage['prior']}` | `{stage['schedule']}` |"
        for stage in told[-1]["stages"]
    )
    return _CARD.format(
        **told[-1]
        | {
            "steps": steps[0] if len(told) == 1 else f"mean of {' and '.join(steps)}",
            "stages": stages,
        },
        hours=told[-1]["seconds"] / 3600,
        sha256=hashlib.sha256(content).hexdigest(),
    )
