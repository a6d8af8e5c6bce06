"""What is checked of the rows that are to be scored."""

from spadework.arrays import Numbers
from spadework.errors import InputError


def refuse_other_width(X: Numbers, n_features: int) -> None:
    """Refuse rows of more or fewer features."""
    if X.ndim != 2 or X.shape[1] != n_features:
        raise InputError(
            f"expected rows of {n_features} features; got an array of shape {X.shape}"
        )
