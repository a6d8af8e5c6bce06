"""A card says how weights came to be."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from spadework.errors import InputError
from spadework.in_context.weights import Weights
from spadework_research.pretraining.publishing import card, mean, publish
from tiny_context import CONFIG, tiny_model

TOLD = {
    "step": 12_345,
    "seconds": 4500.0,
    "device": "a GPU",
    "torch": "2.13.0",
    "spadework": "0.1.0",
    "n_weights": 3_600_000,
    "config": {"cell_width": 64},
    "stages": [
        {"step": 6_789, "schedule": {"seed": 0}, "prior": {"flipped": 0.1}},
        {"step": 12_345, "schedule": {"seed": 0}, "prior": {"flipped": 0.2}},
    ],
}


def test_the_card_names_what_a_reader_must_know():
    text = card([TOLD], b"weights")
    for fact in ("12,345", "1.25 hours on a GPU", "3,600,000", "PyTorch 2.13.0"):
        assert fact in text
    assert hashlib.sha256(b"weights").hexdigest() in text
    assert "made tables only" in text
    assert "Apache-2.0" in text
    assert "| 6,789 | `{'flipped': 0.1}`" in text
    assert "| 12,345 | `{'flipped': 0.2}`" in text


def test_a_folder_that_holds_no_weights_is_refused(tmp_path):
    (tmp_path / "checkpoint.json").write_text(json.dumps(TOLD))
    with pytest.raises(InputError, match="folder that training wrote to"):
        publish([tmp_path])


def test_the_mean_of_weights_lies_halfway_between_them():
    one, other = (Weights.of(tiny_model(seed)) for seed in (0, 1))
    between = mean([one, other])
    assert between.config == CONFIG
    for name, array in between.arrays.items():
        assert array.dtype == np.float16
        halfway = (one.arrays[name].astype(float) + other.arrays[name]) / 2
        np.testing.assert_allclose(array, halfway, atol=1e-2)


def test_weights_of_different_shapes_are_not_averaged():
    one = Weights.of(tiny_model())
    other = replace(one, config=replace(CONFIG, n_row_blocks=3))
    with pytest.raises(InputError, match="of one shape"):
        mean([one, other])


def test_the_card_of_a_mean_names_the_steps_of_each():
    text = card([TOLD | {"step": 6_789}, TOLD], b"weights")
    assert "mean of 6,789 and 12,345" in text
