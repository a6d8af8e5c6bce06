"""The methods that are compared, by name: how each is made, and where it applies."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from spadework.base import AnomalyDetector
from spadework.detector import PAPER_ABLATIONS, SPADE
from spadework.errors import InputError
from spadework.learners.trees import TreeLearner

ALPHAS = (0.0, 0.1, 0.3, 1.0, 3.0)
"""Weights of the pseudo-label loss in the sweep of figure 5."""

PUBLISHED_ALPHA = 1.0

RELEASED_PERCENTILES = (10.0, 90.0)
"""Percentiles of one-class scores below and above which the released form labels rows."""

PHOTO_STEPS = 4096
"""Steps that networks train on photos here, at most; CutPaste's authors take 16 times
as many."""

_PRETRAINED = "spadework.images.pretrained.PretrainedLearner"
_SUPERVISED_PHOTOS = "spadework_research.photos.baselines.SupervisedLearner"
_ONE_CLASS_PHOTOS = "spadework_research.photos.baselines.OneClassLearner"

_LITERAL = "literal reading"
"""Labels of `SPADE.paper(literal=True)`, which takes what the paper leaves open at its
plainest; without it, the reading that comes nearest to the paper's numbers."""

_PNU, _PU, _NU = ("PNU",), ("PNU", "PU"), ("PNU", "NU")
_ALL = ("PNU", "PU", "NU")


Make = Callable[[int], AnomalyDetector]


@dataclass(frozen=True)
class Method:
    """A detector under a name.

    Attributes
    ----------
    name : str
        In file names and options.
    label : str
        In tables.
    make : callable, optional
        Takes a seed and returns an unfitted detector for tables; None where the idea
        is for photos only, or where only results of an earlier version are left.
    settings : tuple of str
        Label settings in which it can be used.
    paper : str, optional
        Its row in the paper's tables.
    library : str, optional
        What must be installed beyond our own dependencies.
    make_images : callable, optional
        The same idea for photos, as ``make``; None where there is none.
    """

    name: str
    label: str
    make: Make | None
    settings: tuple[str, ...]
    paper: str | None = None
    library: str | None = None
    make_images: Make | None = None

    def detector(self, seed: int, *, photos: bool = False) -> AnomalyDetector:
        """Return an unfitted detector for tables or for photos."""
        make = self.make_images if photos else self.make
        if make is None:
            raise InputError(f"{self.name} is not for {'photos' if photos else 'tables'}")
        return make(seed)

    def is_available(self) -> bool:
        """Tell whether its library is installed."""
        return self.library is None or find_spec(self.library) is not None


def get_method(name: str) -> Method:
    """Return the method of that name."""
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}; known are {', '.join(METHODS)}")
    return METHODS[name]


def _spade(seed: int, **parameters: Any) -> AnomalyDetector:
    return SPADE(random_state=seed).set_params(**parameters)


def _in_context(seed: int) -> AnomalyDetector:
    return _find("spadework.in_context.detector.InContextDetector")(random_state=seed)


def _labels_only(seed: int) -> AnomalyDetector:
    return _spade(seed, learner=TreeLearner(pseudo_labels=False))


def _released(seed: int) -> AnomalyDetector:
    return _spade(seed, learner="forest", thresholds=RELEASED_PERCENTILES)


def _paper(seed: int, ablation: str | None = None, **parameters: Any) -> AnomalyDetector:
    changes = PAPER_ABLATIONS[ablation] if ablation else {}
    return SPADE.paper(random_state=seed, **changes, **parameters)


def _find(name: str) -> Any:
    """Import ``package.module.Class`` when it is needed: some load torch."""
    module, class_name = name.rsplit(".", 1)
    return getattr(import_module(module), class_name)


def _photos(name: str, **parameters: Any) -> Make:
    """Return a maker of ImageSPADE with ``package.module.Class`` as its learner.

    A learner that trains a network has options; each trains the same number of steps.
    """

    def make(seed: int) -> AnomalyDetector:
        learner = _find(name)(**parameters)
        if hasattr(learner, "options"):
            n_epochs = PHOTO_STEPS // learner.options.epoch_steps
            options = replace(learner.options, max_epochs=n_epochs)
            learner = replace(learner, options=options)
        detector = _find("spadework.images.detector.ImageSPADE")
        return detector(learner=learner, random_state=seed)

    return make


def _baseline(name: str, **parameters: Any) -> Make:
    """Return a maker of ``module.Class`` among the baselines, imported when called."""

    def make(seed: int) -> AnomalyDetector:
        found = _find(f"spadework_research.baselines.{name}")
        return found(random_state=seed, **parameters)

    return make


_supervised = partial(_baseline, "supervised.Supervised")
_one_class = partial(_baseline, "one_class.OneClass")
_elkan_noto = partial(_baseline, "elkan_noto.WeightedElkanNoto")
_bagging_pu = partial(_baseline, "bagging_pu.BaggingPU")
_xgbod = partial(_baseline, "xgbod.XGBOD")


def _both_ways(
    classifier: str, label: str, *, library: str | None = None
) -> list[Method]:
    """Return a classifier on labels alone and with unlabeled rows as normal."""
    alone = _supervised(classifier=classifier)
    negative = _supervised(classifier=classifier, unlabeled="normal")
    return [
        Method(classifier, label, alone, _PNU, library=library),
        Method(
            f"negative_{classifier}", f"Negative {label}", negative, _PU, library=library
        ),
    ]


def _one_class_both_ways(name: str, label: str, model: str) -> list[Method]:
    """Return a one-class classifier on labeled normals, and on all but anomalies."""
    negative = _one_class(model=model, unlabeled="normal")
    return [
        Method(f"occ_{name}", f"OCC, {label}", _one_class(model=model), _NU),
        Method(f"negative_occ_{name}", f"Negative OCC, {label}", negative, _ALL),
    ]


_SPADES = [
    Method(
        "spade",
        "SPADE (ours)",
        _spade,
        _ALL,
        "SPADE",
        make_images=_photos(_PRETRAINED),
    ),
    Method(
        "spade_paper",
        "SPADE as published",
        _paper,
        _ALL,
        "SPADE",
        make_images=_photos("spadework.images.paper.PaperLearner"),
    ),
    Method(
        "spade_paper_literal",
        f"SPADE as published, {_LITERAL}",
        partial(_paper, literal=True),
        _ALL,
        "SPADE",
    ),
    Method("spade_rules", "SPADE 0.1 (hand-set rules)", None, _ALL),
    Method("spade_network", "SPADE, network", partial(_spade, learner="network"), _ALL),
    Method("spade_forest", "SPADE, released form", _released, _ALL),
    Method("in_context", "In-context model alone", _in_context, _ALL),
]

_PAPER_BASELINES = [
    Method(
        "supervised",
        "Supervised",
        _supervised(),
        _PNU,
        "Supervised",
        make_images=_photos(_SUPERVISED_PHOTOS),
    ),
    Method(
        "negative_supervised",
        "Negative Supervised",
        _supervised(unlabeled="normal"),
        _PU,
        "Negative Supervised",
        make_images=_photos(_SUPERVISED_PHOTOS, unlabeled="normal"),
    ),
    Method("occ", "OCC", _one_class(), _NU, "OCC"),
    Method(
        "negative_occ",
        "Negative OCC",
        _one_class(unlabeled="normal"),
        _ALL,
        "Negative OCC",
        make_images=_photos(_ONE_CLASS_PHOTOS),
    ),
    Method(
        "srr",
        "Unsupervised OCC (SRR)",
        _baseline("srr.SRR"),
        _ALL,
        "Unsupervised OCC",
        make_images=_photos(_ONE_CLASS_PHOTOS, refined=True),
    ),
    Method("vime", "VIME", _baseline("vime.VIME"), _PNU, "VIME"),
    Method("dann", "DANN", _baseline("dann.DANN"), _PNU, "DANN"),
    Method(
        "elkan_noto",
        "Weighted Elkanoto",
        _elkan_noto(classifier="svm", refit=False),
        ("PU",),
        "Weighted Elkanoto",
    ),
    Method(
        "bagging_pu",
        "BaggingPU",
        _bagging_pu(classifier="svm", bag="all", n_bags=15),
        ("PU",),
        "BaggingPU",
    ),
]

_OTHER_BASELINES = [
    *_both_ways("tuned_forest", "tuned forest"),
    *_both_ways("extra_trees", "extra-trees"),
    *_both_ways("perceptron", "MLP"),
    *_both_ways("xgboost", "XGBoost", library="xgboost"),
    *_both_ways("catboost", "CatBoost", library="catboost"),
    *_one_class_both_ways("isolation_forest", "isolation forest", "isolation_forest"),
    *_one_class_both_ways("svm", "SVM", "svm"),
    Method("elkan_noto_forest", "Weighted Elkanoto, forest", _elkan_noto(), _PU),
    Method("bagging_pu_balanced", "BaggingPU, balanced trees", _bagging_pu(), _PU),
    Method("deep_sad", "Deep SAD", _baseline("deep_sad.DeepSAD"), _ALL),
    Method("devnet", "DevNet", _baseline("devnet.DevNet"), _PU),
    Method(
        "self_training", "Self-training", _baseline("self_training.SelfTraining"), _PNU
    ),
    Method("xgbod", "XGBOD-style", _xgbod(), _PNU),
    Method(
        "negative_xgbod",
        "Negative XGBOD-style",
        _xgbod(unlabeled="normal"),
        _PU,
    ),
]

_WITH_WEIGHTS = [
    Method(
        "tabpfn", "TabPFN v2", _supervised(classifier="tabpfn"), _PNU, library="tabpfn"
    ),
]
"""They need a file of weights, and an environment of their own."""

_FOR_PHOTOS = [
    Method(
        "fixmatch",
        "FixMatch",
        None,
        _PNU,
        "FixMatch",
        make_images=_photos("spadework_research.photos.fixmatch.FixMatchLearner"),
    ),
    Method(
        "linear",
        "Logistic regression on pretrained features",
        None,
        _PNU,
        make_images=_photos(_PRETRAINED, parts=("linear",)),
    ),
    Method(
        "patches",
        "Distance of pretrained patches",
        None,
        _ALL,
        make_images=_photos(_PRETRAINED, parts=("patches",)),
    ),
]

_ABLATIONS = [
    Method(f"spade_paper{end}_{name}", f"{label}{words}", make, _ALL, label)
    for end, words, literal in (("", "", False), ("_literal", f", {_LITERAL}", True))
    for name, label in {
        "no_matching": "No partial matching",
        "no_ensemble": "No ensemble",
        "no_self_supervision": "No self-supervised",
        "no_labeled_normals": "No normal samples",
        "majority_vote": "Majority vote",
    }.items()
    for make in (partial(_paper, ablation=name, literal=literal),)
]

_PARTS = [
    Method("spade_labels_only", "labels only", _labels_only, _ALL),
]

_ALPHAS = [
    Method(
        f"spade_paper{end}_alpha_{alpha:g}",
        f"SPADE as published{words}, alpha = {alpha:g}",
        partial(_paper, literal=literal, learner__alpha=alpha),
        _ALL,
    )
    for end, words, literal in (("", "", False), ("_literal", f", {_LITERAL}", True))
    for alpha in ALPHAS
    if alpha != PUBLISHED_ALPHA
]

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *_SPADES,
        *_PAPER_BASELINES,
        *_OTHER_BASELINES,
        *_WITH_WEIGHTS,
        *_FOR_PHOTOS,
        *_ABLATIONS,
        *_ALPHAS,
        *_PARTS,
    )
}

COMPARED: tuple[str, ...] = tuple(
    method.name for method in (*_SPADES, *_PAPER_BASELINES, *_OTHER_BASELINES)
)
"""Methods of the comparison tables."""

IMAGE_COMPARED: tuple[str, ...] = tuple(
    name for name, method in METHODS.items() if method.make_images
)
"""Methods of the comparison on photos."""

SPADES: tuple[str, ...] = tuple(method.name for method in _SPADES)
"""Forms of SPADE among them; the others are what it is compared with."""

ABLATED: tuple[str, ...] = (
    "spade_paper",
    "spade_paper_literal",
    *(method.name for method in _ABLATIONS),
)
"""Rows of the paper's ablation tables, in both readings."""

PARTS: tuple[str, ...] = ("spade", "in_context", "spade_labels_only", "spade_forest")
"""The default detector; its pseudo-labeler alone, its predictor on labels alone, and
one-class votes in place of the pseudo-labeler."""


def _swept(name: str) -> tuple[str, ...]:
    """Return the points of a sweep, in the order of ``ALPHAS``."""
    return tuple(
        name if alpha == PUBLISHED_ALPHA else f"{name}_alpha_{alpha:g}"
        for alpha in ALPHAS
    )


SWEPT: tuple[str, ...] = _swept("spade_paper")
"""Points of the alpha sweep, in the order of ``ALPHAS``."""

SWEPT_LITERAL: tuple[str, ...] = _swept("spade_paper_literal")
"""The same points in the literal reading."""
