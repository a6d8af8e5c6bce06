"""The detectors that ship score as they did when ``make golden`` was last run."""

import pytest

import golden

KEPT = golden.read()


@pytest.mark.parametrize("cell", golden.CELLS, ids=", ".join)
def test_scores_are_those_that_were_kept(cell):
    now = golden.measure(cell)
    assert golden.moved(KEPT[cell], now, golden.tolerance_of(cell)) == ""


def test_the_cells_that_were_kept_are_those_that_are_measured():
    assert list(KEPT) == golden.CELLS


def test_the_default_scores_exactly_the_same_again():
    cell = golden.Cell("default", "wine", "PU")
    assert golden.measure(cell) == golden.measure(cell)


def test_what_moved_is_told_with_what_it_was():
    cell, kept = next(iter(KEPT.items()))
    assert golden.rows(KEPT, {cell: kept})[0].endswith(f"{kept.n_called}")
    scores = [*kept.scores[:-1], kept.scores[-1] + 1e-4]
    now = kept._replace(auc=0.5, n_called=kept.n_called + 1, scores=scores)
    (line,) = golden.rows(KEPT, {cell: now})
    assert f"AUC {kept.auc:.4f} -> 0.5000" in line
    assert f"called {kept.n_called} -> {now.n_called}" in line
    assert "scores moved by" in line
    assert "calls moved by 1" in line


def test_a_score_that_is_not_a_number_has_moved():
    kept = KEPT[golden.CELLS[0]]
    now = kept._replace(scores=[float("nan"), *kept.scores[1:]])
    assert "scores" in golden.moved(kept, now)
