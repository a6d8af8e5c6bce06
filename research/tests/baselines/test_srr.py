"""SRR leaves out rows that stand out, and reads no other label than anomaly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mismatch import in_setting
from properties import examples
from spadework_research.baselines.srr import SRR, refine

seeds = st.integers(0, 2**31 - 1)


@given(seed=seeds)
@examples(20)
def test_planted_outliers_are_left_out_and_most_rows_kept(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    X[:6] += 12 * np.sign(rng.normal(size=(6, 4)))
    kept = refine(X, rng)
    assert not kept[:6].any()
    assert kept[6:].mean() > 0.9


@given(seed=seeds, n_rows=st.integers(1, 12))
@examples(30)
def test_at_least_two_rows_are_kept_of_any_few(seed, n_rows):
    rng = np.random.default_rng(seed)
    kept = refine(rng.normal(size=(n_rows, 3)).astype(np.float32), rng)
    assert kept.shape == (n_rows,)
    assert kept.sum() >= min(n_rows, 2)


def test_labeled_normals_are_rows_like_any_other(table):
    X, y, _ = table
    both, anomalies = (
        SRR(random_state=0).fit(X, labels) for labels in (y, in_setting(y, "PU"))
    )
    np.testing.assert_array_equal(both.anomaly_score(X), anomalies.anomaly_score(X))


def test_labeled_anomalies_are_not_learnt_from(table):
    X, y, _ = table
    # Within the range of the others, or they would change how columns are scaled.
    inside = np.clip(X, X[y != 1].min(axis=0), X[y != 1].max(axis=0))
    moved = inside.copy()
    moved[y == 1] = np.median(X, axis=0)
    one, two = (SRR(random_state=0).fit(rows, y) for rows in (inside, moved))
    np.testing.assert_array_equal(one.anomaly_score(X), two.anomaly_score(X))


@pytest.mark.parametrize("setting", ["PNU", "PU", "NU"])
def test_every_setting_can_be_learnt_in(table, setting):
    X, y, _ = table
    assert SRR(random_state=0).fit(X, in_setting(y, setting)).setting_ == setting
