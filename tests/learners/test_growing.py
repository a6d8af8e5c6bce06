"""Trees grow the same side by side and one after the other."""

import numpy as np
import pytest

from spadework.learners import growing
from spadework.learners.contract import Task
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
        task = Task(X, None, None, np.arange(300), np.random.default_rng(1))
        trees = growing.Grower(task, 20, 14, verbose=False)
        if grow == "plain":
            grown = trees.grow({"labels": reading})["labels"]
        else:
            grown = trees.grow_whole(reading)
        scores.append(np.r_[grown.held_out, grown.scorer.score(X)])
    np.testing.assert_array_equal(*scores)
