"""A tiny in-context model with random weights: to see how scores behave."""

import torch
from torch import nn

from spadework.in_context.modules import InContextModel, ModelConfig

CONFIG = ModelConfig(
    cell_width=8,
    cell_heads=2,
    n_cell_blocks=1,
    n_inducing=4,
    n_queries=2,
    n_identity=4,
    row_heads=2,
    n_row_blocks=2,
    n_share_bins=8,
)


def tiny_model(seed=0):
    """Return a model whose every layer says something, as those of trained ones do."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = InContextModel(CONFIG)
        for module in model.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.5)
    return model.requires_grad_(False).eval()
