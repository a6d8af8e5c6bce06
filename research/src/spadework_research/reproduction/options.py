"""What the paper leaves open, with the plausible readings of each.

A setting is a dict of named options. What the paper states is not here, except what
its own ablations change: one-class models on the code, K, votes, alpha and beta.

Readings come from the text itself and from what its authors published beside it:

- the released code of the same system, whose tables are min-max scaled and whose
  one-class models are scikit-learn's Gaussian mixtures (full covariances, floor 1e-6);
- VIME, by the first author, in Keras: Glorot weights, RMSprop and Adam at their
  defaults, 128 labeled rows beside 128 unlabeled ones in a step, masks that corrupt
  three values of ten, an encoder of one layer;
- SRR and CutPaste, by the same authors: codes of length one, batch normalisation.
"""

import hashlib
import json
from typing import Any

Setting = dict[str, Any]

READINGS: dict[str, tuple[Any, ...]] = {
    # Rows.
    "scaling": ("minmax", "clipped", "percentiles", "standard", "asinh", "quantile"),
    # Networks: layers of (encoder, predictor, decoder).
    "layers": ((2, 2, 2), (1, 1, 1), (2, 1, 1), (1, 2, 1)),
    "activation": ("relu", "tanh"),
    "last": ("relu", "linear", "batch_norm", "tanh", "sigmoid"),
    "init": ("keras", "torch"),
    "dropout": (0.0, 0.2),
    # Steps.
    "optimiser": ("adam", "rmsprop", "sgd"),
    "learning_rate": (1e-3, 3e-4, 1e-4, 1e-2),
    "weight_decay": (0.0, 1e-4, 1e-2),
    "batch": (128, 32, 512, "all"),
    "epoch": ("rows", 100),
    "draw": ("beside", "all_labels", "mixed", "mixed_rows"),
    # Losses.
    "pseudo_mean": ("unlabeled", "known"),
    "class_weight": ("none", "labels", "both"),
    "corruption": ("none", "masks", "noise"),
    "reconstruction": ("mean", "sum"),
    # When training ends.
    "max_epochs": (100, 20, 400),
    "patience_on": ("total", "labels", "never"),
    "min_delta": (0.0, 1e-3),
    "keep": ("last", "best"),
    "pretraining": (0, 20),
    "warmup": (0, 5, 20),
    # Pseudo-labels.
    "covariance": ("full", "diagonal"),
    "floor": (1e-6, 1e-3, 1e-1),
    "code": ("raw", "standard", "unit"),
    "score_scale": ("raw", "log", "rank"),
    "range": ("all", "halves"),
    "both": ("unknown", "normal", "anomaly"),
    "missing_class": ("otsu", "stand_in"),
}
"""The readings of each option, the plainest first."""

STATED: Setting = {
    "alpha": 1.0,
    "beta": 1.0,
    "n_members": 5,
    "thresholds": "matching",
    "voting": "unanimous",
    "labeled_normals": True,
}
"""What the paper states, and changes in its ablations."""

ABLATIONS: dict[str, Setting] = {
    "alpha_0": {"alpha": 0.0},
    "no_matching": {"thresholds": "otsu"},
    "no_ensemble": {"n_members": 1},
    "no_self_supervision": {"beta": 0.0},
    "no_labeled_normals": {"labeled_normals": False},
    "majority_vote": {"voting": "majority"},
}
"""Changes of the paper's ablation tables and the labels-only end of its figure 5."""


def complete(changes: Setting) -> Setting:
    """Return a setting with every option, those not given at their plainest reading.

    Examples
    --------
    >>> complete({"scaling": "asinh"})["scaling"], complete({})["scaling"]
    ('asinh', 'minmax')
    """
    plain = {name: readings[0] for name, readings in READINGS.items()} | STATED
    unknown = changes.keys() - plain.keys()
    if unknown:
        raise ValueError(f"unknown options {sorted(unknown)}; known are {sorted(plain)}")
    changes = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in changes.items()
    }
    return plain | changes


def reduce(setting: Setting) -> Setting:
    """Return what a setting changes of the plainest readings."""
    plain = complete({})
    full = complete(setting)
    return {name: full[name] for name in plain if full[name] != plain[name]}


def name_of(setting: Setting) -> str:
    """Return a short name that equal settings share."""
    text = json.dumps(reduce(setting), sort_keys=True)
    return hashlib.sha1(text.encode()).hexdigest()[:10]


def one_factor(centre: Setting) -> list[Setting]:
    """Return the centre and all settings that change one open option of it."""
    full = complete(centre)
    changed = [
        full | {name: reading}
        for name, readings in READINGS.items()
        for reading in readings
        if reading != full[name]
    ]
    return [reduce(each) for each in (full, *changed)]
