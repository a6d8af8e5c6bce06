"""One-class models fitted per group, against scikit-learn's own scores."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from properties import examples
from spadework.core.gaussian import LEFT_OUT, SHARED, fit_gaussians
from spadework.errors import InputError
from spadework.learners import one_class
from spadework.learners.one_class import make_one_class

ONLY_FITS = SimpleNamespace(fit=len)
ONLY_SCORES = SimpleNamespace(score=len)

seeds = st.integers(0, 2**31 - 1)


class DistanceFromMean:
    """A user's model: the distance from the mean, higher is more anomalous."""

    def fit(self, X):
        self.mean = X.mean(axis=0)

    def score(self, X):
        return np.linalg.norm(X - self.mean, axis=1).tolist()


class Answers:
    """A model that fits nothing and scores all rows with one fixed answer."""

    def __init__(self, answer):
        self.answer = answer

    def fit(self, X):
        return self

    def score(self, X):
        return self.answer


def random_rows(seed, n_rows=90, dtype=np.float64):
    """Rows with all kinds of group codes, three members, and new rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)) * [1.0, 2.0, 0.5, 1.0]
    groups = rng.integers(LEFT_OUT, 3, size=n_rows)
    groups[:3] = [0, 1, 2]
    new = rng.normal(size=(30, 4)) * 3.0
    return X.astype(dtype), groups, new.astype(dtype)


def member_rows(X, groups):
    """Rows that each member is fitted on."""
    return [X[(groups == k) | (groups == SHARED)] for k in range(groups.max() + 1)]


def members_of(model, X, groups, seed=0):
    """Fit the members of a model by name or object."""
    return make_one_class(model).fit_members(X, groups, np.random.default_rng(seed))


def naive_forest_scores(X, groups, new, seed):
    """Score with scikit-learn's isolation forests, fitted one after the other."""
    rng = np.random.default_rng(seed)
    models = [
        IsolationForest(random_state=int(rng.integers(2**31))).fit(rows)
        for rows in member_rows(X, groups)
    ]
    return -np.stack([model.score_samples(new) for model in models], axis=1)


def naive_svm_scores(X, groups, new):
    """Score with scikit-learn's one-class SVMs, fitted one after the other."""
    models = [OneClassSVM(gamma="scale", nu=0.1) for _ in range(groups.max() + 1)]
    fitted = [
        model.fit(rows)
        for model, rows in zip(models, member_rows(X, groups), strict=True)
    ]
    return -np.stack([model.score_samples(new) for model in fitted], axis=1)


@pytest.mark.parametrize(("dtype", "seed"), [(np.float32, 0), (np.float64, 1)])
def test_isolation_forest_members_score_as_those_of_scikit_learn(dtype, seed):
    X, groups, new = random_rows(seed, dtype=dtype)
    scores = members_of("isolation_forest", X, groups, seed).score(new)
    expected = naive_forest_scores(X, groups, new, seed)
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_isolation_forests_on_more_rows_than_a_tree_takes_score_as_scikit_learn():
    X, groups, new = random_rows(4, n_rows=2_000)
    scores = members_of("isolation_forest", X, groups, 4).score(new)
    expected = naive_forest_scores(X, groups, new, 4)
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_isolation_forests_on_hardly_any_rows_score_as_scikit_learn(n_rows):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(2 * n_rows, 2)), rng.normal(size=(5, 2))
    groups = np.arange(len(X)) % 2
    scores = members_of("isolation_forest", X, groups, 1).score(new)
    np.testing.assert_allclose(scores, naive_forest_scores(X, groups, new, 1), atol=1e-6)


def test_isolation_forests_on_equal_rows_score_as_scikit_learn():
    X, groups = np.ones((40, 2)), np.arange(40) % 2
    new = np.array([[1.0, 1.0], [5.0, -5.0]])
    scores = members_of("isolation_forest", X, groups, 1).score(new)
    np.testing.assert_allclose(scores, naive_forest_scores(X, groups, new, 1), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=seeds)
@example(seed=11)
@examples(10)
def test_svm_members_score_as_those_of_scikit_learn(dtype, seed):
    X, groups, new = random_rows(seed, dtype=dtype)
    scores = members_of("svm", X, groups).score(new)
    expected = naive_svm_scores(X, groups, new)
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-6)


def test_svm_members_score_rows_in_chunks_as_one_by_one():
    X, groups, new = random_rows(0)
    members = members_of("svm", X, groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_class, "_CHUNK_ROWS", 7)
        scores = members.score(new)
    one_by_one = np.vstack([members.score(row[None]) for row in new])
    np.testing.assert_allclose(scores, one_by_one, rtol=1e-12)


def test_svm_members_on_equal_rows_score_finitely():
    X, groups = np.ones((20, 3)), np.arange(20) % 2
    assert np.isfinite(members_of("svm", X, groups).score(X * [0, 1, 2])).all()


def test_svm_members_are_fitted_on_no_more_rows_than_the_limit():
    X, groups, _ = random_rows(0, n_rows=600)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_class, "SVM_MAX_ROWS", 20)
        members, again = (members_of("svm", X, groups, seed=3) for _ in range(2))
    rows = member_rows(X, groups)
    for vectors, own, repeated in zip(members.vectors, rows, again.vectors, strict=True):
        assert len(vectors) <= 20 < len(own)
        assert all((vector == own).all(axis=1).any() for vector in vectors)
        np.testing.assert_array_equal(vectors, repeated)


def test_gaussian_members_are_those_of_the_core():
    X, groups, new = random_rows(0)
    scores = members_of("gaussian", X, groups).score(new)
    np.testing.assert_array_equal(scores, fit_gaussians(X, groups).score(new))


@given(seed=seeds)
@examples(10)
def test_a_users_model_is_fitted_on_the_rows_of_each_member(seed):
    X, groups, new = random_rows(seed)
    scores = members_of(DistanceFromMean(), X, groups).score(new)
    means = np.array([rows.mean(axis=0) for rows in member_rows(X, groups)])
    expected = np.linalg.norm(new[:, None] - means, axis=2)
    np.testing.assert_allclose(scores, expected)


@pytest.mark.parametrize(
    "model",
    [
        GaussianMixture(1),
        IsolationForest(n_estimators=5, random_state=0),
        LocalOutlierFactor(n_neighbors=5, novelty=True),
        OneClassSVM(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_with_score_samples_score_with_the_sign_turned(model):
    X, groups, new = random_rows(0)
    members = members_of(model, X, groups)
    parts = zip(members.models, members.score(new).T, member_rows(X, groups), strict=True)
    for fitted, column, rows in parts:
        expected = -clone(fitted).fit(rows).score_samples(new)
        np.testing.assert_allclose(column, expected)


def test_members_of_a_users_model_draw_for_themselves_and_repeatably():
    X, groups, _ = random_rows(0)
    first, again = (
        [m.random_state for m in members_of(IsolationForest(), X, groups).models]
        for _ in range(2)
    )
    assert first == again
    assert len(set(first)) == len(first)


def test_estimators_within_a_users_model_draw_repeatably():
    X, groups, new = random_rows(0)
    model = make_pipeline(StandardScaler(), IsolationForest(n_estimators=5))
    first, again = (members_of(model, X, groups).score(new) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_a_users_model_that_needs_more_rows_says_how_many_there_are():
    X, groups, _ = random_rows(0)
    with pytest.raises(InputError, match=r"could not be fitted to \d+ rows: Expected"):
        members_of(GaussianMixture(1_000), X, groups)


@pytest.mark.parametrize("model", [DistanceFromMean(), GaussianMixture(1)])
def test_a_users_model_is_left_as_it_was(model):
    before = copy.deepcopy(vars(model))
    X, groups, new = random_rows(0)
    members = members_of(model, X, groups)
    members.score(new)
    assert vars(model) == before
    assert all(fitted is not model for fitted in members.models)


@pytest.mark.parametrize("name", ["gaussian", "neighbours", "isolation_forest", "svm"])
def test_rows_far_from_all_others_score_higher_than_the_middle(name):
    X, groups, _ = random_rows(0)
    middle, far = members_of(name, X, groups).score(np.array([[0.0] * 4, [50.0] * 4]))
    assert (far > middle).all()


@pytest.mark.parametrize("name", ["gaussian", "neighbours", "isolation_forest", "svm"])
def test_left_out_rows_change_no_member(name):
    X, groups, new = random_rows(0)
    kept = groups != LEFT_OUT
    scores = members_of(name, X, groups, 5).score(new)
    expected = members_of(name, X[kept], groups[kept], 5).score(new)
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.parametrize("model", ["gausian", None, 3, ONLY_FITS, ONLY_SCORES])
def test_what_cannot_be_fitted_or_score_is_refused_with_the_choices(model):
    message = r"'neighbours', 'isolation_forest', 'svm' or an object with fit\(X\)"
    with pytest.raises(InputError, match=message):
        make_one_class(model)


@pytest.mark.parametrize(
    ("answer", "shape"),
    [
        (np.zeros((30, 1)), r"\(30, 1\)"),
        (np.zeros(29), r"\(29,\)"),
        (1.0, r"\(\)"),
        (np.full(30, np.nan), r"\(30,\)"),
        (np.full(30, np.inf), r"\(30,\)"),
    ],
)
def test_scores_that_are_not_one_finite_value_per_row_are_refused(answer, shape):
    X, groups, new = random_rows(0)
    message = rf"Answers must score every row with one finite value.*got shape {shape}"
    with pytest.raises(InputError, match=message):
        members_of(Answers(answer), X, groups).score(new)
