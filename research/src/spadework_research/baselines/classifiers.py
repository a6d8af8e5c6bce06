"""Classifiers by name, with the settings that all data sets share."""

from collections.abc import Callable
from typing import Any

from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from spadework.errors import InputError
from spadework_research.baselines.kernel_svm import KernelSVM
from spadework_research.baselines.tabpfn import TabPFN

TREE_ROWS = 32_768
"""Rows that a tree of the tuned forests draws at most, as those of our own forest."""


def tree(seed: int, n_rows: int) -> Any:
    """One tree, grown to the last row."""
    return DecisionTreeClassifier(random_state=seed)


def random_forest(seed: int, n_rows: int) -> Any:
    """Random forest with scikit-learn's defaults, the paper's choice."""
    return RandomForestClassifier(random_state=seed)


def tuned_forest(seed: int, n_rows: int) -> Any:
    """Random forest for few labels: more trees, none of them to the last row."""
    return RandomForestClassifier(
        300,
        min_samples_leaf=5,
        max_depth=16,
        max_samples=min(n_rows, TREE_ROWS),
        random_state=seed,
    )


def extra_trees(seed: int, n_rows: int) -> Any:
    """Trees with random splits, as many and as deep."""
    large = n_rows > TREE_ROWS
    return ExtraTreesClassifier(
        300,
        min_samples_leaf=5,
        max_depth=16,
        bootstrap=large,
        max_samples=TREE_ROWS if large else None,
        random_state=seed,
    )


def boosting(seed: int, n_rows: int) -> Any:
    """Gradient boosting of scikit-learn; on few rows, leaves may hold fewer."""
    leaf = min(20, max(1, n_rows // 20))
    return HistGradientBoostingClassifier(min_samples_leaf=leaf, random_state=seed)


def perceptron(seed: int, n_rows: int) -> Any:
    """Two hidden layers on standardised columns, in at most 256 steps an epoch."""
    batch: Any = min(n_rows, max(200, n_rows // 256))
    network = MLPClassifier(
        (64, 64), alpha=1e-3, batch_size=batch, max_iter=50, random_state=seed
    )
    return make_pipeline(StandardScaler(), network)


def svm(seed: int, n_rows: int) -> Any:
    """Support vector machine with the settings of pulearn's own examples."""
    return KernelSVM(C=10.0, gamma=0.4, random_state=seed)


def xgboost(seed: int, n_rows: int) -> Any:
    """XGBoost with its defaults."""
    from xgboost import XGBClassifier  # it takes a second to load

    return XGBClassifier(random_state=seed, n_jobs=1, verbosity=0)


def catboost(seed: int, n_rows: int) -> Any:
    """CatBoost with its defaults."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False
    )


def tabpfn(seed: int, n_rows: int) -> Any:
    """TabPFN v2 with its defaults, as a regression of the class."""
    return TabPFN(seed)


CLASSIFIERS: dict[str, Callable[[int, int], Any]] = {
    maker.__name__: maker
    for maker in (
        tree,
        random_forest,
        tuned_forest,
        extra_trees,
        boosting,
        perceptron,
        svm,
        xgboost,
        catboost,
        tabpfn,
    )
}


def make_classifier(name: str, seed: int, n_rows: int) -> Any:
    """Return the unfitted classifier of that name, for a table of so many rows."""
    if name not in CLASSIFIERS:
        raise InputError(
            f"unknown classifier {name!r}; known are {', '.join(CLASSIFIERS)}"
        )
    return CLASSIFIERS[name](seed, n_rows)
