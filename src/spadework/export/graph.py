"""An ONNX graph as it grows: nodes and constants."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

FLOAT, INT64, STRING, DOUBLE = 1, 7, 8, 11
"""Codes of onnx.TensorProto."""


class Graph:
    """The nodes and constants of an ONNX graph, as they are added.

    Attributes
    ----------
    nodes : list of NodeProto
    constants : list of TensorProto
    n_bytes : int
        What constants and trees take in a file, about.
    """

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.n_bytes = 0

    def add(
        self,
        operator: str,
        *inputs: "str | float | NDArray[Any]",
        output: str | None = None,
        **attributes: Any,
    ) -> str:
        """Add a node; return the name of its output.

        Inputs are names, or numbers and arrays, which become constants.
        """
        from onnx import helper

        names = [
            each if isinstance(each, str) else self._constant(each) for each in inputs
        ]
        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, names, [output], **attributes))
        return output

    def _constant(self, values: float | NDArray[Any]) -> str:
        """Add an array as it is, or a number in double; return its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        array = np.ascontiguousarray(values) if np.ndim(values) else np.float64(values)
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        self.n_bytes += array.nbytes
        return name
