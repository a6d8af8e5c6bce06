"""Publishing: the averaged weights go into the library, with a card beside them."""

import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from spadework.errors import InputError
from spadework.in_context.weights import PUBLISHED

CARD = "weights.md"

_CARD = """\
# Weights of the in-context model

| | |
|---|---|
| data | made tables only (`spadework_research.made_tables`); no real row was seen |
| steps | {step:,} |
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


def publish(folder: Path) -> None:
    """Copy the weights that training wrote to a folder, and write their card."""
    source = folder / PUBLISHED
    if not source.exists():
        raise InputError(
            f"{folder} must be a folder that training wrote to; it has no {PUBLISHED}"
        )
    content = source.read_bytes()
    target = Path(str(files("spadework.in_context")))
    (target / PUBLISHED).write_bytes(content)
    told = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
    (target / CARD).write_text(card(told, content), encoding="utf-8")


def card(told: dict[str, Any], content: bytes) -> str:
    """Say how weights came to be, from what the checkpoint tells."""
    stages = "\n".join(
        f"| {stage['step']:,} | `{stage['prior']}` | `{stage['schedule']}` |"
        for stage in told["stages"]
    )
    return _CARD.format(
        **told | {"stages": stages},
        hours=told["seconds"] / 3600,
        sha256=hashlib.sha256(content).hexdigest(),
    )
