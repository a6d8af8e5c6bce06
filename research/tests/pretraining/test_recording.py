"""What is recorded computes what is not."""

import pytest
import torch

from spadework_research.pretraining.recording import Recorded


def summing(total):
    """A function that returns twice its input, and adds it to a total."""

    def step(x):
        total.add_(x.sum())
        return (2 * x,)

    return step


def test_a_cpu_computes_every_call():
    total = torch.zeros(())
    recorded = Recorded(summing(total))
    for size in (2, 3, 2, 2):
        (doubled,) = recorded(torch.ones(size))
        assert doubled.tolist() == [2.0] * size
    assert total.item() == 9


@pytest.mark.skipif(not torch.cuda.is_available(), reason="recordings are a GPU's")
def test_a_gpu_replays_with_new_inputs_of_known_shapes():
    total = torch.zeros((), device="cuda")
    recorded = Recorded(summing(total))
    kept = []
    for value, size in ((1, 2), (1, 3), (2, 2), (3, 2), (4, 2), (5, 3), (6, 3)):
        (doubled,) = recorded(torch.full((size,), float(value), device="cuda"))
        kept.append((doubled, [2.0 * value] * size))
    assert [x.tolist() for x, _ in kept] == [x for _, x in kept]
    assert total.item() == 2 * (1 + 2 + 3 + 4) + 3 * (1 + 5 + 6)
