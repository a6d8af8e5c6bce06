"""Wrappers of scikit-learn that take unlabeled for a class of its own, and their remedy.

Such a wrapper numbers the values of y itself. With -1, 0 and 1 it counts three classes
where a detector has two, and calibrates, votes or calls with the wrong one of them,
without a word. A detector sees nothing of it but who calls.
"""

import inspect

from numpy.typing import ArrayLike
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, BaseEnsemble
from sklearn.model_selection import TunedThresholdClassifierCV

from spadework.errors import LabelError, list_some
from spadework.labels import ANOMALY, NORMAL, as_vector

_WRAPPERS = {
    CalibratedClassifierCV.__module__: "CalibratedClassifierCV",
    BaggingClassifier.__module__: "BaggingClassifier",
    BaseEnsemble.__module__: "VotingClassifier or StackingClassifier",
    TunedThresholdClassifierCV.__module__: (
        "TunedThresholdClassifierCV or FixedThresholdClassifier"
    ),
}


def refuse_wrapped(y: ArrayLike) -> None:
    """Refuse labels other than 0 and 1 where a wrapper that numbers them is fitting.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels as the wrapper hands them over.
    """
    wrapper = _fitting_wrapper()
    if wrapper is None:
        return
    values = as_vector(y).tolist()
    if all(value in (NORMAL, ANOMALY) for value in values):
        return
    raise LabelError(
        f"{wrapper} of scikit-learn takes each value of y for a class, unlabeled too; "
        f"expected 0 and 1 alone, got {list_some(sorted(set(map(repr, values))))}. Fit "
        f"the detector by itself, on all rows but some labeled ones, and give the "
        f"wrapper sklearn.frozen.FrozenEstimator(detector) and those labeled rows alone"
    )


def _fitting_wrapper() -> str | None:
    """Name the nearest wrapper among the callers, if there is one."""
    frame = inspect.currentframe()
    while frame is not None:
        name = _WRAPPERS.get(frame.f_globals.get("__name__", ""))
        if name is not None:
            return name
        frame = frame.f_back
    return None
