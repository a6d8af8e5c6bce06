"""Xente's mobile payments, checked against the published columns of training.csv."""

import csv
import gzip
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from spadework.errors import DataError
from spadework.scenarios import LabeledTable

XENTE_PAGE = "https://zindi.africa/competitions/xente-fraud-detection-challenge/data"
COLUMNS: tuple[str, ...] = (
    "TransactionId",
    "BatchId",
    "AccountId",
    "SubscriptionId",
    "CustomerId",
    "CurrencyCode",
    "CountryCode",
    "ProviderId",
    "ProductId",
    "ProductCategory",
    "ChannelId",
    "Amount",
    "Value",
    "TransactionStartTime",
    "PricingStrategy",
    "FraudResult",
)
_NUMBERS = ("Amount", "Value", "PricingStrategy")
_NAMES = ("ProviderId", "ProductId", "ProductCategory", "ChannelId")
_HOUR = 3600
_DAY = 24 * _HOUR


def read_xente(path: Path) -> LabeledTable:
    """Read the frauds among mobile payments, in order of time; the first half trains.

    Features are the amount, the value and the pricing strategy, the hour of the day,
    the day of the week (Monday is 0), and one 0/1 column for each provider, product,
    product category and channel, in sorted order. Left out are the ids of transaction,
    batch, account, subscription and customer, and the currency and country, which
    never change. The time itself is left out: every test row is later than any
    training row. The file's columns may come in any order.
    """
    sheet = _read_sheet(path)
    seconds = sheet.convert(
        "TransactionStartTime", _seconds, "a time such as 2018-11-15T02:18:49Z"
    )
    fraud = sheet.convert("FraudResult", {"0": 0, "1": 1}.__getitem__, "0 or 1")
    X = np.column_stack(
        [
            *(sheet.convert(column, _finite, "a finite number") for column in _NUMBERS),
            seconds // _HOUR % 24,
            (seconds // _DAY + 3) % 7,  # 1970 began on a Thursday
            *(sheet.one_hot(column) for column in _NAMES),
        ]
    )
    order = np.argsort(seconds, kind="stable")
    kind = fraud.astype(np.int64)
    return LabeledTable(X[order], kind[order], given=(1,), n_train=len(X) // 2)


@dataclass(frozen=True)
class _Sheet:
    """The cells of a file as text, by column, and the line of each row."""

    path: Path
    lines: list[int]
    cells: dict[str, list[str]]

    def convert(
        self, column: str, parse: Callable[[str], float], expected: str
    ) -> NDArray[np.float64]:
        """Turn a column into numbers, or name the line where that fails."""
        values = np.empty(len(self.lines))
        for row, text in enumerate(self.cells[column]):
            try:
                values[row] = parse(text)
            except (KeyError, ValueError) as error:
                raise _refusal(
                    self.path,
                    f"line {self.lines[row]}, column {column}: expected {expected}, "
                    f"found {text[:40]!r}",
                ) from error
        return values

    def one_hot(self, column: str) -> NDArray[np.float64]:
        """Turn a column of names into one 0/1 column per name, sorted."""
        levels = sorted(set(self.cells[column]) - {""})
        position = {level: index for index, level in enumerate(levels)}
        found = self.convert(column, position.__getitem__, "a name")
        return np.eye(len(levels))[found.astype(np.intp)]


def _read_sheet(path: Path) -> _Sheet:
    """Read the cells, after checking the header and the width of every row."""
    lines: list[int] = []
    rows: list[list[str]] = []
    try:
        with _open_csv(path) as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            _check_header(path, header)
            for row in filter(None, reader):
                if len(row) != len(header):
                    raise _refusal(
                        path,
                        f"line {reader.line_num} must have {len(header)} columns; it "
                        f"has {len(row)}",
                    )
                lines.append(reader.line_num)
                rows.append(row)
    except (csv.Error, UnicodeDecodeError) as error:
        raise _refusal(path, f"expected a CSV table in UTF-8: {error}") from error
    if not rows:
        raise _refusal(path, "expected rows below the header, found none")
    columns = map(list, zip(*rows, strict=True))
    return _Sheet(path, lines, dict(zip(header, columns, strict=True)))


def _open_csv(path: Path) -> IO[str]:
    """Open the file for the csv module, unpacking it where its name ends in .gz."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _check_header(path: Path, header: list[str]) -> None:
    """Raise unless the header names each column once."""
    if not header:
        raise _refusal(path, "expected a header in the first line, found nothing")
    missing = Counter(COLUMNS) - Counter(header)
    surplus = Counter(header) - Counter(COLUMNS)
    if missing or surplus:
        raise _refusal(
            path,
            f"expected the {len(COLUMNS)} columns {', '.join(COLUMNS)}; found "
            f"{len(header)}, missing {list(missing)}, too many {list(surplus)}",
        )


def _seconds(text: str) -> float:
    """Seconds since 1970 of a time in UTC."""
    time = datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    return time.replace(tzinfo=UTC).timestamp()


def _finite(text: str) -> float:
    """Read a number that is neither infinite nor missing."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _refusal(path: Path, problem: str) -> DataError:
    """Return the error for a file that is not the table."""
    return DataError(
        f"{path}: {problem}. It may be cut off or changed; get the original "
        f"training.csv again from {XENTE_PAGE}"
    )
