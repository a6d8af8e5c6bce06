"""Plots show what they say: right heights, right places, and a line at the threshold."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

from mismatch import mismatch_data
from spadework import SPADE
from spadework.errors import InputError
from spadework.evaluation import Interval, LabelEvaluation
from spadework.explain import Explanation, Reason
from spadework.labels import count_labels
from spadework.learners.trees import TreeLearner
from spadework.plots import (
    plot_budget,
    plot_drift,
    plot_evaluation,
    plot_heat_map,
    plot_precision_recall,
    plot_pseudo_labels,
    plot_reasons,
    plot_scores,
)

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def data():
    return mismatch_data(300, 0)


@pytest.fixture(scope="module")
def fitted(data):
    return SPADE(learner=TreeLearner(n_trees=20), random_state=0).fit(*data[:2])


def explanation(shares):
    reasons = [Reason(name, share, name) for name, share in shares.items()]
    return Explanation(1.5, -2.0, True, reasons, 0.0, 0, [], "", [])


def test_each_kind_of_rows_is_drawn_as_shares_of_its_own_number(data, fitted):
    X, y, _ = data
    ax = plot_scores(fitted, X, y)
    assert ax.lines[0].get_xdata()[0] == fitted.threshold_
    _, names = ax.get_legend_handles_labels()
    counts = count_labels(y)
    assert names == [
        f"unlabeled ({counts.n_unlabeled})",
        f"labeled normal ({counts.n_normals})",
        f"labeled anomaly ({counts.n_anomalies})",
    ]
    assert f"{(fitted.predict(X) == 1).sum()} of 300" in ax.get_title()


def test_given_axes_are_drawn_into(data, fitted):
    _, ax = pyplot.subplots()
    assert plot_scores(fitted, data[0], ax=ax) is ax
    assert ax.patches


def test_unlabeled_rows_are_shown_by_the_pseudo_label_that_they_got(data, fitted):
    X, y, _ = data
    _, names = plot_pseudo_labels(fitted, X, y).get_legend_handles_labels()
    given = fitted.pseudo_labels_
    assert f"pseudo-anomaly ({given.n_anomalies})" in names
    assert f"pseudo-normal ({given.n_normals})" in names


def test_without_pseudo_labels_there_is_nothing_to_show(data):
    X, y, _ = data
    alone = SPADE(learner=TreeLearner(pseudo_labels=False, n_trees=5)).fit(X, y)
    with pytest.raises(InputError, match="fitted without them"):
        plot_pseudo_labels(alone, X, y)


def test_a_perfect_ranking_finds_all_anomalies_at_once():
    truth = np.array([1, 0, 0, 1, 0])
    scores = truth + 0.1 * np.arange(5)
    ax = plot_budget(scores, truth)
    at, found = ax.lines[0].get_data()
    np.testing.assert_allclose(found, [0, 0.5, 1, 1, 1, 1])
    np.testing.assert_allclose(at, np.arange(6) / 5)
    ax = plot_precision_recall(scores, truth)
    assert "Average precision 1.000; chance is 0.400" in ax.get_title()
    recall, precision = ax.lines[0].get_data()
    assert set(precision[recall < 1]) == {1.0}


def test_intervals_of_an_evaluation_are_drawn_around_its_estimates(data):
    census = count_labels(data[1])
    recall = {0.02: Interval(0.3, 0.2, 0.5), 0.1: Interval(0.9, 0.8, 0.95)}
    ax = plot_evaluation(
        LabelEvaluation(census, 5, recall, Interval(0.9, 0, 1), None, {})
    )
    ends = [end for line in ax.collections for end in line.get_segments()]
    np.testing.assert_allclose([end[:, 1] for end in ends], [(0.2, 0.5), (0.8, 0.95)])


def test_bars_are_as_long_as_columns_differ_and_the_longest_is_on_top():
    columns = [
        SimpleNamespace(name="amount", distance=0.8, certain=True),
        SimpleNamespace(name="hour", distance=0.1, certain=False),
    ]
    ax = plot_drift(SimpleNamespace(columns=columns))
    assert [bar.get_width() for bar in ax.patches] == [0.1, 0.8]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["hour", "amount"]
    assert len({bar.get_facecolor() for bar in ax.patches}) == 2


def test_reasons_for_and_against_point_to_different_sides():
    ax = plot_reasons(explanation({"age": -0.5, "amount": 4.0}))
    assert [bar.get_width() for bar in ax.patches] == [-0.5, 4.0]
    assert "Score 1.50" in ax.get_title()


def test_usual_heat_leaves_a_photo_as_it_is():
    heat = np.array([[0.0, 5.0], [10.0, 20.0]])
    ax = plot_heat_map(np.zeros((2, 2, 3), np.uint8), heat, usual=5, odd=10)
    opacity = np.asarray(ax.images[1].get_alpha())
    np.testing.assert_allclose(opacity, [[0, 0], [0.7, 0.7]])


@pytest.mark.parametrize(
    "draw",
    [
        lambda fitted, X: plot_scores(fitted, X, [1, 0]),
        lambda fitted, X: plot_pseudo_labels(fitted, X[:9], [-1] * 9),
        lambda fitted, X: plot_budget([0.1, 0.2], [1, -1]),
        lambda fitted, X: plot_precision_recall([0.1], [1, 0]),
        lambda fitted, X: plot_heat_map(X[:2, :3], np.ones((9, 9)), usual=1, odd=2),
        lambda fitted, X: plot_heat_map(X[:2, :3], X[:2, :3], usual=2, odd=1),
        lambda fitted, X: plot_reasons(explanation({})),
    ],
)
def test_what_does_not_fit_together_is_refused(draw, fitted, data):
    with pytest.raises(InputError, match=r"must|no column"):
        draw(fitted, data[0])
