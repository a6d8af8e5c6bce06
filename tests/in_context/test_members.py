"""An ensemble scores rows by the mean log-odds of its members."""

import pickle

import numpy as np
import pytest

from mismatch import mismatch_data
from spadework.in_context.contexts import Context
from spadework.in_context.members import ContextRows, InContextEnsemble, Member
from spadework.in_context.weights import Weights
from tiny_context import tiny_model

X, Y, _ = mismatch_data(60, seed=0)
X, Y = X.astype(np.float32), Y.astype(np.int8)


def rows_of(seed, columns=(0, 1, 2, 3)):
    context = Context(np.arange(len(X)), np.array(columns))
    return ContextRows.of(X, Y, context, seed)


def ensemble(n_members=3):
    weights = Weights.of(tiny_model())
    return InContextEnsemble(weights, [rows_of(seed) for seed in range(n_members)], "cpu")


def test_log_odds_are_the_mean_over_members():
    model = Weights.of(tiny_model()).model()
    each = [Member(model, rows_of(seed), "cpu").log_odds(X) for seed in range(3)]
    np.testing.assert_allclose(ensemble().log_odds(X), np.mean(each, axis=0))


def test_columns_that_are_not_in_the_context_do_not_matter():
    changed = X.copy()
    changed[:, 4:] += 9.0
    member = ensemble(1)
    assert np.array_equal(member.log_odds(changed), member.log_odds(X))


def test_many_rows_are_scored_in_parts_with_the_same_scores():
    member, many = ensemble(1), np.tile(X, (300, 1))
    scores = member.log_odds(many).reshape(300, len(X))
    np.testing.assert_allclose(scores, np.tile(scores[0], (300, 1)), rtol=1e-4, atol=1e-5)


def test_the_predicted_share_is_one_that_bins_can_tell():
    assert 0.001 < ensemble().share < 0.5


def test_likely_shares_lie_around_the_predicted_one_and_spread_with_the_level():
    narrow, wide = ensemble().likely_shares(0.5), ensemble().likely_shares(0.9)
    assert wide[0] <= narrow[0] <= ensemble().share <= narrow[1] <= wide[1]
    assert wide[0] < wide[1]


def test_what_was_read_is_left_out_of_a_pickle():
    one = ensemble(1)
    before = len(pickle.dumps(one))
    scores = one.log_odds(X)
    assert len(pickle.dumps(one)) == before
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.log_odds(X), scores)


@pytest.mark.parametrize("n_rows", [0, 1])
def test_few_rows_are_scored_too(n_rows):
    assert ensemble(1).log_odds(X[:n_rows]).shape == (n_rows,)
