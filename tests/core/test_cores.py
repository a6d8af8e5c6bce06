"""Rows shared out in blocks, and limits that are put back whoever comes second."""

import os
import threading
import time

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from spadework.core.cores import map_blocks, one_blas_thread, usable_cores
from spadework.core.training import one_thread


@given(st.integers(0, 50), st.integers(1, 60))
def test_blocks_hold_every_row_once_and_in_order(n_rows, block_rows):
    rows = np.arange(n_rows)
    blocks = list(map_blocks(lambda block: rows[block], n_rows, block_rows))
    np.testing.assert_array_equal(np.concatenate([rows[:0], *blocks]), rows)
    assert all(0 < len(block) <= block_rows for block in blocks)


def test_no_more_cores_are_used_than_are_allowed(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "64")
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert usable_cores() == 1


def blas_threads():
    """Threads of each BLAS."""
    return [
        each["num_threads"] for each in threadpool_info() if "blas" in each["user_api"]
    ]


def test_limits_of_blas_that_threads_want_at_once_are_put_back():
    before, seen = blas_threads(), []

    def multiply():
        with one_blas_thread():
            time.sleep(0.01)
            seen.extend(blas_threads())

    threads = [threading.Thread(target=multiply) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(seen) == {1}
    assert blas_threads() == before


def test_a_limit_of_torch_is_put_back_whoever_leaves_first():
    entered, left = threading.Event(), threading.Event()

    def second():
        with one_thread():
            entered.set()
            left.wait(10)

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        other = threading.Thread(target=second)
        with one_thread():
            other.start()
            assert entered.wait(10)
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
        left.set()
        other.join()
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
