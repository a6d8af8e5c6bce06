"""Photos are dealt into batches, and training stops in time."""

from itertools import islice

import numpy as np
import pytest
from made_photos import made_photos

from spadework.errors import InputError
from spadework.images.training import ImageTraining, TrainingRun, deal

LABELS = np.array([1] * 4 + [0] * 12 + [-1] * 24, dtype=np.int8)
ALL = np.ones(len(LABELS), dtype=bool)


def test_a_pass_deals_every_photo_once():
    batches = list(islice(deal(LABELS, ALL, 10, np.random.default_rng(0)), 4))
    assert sorted(np.concatenate(batches)) == list(range(len(LABELS)))
    assert [len(batch) for batch in batches] == [10] * 4


def test_each_batch_has_its_share_of_labels_with_labeled_photos_first():
    for batch in islice(deal(LABELS, ALL, 10, np.random.default_rng(0)), 40):
        labels = LABELS[batch]
        assert abs((labels == 1).sum() - 1) <= 1
        assert abs((labels == 0).sum() - 3) <= 1
        assert (np.diff(labels) <= 0).all()


def test_photos_that_are_no_longer_kept_are_not_dealt_in_the_next_pass():
    keep = ALL.copy()
    batches = deal(LABELS, keep, 20, np.random.default_rng(0))
    list(islice(batches, 2))
    keep[:30] = False
    assert sorted(next(batches)) == list(range(30, 40))


@pytest.mark.parametrize("name", ["batch_size", "max_epochs", "patience", "epoch_steps"])
def test_numbers_below_one_are_refused(name):
    with pytest.raises(InputError, match=name):
        ImageTraining(**{name: 0})


def test_training_is_by_default_as_published():
    published = {"learning_rate": 0.03, "weight_decay": 3e-5, "max_epochs": 256}
    lengths = {"batch_size": 32, "epoch_steps": 256, "patience": 5}
    assert ImageTraining() == ImageTraining(**published, **lengths)


@pytest.mark.parametrize(("learning_rate", "n_expected"), [(1e-12, 2), (0.01, 4)])
def test_training_stops_when_the_loss_no_longer_improves(learning_rate, n_expected):
    """The loss is one of weights alone, so that nothing else moves it."""
    options = ImageTraining(
        learning_rate=learning_rate, max_epochs=4, patience=1, epoch_steps=1
    )
    run = TrainingRun(made_photos(4, 1, seed=0)[0], options, np.random.default_rng(0))
    bias = run.network.predictor[0].bias

    def losses(rows):
        return {"loss": (bias**2).sum(), "n_rows": bias.new_tensor(float(len(rows)))}

    batches = iter([np.arange(3)] * 4)
    means = list(run.epochs(batches, losses, verbose=False))
    assert len(means) == n_expected
    assert means[0]["n_rows"] == 3
