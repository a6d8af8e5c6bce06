"""Checks of single parameters."""

from math import inf
from numbers import Integral, Real
from typing import Any

from spadework.errors import InputError


def check_positive_integer(name: str, value: Any) -> None:
    """Refuse anything but a positive integer as the parameter of that name."""
    if not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name} must be a positive integer; got {value!r}")


def check_weight(name: str, value: Any) -> None:
    """Refuse anything but 0 or a positive number as the parameter of that name."""
    if not _is_number(value) or not 0 <= value < inf:
        raise InputError(f"{name} must be 0 or a positive number; got {value!r}")


def check_positive(name: str, value: Any) -> None:
    """Refuse anything but a positive number as the parameter of that name."""
    if not _is_number(value) or not 0 < value < inf:
        raise InputError(f"{name} must be a positive number; got {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real)
