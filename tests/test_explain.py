"""Shares of a score are exact where they can be, and name what was planted."""

import datetime as dt
from dataclasses import replace
from functools import cache
from itertools import cycle, permutations

import numpy as np
import pyarrow as pa
import pytest

from fitted_payments import MAP, fitted, payments, small
from spadework import SPADE, ForestLearner
from spadework.errors import InputError
from spadework.explain import (
    MOST_REASONS,
    N_SCORED,
    Explanation,
    Reason,
    draw_shares,
    explain_rows,
    ordinary_rows,
)
from spadework.reference import Reference
from spadework.table_fitting import fit_table

OWNERS = np.array([0, 1, 1, 2, 3])  # the second column has two features


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def rows(rng):
    return rng.normal(size=(6, 5)).astype(np.float32)


def brute_force(score, row, start):
    """Shapley shares of one row against one other, over all orders of columns."""
    n_columns = OWNERS.max() + 1
    shares, orders = np.zeros(n_columns), list(permutations(range(n_columns)))
    for order in orders:
        current = start.copy()
        for column in order:
            before = score(current[None])[0]
            current[column == OWNERS] = row[column == OWNERS]
            shares[column] += score(current[None])[0] - before
    return shares / len(orders)


def additive(X):
    return X.astype(float) @ [1.0, -2.0, 0.5, 3.0, -1.0]


def in_pairs(X):
    X = X.astype(float)
    return X[:, 0] * X[:, 1] + X[:, 2] * X[:, 4] - 3 * X[:, 3] * X[:, 0] + X[:, 4]


def all_together(X):
    X = X.astype(float)
    return np.sin(X.sum(axis=1)) + X.prod(axis=1) + X.max(axis=1)


class AllOrders:
    """Draws every order, one after the other, again and again."""

    def __init__(self):
        self._orders = cycle(permutations(range(OWNERS.max() + 1)))

    def permutation(self, n):
        return np.array(next(self._orders))


# Shares


def test_shares_of_a_sum_are_its_terms(rows, rng):
    ordinary = rng.normal(size=(1, 5)).astype(np.float32)
    shares, baseline = draw_shares(additive, rows, ordinary, OWNERS, rng)
    terms = (rows - ordinary).astype(float) * [1.0, -2.0, 0.5, 3.0, -1.0]
    expected = np.stack([terms[:, OWNERS == c].sum(axis=1) for c in range(4)], axis=1)
    np.testing.assert_allclose(shares, expected, atol=1e-5)
    assert baseline == additive(ordinary)[0]


def test_a_column_that_does_not_matter_has_no_share(rows, rng):
    ordinary = rng.normal(size=(9, 5)).astype(np.float32)
    shares, _ = draw_shares(lambda X: X[:, 0] ** 2, rows, ordinary, OWNERS, rng)
    assert (shares[:, 1:] == 0).all()
    assert (shares[:, 0] != 0).all()


def test_shares_of_products_of_two_are_exact_with_one_pair_of_orders(rows, rng):
    ordinary = rng.normal(size=(1, 5)).astype(np.float32)
    shares, _ = draw_shares(in_pairs, rows, ordinary, OWNERS, rng)
    expected = [brute_force(in_pairs, row, ordinary[0]) for row in rows]
    np.testing.assert_allclose(shares, expected, atol=1e-6)


def test_shares_of_any_score_are_those_of_brute_force_over_all_orders(rows, rng):
    ordinary = rng.normal(size=(1, 5)).astype(np.float32)
    starts = np.repeat(ordinary, 24, axis=0)
    shares, _ = draw_shares(all_together, rows, starts, OWNERS, AllOrders())
    expected = [brute_force(all_together, row, ordinary[0]) for row in rows]
    np.testing.assert_allclose(shares, expected, atol=1e-6)


def test_shares_sum_to_the_score_less_the_baseline_whatever_is_drawn(rows, rng):
    ordinary = rng.normal(size=(50, 5)).astype(np.float32)
    shares, baseline = draw_shares(all_together, rows, ordinary, OWNERS, rng)
    np.testing.assert_allclose(
        shares.sum(axis=1), all_together(rows) - baseline, atol=1e-9
    )


def test_shares_are_the_same_however_many_rows_are_done_at_once(rows, monkeypatch, rng):
    ordinary = rng.normal(size=(50, 5)).astype(np.float32)
    found = []
    for n_values in (1, 60, 1 << 24):
        monkeypatch.setattr("spadework.explain._STEP_VALUES", n_values)
        drawn = np.random.default_rng(1)
        found.append(draw_shares(all_together, rows, ordinary, OWNERS, drawn)[0])
    np.testing.assert_allclose(found[0], found[2])
    np.testing.assert_allclose(found[1], found[2])


# Explanations


@cache
def with_classifiers():
    """A model of the payments whose one-class classifiers can be asked."""
    detector = small(learner=ForestLearner(n_trees=20))
    return fit_table(
        payments(), label="status", label_map=MAP, keys=["id"], detector=detector
    )


MODELS = {"trees": fitted, "forest": with_classifiers}


@cache
def explained(kind="trees"):
    return explain_rows(MODELS[kind](), payments())


def planted(**values):
    """An ordinary row of the payments, with some values changed."""
    table = payments()
    usual = {
        "id": "T",
        "amount": 50.0,
        "place": "here",
        "rate": 0.0,
        "at": dt.datetime(2024, 1, 20),
        "status": None,
        **values,
    }
    return pa.Table.from_pylist([usual], schema=table.schema)


@pytest.mark.parametrize("kind", MODELS)
def test_shares_of_a_row_sum_to_its_score_less_its_baseline(kind):
    scores = MODELS[kind]().score(payments()).column("anomaly_score").to_numpy()
    for score, found in zip(scores, explained(kind), strict=True):
        assert found.score == score
        shares = [each.share for each in found.reasons]
        assert sum(shares) == pytest.approx(found.score - found.baseline, abs=1e-6)
        assert (found.others, found.n_others) == (0, 0)
        assert shares == sorted(shares, reverse=True)
        assert {each.column for each in found.reasons} <= {
            "amount",
            "place",
            "rate",
            "at",
        }
        assert all(shares)


def test_the_planted_cause_comes_first():
    """Amount and place are both planted where status is fraud; rate and at never."""
    (found,) = explain_rows(fitted(), planted(amount=400.0, place="far"))
    assert found.anomalous
    assert {each.column for each in found.reasons[:2]} == {"amount", "place"}
    one_cause = fit_table(
        payments().drop_columns(["place"]),
        label="status",
        label_map=MAP,
        keys=["id"],
        detector=small(),
    )
    (found,) = explain_rows(one_cause, planted(amount=400.0))
    assert found.reasons[0].column == "amount"
    assert found.reasons[0].share > 0.5 * (found.score - found.baseline)


def test_shares_of_trees_are_those_of_all_orders_and_all_ordinary_rows():
    few = {name: each[:40] for name, each in vars(fitted().reference).items()}
    model = replace(fitted(), reference=Reference(**few))
    rows, owners = payments().slice(0, 2), model.encoder.owners
    X, starts = model.encoder.encode(rows), np.repeat(ordinary_rows(model), 24, axis=0)
    score = model.detector.anomaly_score
    shares, baseline = draw_shares(score, X, starts, owners, AllOrders())
    for found, expected in zip(explain_rows(model, rows), shares, strict=True):
        by_name = {each.column: each.share for each in found.reasons}
        shares = [by_name.get(each.name, 0.0) for each in model.encoder.columns]
        assert shares == pytest.approx(expected, abs=1e-9)
        assert found.baseline == pytest.approx(baseline, abs=1e-9)


def test_of_many_columns_the_largest_shares_are_put_into_words():
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.2
    columns = {f"c{i}": rng.normal(1.0 * truth) for i in range(40)}
    status = np.where(rng.random(300) < 0.4, np.where(truth, "fraud", "ok"), "")
    table = pa.table({**columns, "status": status})
    label_map = MAP | {"": -1}
    model = fit_table(table, label="status", label_map=label_map, detector=small())
    for each in explain_rows(model, table):
        assert len(each.reasons) == MOST_REASONS
        assert 0 < each.n_others <= 40 - MOST_REASONS
        total = sum(reason.share for reason in each.reasons) + each.others
        assert total == pytest.approx(each.score - each.baseline, abs=1e-9)
        assert f"and {MOST_REASONS - 5 + each.n_others} smaller shares" in str(each)


def test_nearest_rows_are_labeled_rows_and_the_nearest_ones():
    status = payments().column("status").to_pylist()
    ids = payments().column("id").to_pylist()
    names = {"fraud": "anomaly", "ok": "normal"}
    represent = fitted().detector.model_.represent
    codes = represent(fitted().encoder.encode(payments()))
    known = np.flatnonzero([each is not None for each in status])
    for row, found in enumerate(explained()):
        assert [names[status[each.row]] for each in found.nearest] == [
            each.label for each in found.nearest
        ]
        assert [each.name for each in found.nearest] == [
            f"id {ids[each.row]}" for each in found.nearest
        ]
        distances = np.sort(np.linalg.norm(codes[known] - codes[row], axis=1))
        given = [each.distance for each in found.nearest]
        np.testing.assert_allclose(given, distances[:3], rtol=1e-4, atol=1e-5)
        if status[row] is not None:
            assert found.nearest[0].distance == 0
            assert "the same values" in str(found.nearest[0])


def test_an_explanation_reads_as_a_paragraph():
    (found,) = explain_rows(fitted(), planted(amount=400.0, place="far"))
    shown = str(found)
    assert "called anomalous; ordinary" in shown
    assert "amount is 400, higher than in all ordinary rows" in shown
    assert "nearest labeled in training: id " in shown
    assert "one-class" not in shown
    (found,) = explain_rows(with_classifiers(), planted(amount=400.0, place="far"))
    assert "one-class classifiers: " in str(found)
    assert "normal below " in str(found)


def test_labeled_rows_without_a_key_are_named_by_their_number():
    table = payments().drop_columns(["id"])
    model = fit_table(table, label="status", label_map=MAP, detector=small())
    (found,) = explain_rows(model, table.slice(0, 1))
    near = found.nearest[0]
    assert str(near).startswith(f"row {near.row} ({near.label}")


def test_every_classifier_says_its_score_its_thresholds_and_its_vote():
    thresholds = with_classifiers().detector.pseudo_labels_.thresholds
    for found in explained("forest"):
        assert [each.normal_below for each in found.votes] == thresholds.normal.tolist()
        assert [each.anomaly_above for each in found.votes] == (
            thresholds.anomaly.tolist()
        )
        n_anomaly = sum(each.vote == "anomaly" for each in found.votes)
        assert f": {n_anomaly} of {len(found.votes)} members vote anomaly" in (
            found.pseudo_label
        )
        for each in found.votes:
            assert (each.score > each.anomaly_above) == (each.vote == "anomaly")


def test_a_row_is_explained_alone_as_among_others():
    rows = payments().slice(0, 3)
    alone = [explain_rows(fitted(), rows.slice(at, 1))[0] for at in range(3)]
    for one, other in zip(alone, explain_rows(fitted(), rows), strict=True):
        assert one.baseline == other.baseline
        assert [each.column for each in one.reasons] == [
            each.column for each in other.reasons
        ]


def test_other_draws_hardly_change_the_shares_of_a_few_rows():
    model = with_classifiers()
    score, owners = model.detector.anomaly_score, model.encoder.owners
    X = model.encoder.encode(payments().slice(0, 10))
    starts = ordinary_rows(model)[:64]
    one, other = (
        draw_shares(score, X, starts, owners, np.random.default_rng(seed))[0]
        for seed in (0, 1)
    )
    np.testing.assert_allclose(one, other, atol=0.05)


@pytest.mark.parametrize("kind", MODELS)
def test_explanations_do_not_change(kind):
    rows = payments().slice(0, 5)
    assert explain_rows(MODELS[kind](), rows) == explain_rows(MODELS[kind](), rows)


def test_no_rows_need_no_explanation():
    assert explain_rows(fitted(), payments().slice(0, 0)) == []


def test_ordinary_rows_are_neither_labeled_nor_called_anomalous():
    found = fitted().detector.anomaly_score(ordinary_rows(fitted()))
    assert (found <= fitted().detector.threshold_).all()


def test_a_model_that_calls_everything_anomalous_has_nothing_to_compare_with():
    reference = fitted().reference
    anomalies = replace(reference, labels=np.ones_like(reference.labels))
    everything = replace(fitted(), reference=anomalies)
    with pytest.raises(InputError, match="nothing to compare with"):
        explain_rows(everything, payments())


def test_however_many_rows_are_explained_about_as_many_are_scored(monkeypatch):
    n_scored = []
    score = SPADE.anomaly_score

    def counting(detector, X):
        n_scored[-1] += len(X)
        return score(detector, X)

    monkeypatch.setattr(SPADE, "anomaly_score", counting)
    for n_rows in (150, 1_000):
        n_scored.append(0)
        rows = payments(n_rows, seed=9)
        assert len(explain_rows(with_classifiers(), rows)) == n_rows
    assert max(n_scored) < 1.2 * N_SCORED


def test_the_largest_shares_are_shown_whether_for_or_against():
    shares = [0.5, 0.1, 0.05, 0.04, 0.03, 0.02, -0.4]
    reasons = [Reason(f"c{i}", share, f"c{i}") for i, share in enumerate(shares)]
    shown = str(Explanation(1.0, 0.0, True, reasons, 0.0, 0, [], "", []))
    assert [line.split()[-1] for line in shown.splitlines()[1:6]] == [
        "c0",
        "c1",
        "c2",
        "c3",
        "c6",
    ]
    assert shown.endswith("and 2 smaller shares")
    without_one = str(Explanation(1.0, 0.0, True, reasons[1:], 0.0, 0, [], "", []))
    assert without_one.endswith("and 1 smaller share")
