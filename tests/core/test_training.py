"""Algorithm 1 trains the network, refreshes pseudo-labels, and stops."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from labelers import new_labeler
from properties import examples
from spadework.core import training
from spadework.core.networks import new_network
from spadework.core.training import (
    TrainingOptions,
    _Batches,
    encode,
    one_thread,
    predict_logits,
    train_network,
)

SETTINGS = {"PNU": (1, 0, -1), "PU": (1, -1, -1), "NU": (-1, 0, -1), "PN": (1, 0, 0)}


def easy_rows(setting="PNU", n=240):
    """Float32 rows whose anomalies lie apart, and labels of the setting."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 5 == 0
    X = rng.normal(size=(n, 6))
    X[truth] += 4.0
    anomaly, normal, rest = SETTINGS[setting]
    labels = np.where(truth, anomaly, normal)
    if setting != "PN":
        labels[n // 3 :] = rest
    return X.astype(np.float32), labels.astype(np.int8)


def gaussian_labeler(**changes):
    """Return a pseudo-labeler whose thresholds are matched."""
    rules = {"thresholds": "matching", "voting": "majority", "stand_in": False}
    return new_labeler(**(rules | changes))


def trained(X, labels, *, seed=0, stand_in=False, **changes):
    """Return the trained network, its weights before, the result and epochs told of."""
    options = {
        "alpha": 1.0,
        "beta": 1.0,
        "batch_size": 64,
        "learning_rate": 1e-2,
        "max_epochs": 8,
        "patience": 5,
        "warmup_epochs": 0,
    }
    rng = np.random.default_rng(seed)
    network = new_network(
        X.shape[1], n_layers=2, linear_code=True, start="torch", rng=rng
    )
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    told = []
    with one_thread():
        result = train_network(
            network,
            torch.from_numpy(X),
            labels,
            gaussian_labeler(stand_in=stand_in),
            TrainingOptions(**(options | changes)),
            rng,
            told.append,
        )
    return network, before, result, told


def moved(network, before):
    """Names of the weights that are not what they were."""
    return {
        name
        for name, tensor in network.state_dict().items()
        if not torch.equal(tensor, before[name])
    }


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_loss_goes_down_and_every_weight_moves(setting):
    network, before, result, _ = trained(*easy_rows(setting))
    assert result.history[-1].loss < 0.8 * result.history[0].loss
    assert moved(network, before) == set(before)


@pytest.mark.parametrize("setting", ["PNU", "PN"])
def test_a_trained_network_scores_anomalies_above_normals(setting):
    X, labels = easy_rows(setting)
    network, *_ = trained(X, labels, learning_rate=3e-2, max_epochs=40, patience=40)
    logits = predict_logits(network, torch.from_numpy(X))
    truth = np.arange(len(X)) % 5 == 0
    assert np.median(logits[truth]) > 0 > np.median(logits[~truth])


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 2.0), (0.0, 0.0)])
def test_the_loss_is_the_weighted_sum_of_its_three_terms(alpha, beta):
    *_, told = trained(*easy_rows(), alpha=alpha, beta=beta, max_epochs=3)
    for epoch in told:
        total = epoch.labeled + alpha * epoch.pseudo + beta * epoch.reconstruction
        assert epoch.loss == pytest.approx(total, rel=1e-5)
        assert min(epoch.labeled, epoch.pseudo, epoch.reconstruction) > 0


def test_the_projection_head_stays_where_it_is_without_its_loss():
    network, before, *_ = trained(*easy_rows(), beta=0.0, max_epochs=2)
    still = {name for name in before if name.startswith("projection")}
    assert moved(network, before) == set(before) - still


def test_every_epoch_is_told_once_and_kept_in_the_history():
    *_, result, told = trained(*easy_rows(), max_epochs=4, patience=10)
    assert told == result.history
    assert len(told) == 4


@pytest.mark.parametrize("patience", [1, 3])
@pytest.mark.parametrize("warmup_epochs", [0, 2])
def test_training_stops_once_patience_has_run_out_after_the_warm_up(
    patience, warmup_epochs
):
    X, labels = easy_rows("PN")
    # Two labels in one batch: their sum, and so the loss, is the same in any order.
    changes = {"learning_rate": 0.0, "beta": 0.0, "max_epochs": 20}
    *_, told = trained(
        X[:2], labels[:2], patience=patience, warmup_epochs=warmup_epochs, **changes
    )
    assert len({epoch.loss for epoch in told}) == 1
    assert len(told) == warmup_epochs + 1 + patience


def test_warm_up_epochs_have_no_pseudo_labels_and_the_next_one_has():
    *_, told = trained(*easy_rows(), warmup_epochs=3, max_epochs=5)
    counts = [epoch.pseudo_anomalies + epoch.pseudo_normals for epoch in told]
    assert counts[:3] == [0, 0, 0]
    assert [epoch.pseudo for epoch in told[:3]] == [0.0, 0.0, 0.0]
    assert counts[3] > 0
    assert told[3].pseudo > 0


def test_the_last_epoch_has_pseudo_labels_however_long_the_warm_up():
    *_, told = trained(*easy_rows(), warmup_epochs=100, max_epochs=3)
    assert [epoch.pseudo_normals > 0 for epoch in told] == [False, False, True]


@pytest.mark.parametrize(("setting", "counts"), [("PU", (0, 160)), ("NU", (160, 0))])
def test_in_the_warm_up_all_unlabeled_rows_stand_in_for_a_class_without_labels(
    setting, counts
):
    X, labels = easy_rows(setting)
    labels[80:] = -1
    labels[:80] = max(SETTINGS[setting])
    *_, told = trained(X, labels, stand_in=True, warmup_epochs=1, max_epochs=2)
    assert (told[0].pseudo_anomalies, told[0].pseudo_normals) == counts


def test_training_is_the_same_for_the_same_seed_and_another_for_another():
    X, labels = easy_rows()
    runs = [trained(X, labels, seed=seed, max_epochs=3) for seed in (1, 1, 2)]
    first, again, other = (network.state_dict() for network, *_ in runs)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first)
    assert runs[0][-1] == runs[1][-1]


def test_without_unlabeled_rows_there_is_no_pseudo_labeler():
    *_, result, told = trained(*easy_rows("PN"))
    assert result.pseudo_labeler is None
    assert result.pseudo_labels is None
    assert {epoch.pseudo for epoch in told} == {0.0}
    assert {epoch.pseudo_anomalies + epoch.pseudo_normals for epoch in told} == {0}


def test_the_pseudo_labeler_kept_fits_the_code_the_network_ended_with():
    X, labels = easy_rows()
    network, *_, result, _ = trained(X, labels, max_epochs=3)
    latent = encode(network, torch.from_numpy(X[labels == -1]))
    again = result.pseudo_labeler.label(latent)
    np.testing.assert_array_equal(again.labels, result.pseudo_labels.labels)


@given(
    labels=st.lists(st.sampled_from([1, 0, -1]), min_size=1, max_size=30).filter(
        lambda labels: max(labels) >= 0
    ),
    batch_size=st.integers(1, 12),
    seed=st.integers(0, 100),
)
@examples(100)
def test_an_epoch_deals_unlabeled_rows_once_and_labeled_ones_in_rotation(
    labels, batch_size, seed
):
    labels = np.array(labels, dtype=np.int8)
    X = torch.arange(len(labels), dtype=torch.float32)[:, None]
    batches = list(_Batches(X, labels, batch_size, np.random.default_rng(seed)).epoch())
    unlabeled = [row.item() for batch in batches for row in batch.unlabeled]
    assert sorted(unlabeled) == np.flatnonzero(labels == -1).tolist()
    positions = np.concatenate([batch.position for batch in batches]).astype(int)
    np.testing.assert_array_equal(np.flatnonzero(labels == -1)[positions], unlabeled)
    rows = np.concatenate([batch.labeled[:, 0] for batch in batches]).astype(int)
    np.testing.assert_array_equal(
        np.concatenate([batch.label for batch in batches]), labels[rows]
    )
    seen = Counter(rows.tolist())
    times = [seen[row] for row in np.flatnonzero(labels >= 0)]
    assert max(times) - min(times) <= 1
    assert len(unlabeled) > 0 or min(times) >= 1
    assert {len(batch.labeled) for batch in batches} == {min(batch_size, len(times))}


def test_codes_and_logits_of_parts_are_those_of_all_rows_together():
    X = torch.from_numpy(easy_rows()[0])
    network = new_network(
        6, n_layers=2, linear_code=True, start="torch", rng=np.random.default_rng(0)
    )
    with torch.no_grad():
        output = network(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_SCORE_ROWS", 50)
        codes, logits = encode(network, X), predict_logits(network, X)
    np.testing.assert_allclose(codes, output.latent, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(logits, output.logit, rtol=1e-5, atol=1e-6)


def test_the_threads_of_torch_come_back_after_an_error():
    n_threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with pytest.raises(ZeroDivisionError, match="by zero"), one_thread():
            torch.get_num_threads() / 0
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(n_threads)


def test_small_steps_run_on_one_thread():
    with one_thread():
        assert torch.get_num_threads() == 1


def test_a_limit_holds_until_the_outermost_ends():
    n_threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with one_thread():
            with one_thread():
                pass
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(n_threads)
