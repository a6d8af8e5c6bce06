"""Results lie in the checkout, or in the folder that one is in where there is none."""

from pathlib import Path

import pytest

from spadework_research import places
from spadework_research.places import checkout, results_folder


def test_results_lie_in_the_checkout_that_holds_these_tests():
    root = Path(__file__).parents[2]
    assert checkout() == root
    assert results_folder() == root / "research" / "results"


def test_without_a_checkout_results_go_below_the_present_folder(monkeypatch):
    monkeypatch.setattr(places, "_IS_CHECKOUT", False)
    assert checkout() is None
    assert results_folder() == Path("spadework-results")


@pytest.mark.parametrize("is_checkout", [True, False])
def test_a_quick_look_goes_beside_the_results(monkeypatch, is_checkout):
    monkeypatch.setattr(places, "_IS_CHECKOUT", is_checkout)
    quick, whole = results_folder(quick=True), results_folder()
    assert quick.parent == whole.parent
    assert quick.name == f"{whole.name}-quick"
