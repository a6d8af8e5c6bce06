"""Checkpoints in pieces small enough to carry, and their way back."""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

PIECE_BYTES = 15 * 2**20


def save_pieces(tensors: dict[str, Tensor], folder: Path, name: str) -> list[Path]:
    """Write tensors as ``name-0.safetensors``, ``name-1...``, none over the limit.

    Parameters
    ----------
    tensors : dict of Tensor
        None larger than a piece.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pieces: list[dict[str, Tensor]] = [{}]
    size = 0
    for key, tensor in tensors.items():
        n_bytes = tensor.numel() * tensor.element_size()
        if pieces[-1] and size + n_bytes > PIECE_BYTES:
            pieces.append({})
            size = 0
        pieces[-1][key] = tensor.detach().cpu().contiguous()
        size += n_bytes
    for old in folder.glob(f"{name}-*.safetensors"):
        old.unlink()
    paths = [folder / f"{name}-{i}.safetensors" for i in range(len(pieces))]
    for piece, path in zip(pieces, paths, strict=True):
        save_file(piece, path)
    return paths


def load_pieces(
    folder: Path, name: str, device: str | torch.device = "cpu"
) -> dict[str, Tensor]:
    """Read what `save_pieces` wrote."""
    paths = sorted(folder.glob(f"{name}-*.safetensors"))
    if not paths:
        raise FileNotFoundError(
            f"no checkpoint {name!r} in {folder}: expected {name}-0.safetensors; "
            "name the folder that training wrote to"
        )
    tensors: dict[str, Tensor] = {}
    for path in paths:
        tensors |= load_file(path, device=str(device))
    return tensors
