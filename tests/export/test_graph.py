"""A graph grows by nodes, and numbers become constants in it."""

import numpy as np
import pytest
from onnx import numpy_helper

from spadework.export.graph import Graph


def test_outputs_have_names_of_their_own_unless_they_are_given_one():
    graph = Graph()
    names = [
        graph.add("Neg", "x"),
        graph.add("Neg", "x"),
        graph.add("Abs", "x", output="y"),
    ]
    assert len(set(names)) == 3
    assert names[-1] == "y"
    assert [node.output[0] for node in graph.nodes] == names


def test_numbers_become_doubles_and_arrays_stay_as_they_are():
    graph = Graph()
    graph.add("Sum", "x", 0.1, np.arange(6, dtype=np.float32).reshape(2, 3).T)
    number, array = map(numpy_helper.to_array, graph.constants)
    assert (number.dtype, number.shape, number) == (np.float64, (), pytest.approx(0.1, 0))
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, np.arange(6).reshape(2, 3).T)
    (node,) = graph.nodes
    assert list(node.input) == ["x", *(each.name for each in graph.constants)]
    assert graph.n_bytes == 8 + 24


def test_of_an_operator_with_several_outputs_the_first_is_named():
    graph = Graph()
    name = graph.add("TopK", "x", np.array([3]), axis=1)
    (node,) = graph.nodes
    assert node.output[0] == name
    assert len(node.output) == 2
