"""Errors are what people already catch, and name what was likely meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.errors import (
    DataError,
    ExportError,
    InputError,
    LabelError,
    ModelFileError,
    SpadeworkError,
    list_some,
    suggest,
)

names = st.lists(st.text("abc", min_size=1, max_size=3), max_size=20)


@pytest.mark.parametrize(
    ("error", "built_in"),
    [
        (InputError, ValueError),
        (LabelError, InputError),
        (ModelFileError, ValueError),
        (ExportError, ValueError),
        (DataError, OSError),
    ],
)
def test_every_error_is_one_of_ours_and_one_that_people_catch(error, built_in):
    assert issubclass(error, SpadeworkError)
    assert issubclass(error, built_in)


@given(names, st.randoms(use_true_random=False))
@examples(30)
def test_a_name_in_other_case_is_what_was_meant(names, random):
    wanted = random.choice([*names, "outcome"])
    asked = suggest(wanted.upper(), [*names, "outcome"])
    assert asked == f". Did you mean {wanted!r}?"


def test_what_is_like_no_name_is_not_asked_for():
    assert suggest("amount", ["kind", "place"]) == suggest("amount", []) == ""


@given(names)
@examples(30)
def test_names_are_listed_up_to_twelve(names):
    listed = list_some(names)
    assert listed.startswith(", ".join(names[:12]))
    assert listed.endswith(f" and {len(names) - 12} more") == (len(names) > 12)
