"""Checkpoints come in pieces that can be carried, and back whole."""

import pytest
import torch

from spadework_research.pretraining import checkpoints
from spadework_research.pretraining.checkpoints import load_pieces, save_pieces


def tensors():
    return {f"t{i}": torch.full((100,), float(i)) for i in range(10)}


def test_pieces_stay_below_the_limit_and_hold_everything(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "PIECE_BYTES", 1000)
    paths = save_pieces(tensors(), tmp_path, "checkpoint")
    assert len(paths) == 5
    again = load_pieces(tmp_path, "checkpoint")
    assert again.keys() == tensors().keys()
    assert all(torch.equal(again[name], t) for name, t in tensors().items())


def test_pieces_of_an_older_larger_checkpoint_are_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "PIECE_BYTES", 1000)
    save_pieces(tensors(), tmp_path, "checkpoint")
    save_pieces({"t0": torch.zeros(3)}, tmp_path, "checkpoint")
    assert load_pieces(tmp_path, "checkpoint").keys() == {"t0"}


def test_a_folder_without_a_checkpoint_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="name the folder that training wrote"):
        load_pieces(tmp_path, "checkpoint")
