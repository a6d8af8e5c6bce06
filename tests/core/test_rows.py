"""Rows of another width are refused before anything is scored."""

import numpy as np
import pytest

from spadework.core.rows import refuse_other_width
from spadework.errors import InputError


@pytest.mark.parametrize("shape", [(5, 2), (5, 4), (3,), (1, 5, 3)])
def test_rows_of_another_shape_are_refused_with_what_was_expected(shape):
    with pytest.raises(InputError, match="expected rows of 3 features; got an array"):
        refuse_other_width(np.zeros(shape), 3)


@pytest.mark.parametrize("n_rows", [0, 1, 5])
def test_any_number_of_rows_of_the_width_is_fine(n_rows):
    refuse_other_width(np.zeros((n_rows, 3)), 3)
