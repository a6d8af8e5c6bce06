"""Steps that a GPU repeats without being told each kernel again.

A step is some three thousand kernels, and telling a GPU to start them takes longer than
running them. So what was computed for inputs of some shapes is recorded as a CUDA
graph, and replayed on the next inputs of these shapes.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

Step = Callable[..., tuple[Tensor, ...]]


class _Recording(NamedTuple):
    graph: torch.cuda.CUDAGraph
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


class Recorded:
    """A function of tensors that is replayed where its input shapes are known.

    The first call of some shapes runs as it is, the second is recorded, all further ones
    are replayed. Other tensors that the function reads and writes must stay where they
    are. On a CPU every call runs as it is.

    Parameters
    ----------
    function : callable
        Takes and returns tensors, and never waits for the GPU.
    """

    def __init__(self, function: Step) -> None:
        self.function = function
        self._stream: torch.cuda.Stream | None = None
        self._pool: Any = None
        self._recordings: dict[tuple[torch.Size, ...], _Recording | None] = {}

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Compute the outputs for some inputs."""
        if not inputs[0].is_cuda:
            return self.function(*inputs)
        self._stream = self._stream or torch.cuda.Stream()
        caller = torch.cuda.current_stream()
        self._stream.wait_stream(caller)
        with torch.cuda.stream(self._stream):
            outputs = self._run(inputs)
        caller.wait_stream(self._stream)
        return outputs

    def _run(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        shapes = tuple(x.shape for x in inputs)
        if shapes not in self._recordings:
            self._recordings[shapes] = None
            return self.function(*inputs)
        recording = self._recordings[shapes] or self._record(inputs)
        self._recordings[shapes] = recording
        for kept, new in zip(recording.inputs, inputs, strict=True):
            kept.copy_(new)
        recording.graph.replay()
        return tuple(x.clone() for x in recording.outputs)

    def _record(self, inputs: tuple[Tensor, ...]) -> _Recording:
        kept = tuple(x.clone() for x in inputs)
        graph = torch.cuda.CUDAGraph()
        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        graph.capture_begin(pool=self._pool)
        try:
            outputs = self.function(*kept)
        finally:
            graph.capture_end()
        return _Recording(graph, kept, outputs)
