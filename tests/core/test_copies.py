"""Copies and pickles leave behind what can be worked out again."""

import pickle
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import cached_property

import pytest

from spadework.core.copies import CopiedByFields


@dataclass(frozen=True)
class Numbers(CopiedByFields):
    """Numbers, and their sum once it was asked for."""

    each: tuple[int, ...]

    @cached_property
    def total(self):
        return sum(self.each)


@pytest.mark.parametrize(
    "copied", [copy, deepcopy, lambda object_: pickle.loads(pickle.dumps(object_))]
)
def test_a_copy_has_the_fields_and_works_the_rest_out_again(copied):
    numbers = Numbers((1, 2, 3))
    assert numbers.total == 6
    again = copied(numbers)
    assert vars(again) == {"each": (1, 2, 3)}
    assert again == numbers
    assert again.total == 6


def test_the_object_itself_keeps_what_it_has_worked_out():
    numbers = Numbers((1, 2, 3))
    assert numbers.total == 6
    pickle.dumps(numbers)
    assert vars(numbers) == {"each": (1, 2, 3), "total": 6}
