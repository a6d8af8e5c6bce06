"""Weights come back from their file as they are, or not at all."""

import pytest
import torch

from spadework.errors import ModelFileError
from spadework.in_context.weights import Weights
from tiny_context import CONFIG, tiny_model


def test_a_file_gives_back_the_weights_and_the_shape(tmp_path):
    weights = Weights.of(tiny_model())
    weights.write(tmp_path / "w")
    again = Weights.read(tmp_path / "w")
    assert again.config == CONFIG
    assert again.arrays.keys() == weights.arrays.keys()
    for name, array in weights.arrays.items():
        assert again.arrays[name].tobytes() == array.tobytes()


def test_a_model_of_weights_computes_with_the_rounded_numbers():
    weights = Weights.of(tiny_model())
    rounded = weights.model()
    for name, parameter in tiny_model().named_parameters():
        assert torch.equal(rounded.get_parameter(name), parameter.half().float())
        assert not rounded.get_parameter(name).requires_grad


@pytest.mark.parametrize("content", [b"", b"weights", b"\x08\0\0\0\0\0\0\0{}      "])
def test_a_file_of_something_else_is_refused_by_its_name(tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(ModelFileError, match="other must hold weights"):
        Weights.read(tmp_path / "other")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelFileError, match="nowhere must hold weights"):
        Weights.read(tmp_path / "nowhere")
