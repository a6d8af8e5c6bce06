"""Single parameters are refused by their name and their value."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from spadework.errors import InputError
from spadework.parameters import check_positive, check_positive_integer, check_weight


@pytest.mark.parametrize("value", [1, 10**20, np.int8(3), True])
def test_positive_integers_of_any_kind_are_taken(value):
    check_positive_integer("n_trees", value)


@pytest.mark.parametrize("value", [0, -3, 2.0, "5", None, np.float64(1)])
def test_what_is_no_positive_integer_is_refused(value):
    with pytest.raises(InputError, match="n_trees must be a positive integer; got") as no:
        check_positive_integer("n_trees", value)
    assert str(no.value).endswith(repr(value))


@pytest.mark.parametrize("value", [1, 0.5, 1e-300, np.float32(2), Fraction(1, 3)])
@pytest.mark.parametrize("check", [check_positive, check_weight])
def test_positive_numbers_of_any_kind_are_taken(check, value):
    check("alpha", value)


@pytest.mark.parametrize("value", [-1, inf, nan, "much", None, 1j])
@pytest.mark.parametrize("check", [check_positive, check_weight])
def test_what_is_no_positive_number_is_refused(check, value):
    with pytest.raises(InputError, match=r"alpha must be .*a positive number; got"):
        check("alpha", value)


def test_a_weight_may_be_nothing():
    check_weight("alpha", 0)
    with pytest.raises(InputError, match="alpha must be a positive number; got 0"):
        check_positive("alpha", 0)
