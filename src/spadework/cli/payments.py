"""A made table of payments, to try the commands on."""

import csv
import io
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from spadework.errors import DataError

N_ROWS, LABELED_SHARE = 6_000, 0.08
_START = datetime(2025, 3, 1)
_COLUMNS = "id time amount channel merchant card_present age_of_card note status".split()


def write_payments(path: Path, seed: int) -> None:
    """Write payments to a CSV file, unless it is there.

    Two kinds of fraud: large payments on the web, of which some are labeled, and
    withdrawals at night with new cards, which nobody has labeled yet.
    """
    import numpy as np

    if path.exists():
        raise DataError(f"{path} exists and is left as it is; choose another name")
    rng = np.random.default_rng(seed)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for number in range(N_ROWS):
        writer.writerow(_payment(number, rng))
    path.write_text(text.getvalue(), encoding="utf-8", newline="")


def _payment(number: int, rng: Any) -> list[Any]:
    """Make one payment."""
    kind = rng.choice(["plain", "web fraud", "night fraud"], p=[0.96, 0.025, 0.015])
    channel = rng.choice(["shop", "web", "atm"], p=[0.6, 0.3, 0.1])
    amount, hour = rng.lognormal(3, 0.8), rng.normal(14, 4)
    age, labeled = rng.gamma(4, 300), rng.random() < LABELED_SHARE
    if kind == "web fraud":
        channel, amount = "web", rng.lognormal(5, 0.5)
        labeled = rng.random() < 0.4
    elif kind == "night fraud":
        channel, amount, hour, age = "atm", rng.lognormal(4.5, 0.4), 3.0, rng.gamma(2, 10)
        labeled = False
    day = timedelta(days=number * 60 / N_ROWS)
    time = (_START + day).replace(hour=int(hour) % 24, minute=int(rng.integers(60)))
    return [
        f"P{100_000 + number}",
        time.isoformat(sep=" ", timespec="seconds"),
        "" if rng.random() < 0.01 else round(float(amount), 2),
        channel,
        f"M{int(rng.zipf(1.5)) % 400:03d}",
        str(channel != "web").lower(),
        int(age),
        f"payment {number} of customer {rng.integers(10**6)} by {channel} as is usual",
        ("ok" if kind == "plain" else "fraud") if labeled else "",
    ]
