"""Several networks from different starts, averaged."""

import numpy as np
import pytest

from conftest import mismatch_data
from spadework import SPADE, NetworkLearner
from spadework.errors import InputError
from spadework.learners.network import MAX_NETWORKS, ROW_BUDGET, NetworkModel


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = mismatch_data(200, seed=0)
    X = X.astype(np.float32)
    learner = NetworkLearner(n_networks=3, max_epochs=3, warmup_epochs=1)
    return SPADE(learner=learner, random_state=0).fit(X, y), X


def alone(model, member):
    return NetworkModel((model.weights[member],), model.linear_code, model.scaler)


def test_the_score_is_the_mean_logit_of_all_networks(fitted):
    detector, X = fitted
    members = [alone(detector.model_, member).score(X) for member in range(3)]
    np.testing.assert_allclose(detector.anomaly_score(X), np.mean(members, axis=0))
    assert not np.allclose(members[0], members[1])


def test_codes_are_those_of_the_first_network(fitted):
    detector, X = fitted
    expected = alone(detector.model_, 0).represent(X)
    np.testing.assert_array_equal(detector.model_.represent(X), expected)


@pytest.mark.parametrize(
    ("n_rows", "expected"),
    [(10, MAX_NETWORKS), (ROW_BUDGET // 2, 2), (ROW_BUDGET, 1), (10 * ROW_BUDGET, 1)],
)
def test_large_tables_get_fewer_networks(n_rows, expected):
    assert NetworkLearner()._n_networks(n_rows) == expected
    assert NetworkLearner(n_networks=7)._n_networks(n_rows) == 7


def test_the_published_form_is_one_network():
    assert SPADE.paper().learner.n_networks == 1


def test_a_model_without_networks_is_refused(fitted):
    detector, _ = fitted
    with pytest.raises(InputError, match="at least one network"):
        NetworkModel((), linear_code=True, scaler=detector.model_.scaler)
