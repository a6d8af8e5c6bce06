"""The classes that a fitted `InContextDetector` is made of: all that a file may name."""

from typing import Any

from spadework.in_context.detector import InContextDetector
from spadework.in_context.members import ContextRows, InContextEnsemble
from spadework.in_context.modules import ModelConfig
from spadework.in_context.weights import Weights

CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (ContextRows, InContextDetector, InContextEnsemble, ModelConfig, Weights)
}
