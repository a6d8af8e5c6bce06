"""One-class baselines learn from the rows they say, scaled to the range 0 to 1."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mismatch import in_setting
from spadework.core.gaussian import RIDGE
from spadework.errors import InputError, LabelError
from spadework_research.baselines.one_class import OneClass


class Remembers:
    """A one-class model that keeps the rows it was fitted on."""

    def fit(self, X):
        self.rows = X

    def score(self, X):
        return X.sum(axis=1)


def scaled(X):
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / (high - low)


@pytest.mark.parametrize("unlabeled", ["ignore", "normal"])
def test_it_is_fitted_on_rows_that_are_normal_or_taken_for_it(table, unlabeled):
    X, y, _ = table
    detector = OneClass(model=Remembers(), unlabeled=unlabeled, random_state=0).fit(X, y)
    chosen = y == 0 if unlabeled == "ignore" else y != 1
    (model,) = detector.model_.models
    np.testing.assert_allclose(model.rows, scaled(X)[chosen], atol=1e-6)


def test_gaussian_scores_are_the_textbooks_negative_log_density(table):
    X, y, _ = table
    rows = scaled(X)
    normal = rows[y == 0]
    covariance = np.cov(normal.T, bias=True) + RIDGE * np.eye(X.shape[1])
    expected = -multivariate_normal(normal.mean(axis=0), covariance).logpdf(rows)
    scores = OneClass().fit(X, y).anomaly_score(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3)


def test_fewer_than_two_normal_rows_are_refused_with_a_way_out(table):
    X, y, _ = table
    y = in_setting(y, "PU")
    y[np.flatnonzero(y == -1)[0]] = 0
    with pytest.raises(LabelError, match=r"at least 2 .*there are 1.*unlabeled='normal'"):
        OneClass().fit(X, y)


def test_an_unknown_treatment_of_unlabeled_rows_is_refused(table):
    X, y, _ = table
    with pytest.raises(InputError, match="'ignore' or 'normal'; got 'all'"):
        OneClass(unlabeled="all").fit(X, y)
