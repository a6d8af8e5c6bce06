"""An ONNX graph as it grows: nodes and constants."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

FLOAT, UINT8, INT64, STRING, DOUBLE = 1, 2, 7, 8, 11
"""Codes of onnx.TensorProto."""

_FURTHER = {"TopK": 1}
"""Outputs that an operator must have and nobody here reads."""


class Graph:
    """The nodes and constants of an ONNX graph, and about how many bytes they take."""

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

        Inputs are names, or numbers and arrays, which become constants. Of an operator
        with several outputs, the first.
        """
        from onnx import helper

        names = [
            each if isinstance(each, str) else self._constant(each) for each in inputs
        ]
        output = output or f"/{operator}_{len(self.nodes)}"
        outputs = [output, *(f"{output}_{i}" for i in range(_FURTHER.get(operator, 0)))]
        self.nodes.append(helper.make_node(operator, names, outputs, **attributes))
        return output

    def _constant(self, values: float | NDArray[Any]) -> str:
        """Add an array as it is, or a number in double; return its name."""
        from onnx import numpy_helper

        name = f"/constant_{len(self.constants)}"
        array = np.ascontiguousarray(values) if np.ndim(values) else np.float64(values)
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        self.n_bytes += array.nbytes
        return name
