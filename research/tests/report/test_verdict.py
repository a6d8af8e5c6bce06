"""The verdict holds our SPADE against the paper, the best rival, and labels alone."""

from dataclasses import replace

import pytest

from spadework_research.report.cells import Runs
from spadework_research.report.verdict import HARM, judge
from spadework_research.runs.results import FAILED, Result


def run(method, auc, seed=0, table="easiness", column="thyroid"):
    return Result(
        table,
        column,
        "thyroid",
        "easiness",
        0.1,
        "PNU",
        method,
        seed,
        auc=auc,
        auc_given=auc,
        auc_missed=auc,
        average_precision=auc,
    )


def alone(auc, seed=0):
    return run("spade_labels_only", auc, seed, "parts", "thyroid-easiness")


def verdict(*results):
    [cell] = judge(Runs(results)).cells
    return cell


def test_the_paper_is_beaten_by_the_digits_that_are_shown():
    assert verdict(run("spade", 0.8326)).beats_paper  # the paper has 0.833
    below = verdict(run("spade", 0.8324))
    assert not below.beats_paper
    assert below.difference == pytest.approx(-0.0006)


def test_the_rival_is_the_best_method_that_is_not_spade():
    others = [run("spade_paper", 0.99), run("spade_network", 0.98), run("occ", 0.7)]
    cell = verdict(run("spade", 0.8), run("catboost", 0.9), *others)
    assert cell.rival.method.name == "catboost"
    assert not cell.beats_rival


@pytest.mark.parametrize(("ours", "beaten"), [(0.881, True), (0.879, False)])
def test_a_rival_is_met_within_one_standard_error_of_its_mean(ours, beaten):
    rivals = [run("occ", 0.88, seed=0), run("occ", 0.92, seed=1)]  # 0.90, error 0.02
    assert verdict(run("spade", ours), *rivals).beats_rival is beaten


@pytest.mark.parametrize(("gap", "harms"), [(0.9, True), (1.1, True), (-1.0, False)])
def test_harm_is_what_labels_alone_would_have_done_better(gap, harms):
    cell = verdict(run("spade", 0.8), alone(0.8 + HARM + gap * 0.001))
    assert cell.harms is harms


def test_labels_alone_are_compared_over_the_seeds_of_both():
    failed = replace(alone(None, seed=1), status=FAILED, reason="no normal", auc=None)
    cell = verdict(run("spade", 0.8, 0), run("spade", 0.2, 1), alone(0.7, 0), failed)
    assert cell.labels_only == pytest.approx(0.1)


@pytest.mark.parametrize(("seconds", "slow"), [(5.9, False), (6.1, True)])
def test_a_fit_is_slow_by_the_median_of_times_beside_labels_alone(seconds, slow):
    ours = run("spade", 0.8)
    fits = [
        replace(run("spade", 0.8, seed, "parts", "thyroid-easiness"), fit_seconds=took)
        for seed, took in enumerate((seconds, 1.0, 90.0, 90.0))
    ]
    others = [replace(alone(0.7, seed), fit_seconds=2.0) for seed in range(3)]
    cell = verdict(ours, *fits, *others)
    assert cell.times == pytest.approx(seconds / 2)
    assert cell.slow is slow


def test_cells_that_were_not_run_are_left_out_and_lacking_ones_say_none():
    assert judge(Runs([run("occ", 0.9)])).cells == []
    cell = verdict(run("spade", 0.8))
    assert cell.rival is None
    assert cell.labels_only is None
    assert cell.times is None
    assert not cell.slow
    assert not cell.harms


def test_the_mean_difference_counts_overall_cells_of_the_paper_only():
    verdicts = judge(
        Runs(
            [
                run("spade", 0.843),
                run("spade", 0.9, table="new_types"),
                run("spade", 0.9, table="nu"),
            ]
        )
    )
    # Paper: easiness 0.833, new types 0.921 overall; NU is not in it.
    assert verdicts.mean_difference == pytest.approx((0.010 - 0.021) / 2)
    assert len(verdicts.against_paper) == 4  # new types has given and missed too
