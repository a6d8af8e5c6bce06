"""A card says how weights came to be."""

import hashlib
import json

import pytest

from spadework.errors import InputError
from spadework_research.pretraining.publishing import card, publish

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
    text = card(TOLD, b"weights")
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
        publish(tmp_path)
