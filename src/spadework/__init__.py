"""Spadework: anomaly detection from a few labels that do not look like the rest.

Labels are 1 (anomaly), 0 (normal) and -1 (unlabeled); scores are higher for
more anomalous rows. The names below load when first used, so importing the
package stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from spadework.version import __version__

if TYPE_CHECKING:
    from spadework.detector import SPADE
    from spadework.evaluation import compare_scenarios, cross_validate_labels
    from spadework.images.detector import ImageSPADE
    from spadework.in_context.detector import InContextDetector
    from spadework.labels import normalize_labels
    from spadework.learners.forest import ForestLearner
    from spadework.learners.network import NetworkLearner
    from spadework.learners.trees import TreeLearner
    from spadework.persistence import load, save
    from spadework.table_fitting import fit_table
    from spadework.table_model import TableModel

_HOMES = {
    "SPADE": "spadework.detector",
    "ForestLearner": "spadework.learners.forest",
    "ImageSPADE": "spadework.images.detector",
    "InContextDetector": "spadework.in_context.detector",
    "NetworkLearner": "spadework.learners.network",
    "TableModel": "spadework.table_model",
    "TreeLearner": "spadework.learners.trees",
    "compare_scenarios": "spadework.evaluation",
    "cross_validate_labels": "spadework.evaluation",
    "fit_table": "spadework.table_fitting",
    "load": "spadework.persistence",
    "normalize_labels": "spadework.labels",
    "save": "spadework.persistence",
}

__all__ = [
    "SPADE",
    "ForestLearner",
    "ImageSPADE",
    "InContextDetector",
    "NetworkLearner",
    "TableModel",
    "TreeLearner",
    "__version__",
    "compare_scenarios",
    "cross_validate_labels",
    "fit_table",
    "load",
    "normalize_labels",
    "save",
]


def __getattr__(name: str) -> object:
    """Import a public name from its home module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spadework' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*globals(), *_HOMES])
