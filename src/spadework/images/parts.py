"""The classes that a fitted detector of photos is made of: all that a file may name."""

from typing import Any

from spadework.core.pseudo_labels import PseudoLabeler
from spadework.core.scaling import PrincipalScaler
from spadework.images.density import CodeGaussians
from spadework.images.detector import ImageSPADE
from spadework.images.models import PredictorModel
from spadework.images.paper import PaperLearner
from spadework.images.patches import PatchBank
from spadework.images.pretrained import PhotoModel, PretrainedLearner
from spadework.images.spotting import Spotter
from spadework.images.training import ImageTraining
from spadework.learners.directions import ColumnScorer

CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        CodeGaussians,
        ColumnScorer,
        ImageSPADE,
        ImageTraining,
        PaperLearner,
        PatchBank,
        PhotoModel,
        PredictorModel,
        PretrainedLearner,
        PrincipalScaler,
        PseudoLabeler,
        Spotter,
    )
}
