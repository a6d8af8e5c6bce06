"""Weights of the in-context model: plain numbers, with the shape they belong to."""

import json
import os
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from spadework.errors import ModelFileError
from spadework.in_context.modules import InContextModel, ModelConfig

_CONFIG_KEY = "config"
PUBLISHED = "weights.safetensors"


@dataclass(frozen=True)
class Weights:
    """Weights in half precision, as they are published and kept in model files.

    Arrays go by the names of the model's parameters.
    """

    config: ModelConfig
    arrays: dict[str, NDArray[np.float16]]

    @classmethod
    def of(cls, model: InContextModel) -> Self:
        """Round the weights of a model."""
        state = model.state_dict()
        return cls(model.config, {k: v.half().cpu().numpy() for k, v in state.items()})

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that `write` wrote."""
        try:
            with safe_open(path, framework="numpy") as file:
                told = json.loads((file.metadata() or {})[_CONFIG_KEY])
                arrays = {name: file.get_tensor(name) for name in file.keys()}
            return cls(ModelConfig(**told), arrays)
        except (OSError, SafetensorError, KeyError, ValueError, TypeError) as error:
            raise ModelFileError(
                f"{path} must hold weights of the in-context model, but cannot be read "
                f"({error}); name a file that pretraining published"
            ) from error

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a safetensors file, which holds nothing but numbers and the config."""
        save_file(self.arrays, path, {_CONFIG_KEY: json.dumps(asdict(self.config))})

    def model(self, device: str = "cpu") -> InContextModel:
        """Build the model, to compute with in single precision."""
        with torch.device("meta"):
            model = InContextModel(self.config)
        state = {name: torch.from_numpy(a).float() for name, a in self.arrays.items()}
        model.load_state_dict(state, assign=True)
        return model.requires_grad_(False).eval().to(device)


@cache
def published() -> Weights:
    """Return the weights that come with this package."""
    with as_file(files("spadework.in_context") / PUBLISHED) as path:
        return Weights.read(path)
