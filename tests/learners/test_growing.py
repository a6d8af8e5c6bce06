"""Trees grow the same side by side and one after the other."""

import numpy as np
import pytest

from spadework.learners import growing
from spadework.learners.readings import Draws, Reading


@pytest.mark.parametrize("grow", ["plain", "whole"])
def test_trees_that_grow_side_by_side_are_those_that_grow_in_turn(grow, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    reading = Reading(
        Draws(np.arange(200), None, 200), Draws(np.arange(200, 300), None, 100), 5
    )
    scores = []
    for shared_from in (1, 1_000):
        monkeypatch.setattr(growing, "SHARED_DRAWS", shared_from)
        rest = (np.arange(300), np.random.default_rng(1), lambda _: None)
        if grow == "plain":
            grown = growing.grow_trees(X, reading, 20, 14, *rest)
        else:
            grown = growing.grow_whole_trees(X, reading, 20, *rest)
        scores.append(np.r_[grown.held_out, grown.scorer.score(X)])
    np.testing.assert_array_equal(*scores)
