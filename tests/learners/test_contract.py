"""Every learner keeps the contract, and whatever keeps it is a learner."""

import numpy as np
import pytest

from labelers import new_labeler
from mismatch import mismatch_data
from spadework import SPADE, ForestLearner, NetworkLearner, TreeLearner
from spadework.core.scaling import fit_scaler
from spadework.learners.contract import Learnt

SHORT = (
    TreeLearner(n_trees=3),
    ForestLearner(n_trees=3),
    NetworkLearner(max_epochs=2, n_networks=1),
)


@pytest.mark.parametrize("learner", SHORT, ids=lambda each: type(each).__name__)
def test_what_a_learner_brings_back_fits_the_rows_it_was_given(learner):
    X, y, _ = mismatch_data(60, seed=0)
    X, y = X.astype(np.float32), y.astype(np.int8)
    rng = np.random.default_rng(0)
    scaler = fit_scaler(X, "asinh", rng)
    learnt = learner.learn(X, y, scaler, new_labeler(), rng, verbose=False)
    assert learnt.train_scores.shape == (60,)
    assert learnt.train_scores.dtype == np.float64
    assert learnt.pseudo_labels.votes.shape == ((y == -1).sum(), 3)
    assert learnt.model.score(X[:7]).shape == (7,)
    assert len(learnt.model.represent(X[:7])) == 7
    assert all(np.isfinite(list(epoch.values())).all() for epoch in learnt.history)
    assert (learnt.share is not None) == learnt.model.gives_log_odds


class FirstColumn:
    """A learner of one's own, and its model."""

    gives_log_odds = True

    def learn(self, X, labels, scaler, labeler, rng, *, verbose):
        return Learnt(self, None, None, self.score(X), [{}], share=0.25)

    def score(self, X):
        return X[:, 0].astype(np.float64)

    def represent(self, X):
        return X


def test_a_learner_of_ones_own_scores_and_says_how_many_rows_are_called():
    X, y, _ = mismatch_data(60, seed=0)
    detector = SPADE(learner=FirstColumn()).fit(X, y)
    np.testing.assert_allclose(detector.anomaly_score(X), X[:, 0], rtol=1e-6)
    assert detector.predict(X[y == -1]).mean() == pytest.approx(0.25, abs=0.03)
