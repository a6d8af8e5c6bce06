"""A column of categories, and how it is encoded."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.errors import InputError
from spadework.tables.features import MISSING, Features, check_column
from spadework.tables.values import Values, pc, to_text


@dataclass(frozen=True)
class CategoryColumn:
    """A category: one feature for each common value, and one for how common it is.

    A value that was not seen in training has none of the common values and is as rare as
    one that was seen once. Missing is a value like any other.

    Attributes
    ----------
    name : str
    values : tuple of str
        From the most to the least common, None for missing.
    log_shares : ndarray of shape (n_values + 1,)
        Logarithm of the share of rows with each value; the last is for new values.
    n_common : int
        The first so many values have a feature of their own.
    missing : tuple of str
        Further values that mean missing.
    """

    role: ClassVar[str] = "category"
    arrow_type: ClassVar[pa.DataType] = pa.string()

    name: str
    values: tuple[str | None, ...]
    log_shares: NDArray[np.float32]
    n_common: int
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        fits = self.log_shares.shape == (len(self.values) + 1,)
        if not fits or not np.isfinite(self.log_shares).all():
            raise InputError(f"column {self.name} needs a share for each of its values")
        if not 0 <= self.n_common <= len(self.values):
            raise InputError(f"column {self.name} has {len(self.values)} values")
        check_column(self.name, self.missing)

    @property
    def tells_rarity(self) -> bool:
        """Whether there are values without a feature of their own."""
        return self.n_common < len(self.values)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        common = [
            f"{self.name} = {MISSING if value is None else value}"
            for value in self.values[: self.n_common]
        ]
        return [*common, *([f"{self.name}: how common"] * self.tells_rarity)]

    def encode(self, array: Values) -> Features:
        """Encode values, (n_rows,), as (n_rows, n_features)."""
        code = self._codes(array)
        one_hot = code[:, None] == np.arange(self.n_common)
        if not self.tells_rarity:
            return one_hot.astype(np.float32)
        return np.column_stack([one_hot, self.log_shares[code]]).astype(np.float32)

    def show(self, array: Values) -> list[str]:
        """Put values into words."""
        return [MISSING if v is None else str(v) for v in self.read(array).to_pylist()]

    def read(self, array: Values) -> pa.Array:
        """Return values as text in one spelling, null where they are missing."""
        return to_text(array, self.missing)

    def shares(self, array: Values) -> NDArray[np.float64]:
        """Share of training rows with the value of each row, 0 where it was new."""
        return np.exp(np.append(self.log_shares[:-1], -np.inf))[self._codes(array)]

    def _codes(self, array: Values) -> NDArray[np.intp]:
        """Place of each value among the known ones, the number of these if new."""
        known = pa.array(self.values, type=pa.large_string())
        found = pc.index_in(self.read(array), value_set=known)
        return pc.fill_null(found, len(self.values)).to_numpy(zero_copy_only=False)
