"""Thresholds by partial matching and by Otsu, against loops over every cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from properties import examples
from spadework.core import matching
from spadework.core.matching import (
    FALSE_ALARMS,
    SEARCH_TOLERANCE,
    _TailMatcher,
    decide_threshold,
    match_threshold,
    otsu_threshold,
    tail_size,
    tail_threshold,
)
from spadework.errors import InputError

TAILS = ["upper", "lower"]

# Whole numbers tie, fractions do not.
score = st.one_of(st.integers(-6, 6).map(float), st.floats(-100, 100))
tails = st.sampled_from(TAILS)
seeds = st.integers(0, 2**32 - 1)


def scores_of(max_size):
    """Vectors of a few scores."""
    return st.lists(score, min_size=1, max_size=max_size).map(np.array)


def beyond(scores, threshold, tail):
    """Which scores lie in the tail that a threshold cuts off."""
    return scores > threshold if tail == "upper" else scores < threshold


def matched(labeled, unlabeled, tail):
    """Which unlabeled scores partial matching takes."""
    return beyond(unlabeled, match_threshold(labeled, unlabeled, tail=tail), tail)


def naive_distance(labeled, unlabeled, tail):
    """Least distance over all cuts, one scipy call for each."""
    parts = (
        unlabeled[unlabeled >= cut if tail == "upper" else unlabeled <= cut]
        for cut in unlabeled
    )
    return min(wasserstein_distance(labeled, part) for part in parts)


def within_class_variance(scores, high):
    """Weighted variance of the two classes that a split makes."""
    parts = [part for part in (scores[high], scores[~high]) if len(part)]
    return sum(part.var() * len(part) for part in parts) / len(scores)


def naive_otsu(scores):
    """Least variance within classes over all splits."""
    cuts = np.unique(scores)
    splits = [scores > cut for cut in cuts[:-1]] or [scores > cuts[0]]
    return min(within_class_variance(scores, high) for high in splits)


def sorted_matcher(labeled, unlabeled):
    """Matcher of upper tails, and all its candidate sizes."""
    matcher = _TailMatcher(np.sort(labeled), np.sort(unlabeled))
    return matcher, matcher.candidate_sizes()


def normal_scores(seed, n_labeled=8, n_unlabeled=40):
    """Scores without ties; the labeled ones lie a little apart."""
    rng = np.random.default_rng(seed)
    return rng.normal(1.5, 1.0, n_labeled), rng.normal(size=n_unlabeled)


def many_scores(shape, tail, rng):
    """500 labeled scores near one tail of 20,000 unlabeled ones of a given shape."""
    unlabeled = {
        "normal": lambda: rng.normal(size=20_000),
        "heavy-tailed": lambda: rng.standard_t(1.5, size=20_000),
        "uniform": lambda: rng.uniform(size=20_000),
        "tail copy": lambda: rng.exponential(size=20_000),
        "bimodal": lambda: np.append(
            rng.normal(size=18_000), rng.normal(7, 0.5, size=2_000)
        ),
    }[shape]()
    ordered = np.sort(unlabeled)
    if shape == "tail copy":
        return (ordered[-500:] if tail == "upper" else ordered[:500]), unlabeled
    near = ordered[-1_500:] if tail == "upper" else ordered[:15_000]
    return rng.choice(near, 500) + rng.normal(0, 0.3, size=500), unlabeled


@given(labeled=scores_of(8), unlabeled=scores_of(16), tail=tails)
@examples(100)
def test_no_cut_is_nearer_than_the_matched_one(labeled, unlabeled, tail):
    tail_scores = unlabeled[matched(labeled, unlabeled, tail)]
    found = wasserstein_distance(labeled, tail_scores)
    best = naive_distance(labeled, unlabeled, tail)
    assert found == pytest.approx(best, rel=1e-9, abs=1e-9)


@given(labeled=scores_of(8), unlabeled=scores_of(16))
@examples(100)
def test_distances_of_all_tails_are_those_of_scipy(labeled, unlabeled):
    matcher, sizes = sorted_matcher(labeled, unlabeled)
    highest = np.sort(unlabeled)[::-1]
    expected = [wasserstein_distance(labeled, highest[:size]) for size in sizes]
    np.testing.assert_allclose(matcher.distances(sizes), expected, rtol=1e-9, atol=1e-9)


@given(labeled=scores_of(8), unlabeled=scores_of(16), tail=tails)
@examples(100)
def test_the_threshold_is_finite_and_cuts_off_the_matched_tail_which_is_never_empty(
    labeled, unlabeled, tail
):
    threshold = match_threshold(labeled, unlabeled, tail=tail)
    size = tail_size(labeled, unlabeled, tail=tail)
    assert np.isfinite(threshold)
    assert 1 <= size == beyond(unlabeled, threshold, tail).sum()


@given(
    labeled=scores_of(8),
    unlabeled=scores_of(24),
    tolerance=st.sampled_from([0.0, 1e-3, 0.1, 1.0]),
)
@examples(100)
def test_the_search_keeps_within_its_tolerance_of_the_exhaustive_distance(
    labeled, unlabeled, tolerance
):
    matcher, sizes = sorted_matcher(labeled, unlabeled)
    distance, size = matcher.search(sizes, tolerance)
    distances = matcher.distances(sizes)
    assert distance == distances[sizes == size][0]
    assert distance <= distances.min() * (1 + tolerance) + 1e-12


@given(labeled=scores_of(8), unlabeled=scores_of(24), tail=tails)
@examples(100)
def test_a_threshold_that_was_searched_for_is_as_near_as_one_from_all_cuts(
    labeled, unlabeled, tail
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "EXHAUSTIVE_CELLS", 0)
        searched = matched(labeled, unlabeled, tail)
    distance = wasserstein_distance(labeled, unlabeled[searched])
    best = naive_distance(labeled, unlabeled, tail)
    assert distance <= best * (1 + SEARCH_TOLERANCE) + 1e-9


@pytest.mark.parametrize(
    ("shape", "tail"),
    [
        ("normal", "lower"),
        ("heavy-tailed", "upper"),
        ("uniform", "upper"),
        ("tail copy", "lower"),
        ("bimodal", "upper"),
    ],
)
def test_on_many_rows_the_matched_tail_is_within_a_percent_of_the_nearest(shape, tail):
    rng = np.random.default_rng(5)
    labeled, unlabeled = many_scores(shape, tail, rng)
    sign = 1 if tail == "upper" else -1
    matcher, sizes = sorted_matcher(sign * labeled, sign * unlabeled)
    distances = matcher.distances(sizes)
    highest = matcher.unlabeled[::-1]
    for at in [*rng.integers(len(sizes), size=3), 0, len(sizes) - 1]:
        expected = wasserstein_distance(matcher.labeled, highest[: sizes[at]])
        assert distances[at] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    found = wasserstein_distance(labeled, unlabeled[matched(labeled, unlabeled, tail)])
    assert found <= 1.01 * distances.min() + 1e-12


@pytest.mark.parametrize("tail", TAILS)
def test_labels_copied_from_a_tail_give_back_that_tail(tail):
    labeled, unlabeled = many_scores("tail copy", tail, np.random.default_rng(5))
    inside = matched(labeled, unlabeled, tail)
    np.testing.assert_array_equal(np.sort(unlabeled[inside]), labeled)


@given(
    seed=seeds,
    shift=st.floats(-1e6, 1e6),
    scale=st.sampled_from([1e-6, 0.3, 1.0, 1e6]),
    tail=tails,
)
@examples(100)
def test_the_tail_stays_the_nearest_when_all_scores_are_shifted_and_scaled(
    seed, shift, scale, tail
):
    labeled, unlabeled = normal_scores(seed)
    # Of tails that tie, rounding may take another; its distance is the same.
    moved = [scale * (scores + shift) for scores in (labeled, unlabeled)]
    found, found_moved = (
        wasserstein_distance(labeled, unlabeled[inside])
        for inside in (matched(labeled, unlabeled, tail), matched(*moved, tail))
    )
    assert found_moved == pytest.approx(found, rel=1e-7)


@given(seed=seeds, shift=st.floats(-1e6, 1e6), scale=st.floats(1e-6, 1e6), tail=tails)
@examples(50)
def test_a_tail_threshold_follows_shift_and_scale(seed, shift, scale, tail):
    scores = normal_scores(seed)[1]
    moved = tail_threshold(scale * (scores + shift), 7, tail=tail)
    still = tail_threshold(scores, 7, tail=tail)
    assert moved / scale - shift == pytest.approx(still, abs=1e-8)


@given(labeled=scores_of(8), unlabeled=scores_of(16), seed=seeds, tail=tails)
@examples(50)
def test_the_threshold_does_not_depend_on_the_order_of_the_scores(
    labeled, unlabeled, seed, tail
):
    rng = np.random.default_rng(seed)
    ordered = match_threshold(labeled, unlabeled, tail=tail)
    shuffled = rng.permutation(labeled), rng.permutation(unlabeled)
    assert match_threshold(*shuffled, tail=tail) == ordered


@given(labeled=scores_of(8), unlabeled=scores_of(16))
@examples(50)
def test_the_upper_tail_of_negated_scores_is_the_negated_lower_tail(labeled, unlabeled):
    lower = match_threshold(labeled, unlabeled, tail="lower")
    assert match_threshold(-labeled, -unlabeled, tail="upper") == -lower


@pytest.mark.parametrize(("tail", "expected"), [("upper", 1.0), ("lower", 1.0)])
def test_of_equally_distant_tails_the_smallest_is_taken(tail, expected):
    assert match_threshold([1.0], [0.0, 2.0], tail=tail) == expected
    assert tail_size([1.0], [0.0, 2.0], tail=tail) == 1


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("unlabeled", [[3.0], [3.0, 3.0, 3.0], [0.0, 0.0], [-1e300]])
def test_unlabeled_scores_that_are_all_equal_lie_in_the_tail_together(unlabeled, tail):
    unlabeled = np.array(unlabeled)
    threshold = match_threshold([-7.0, 9.0], unlabeled, tail=tail)
    assert np.isfinite(threshold)
    assert beyond(unlabeled, threshold, tail).all()


@pytest.mark.parametrize("tail", TAILS)
def test_a_far_outlier_does_not_blur_the_match_of_the_other_scores(tail):
    labeled, unlabeled = normal_scores(3, n_unlabeled=200)
    unlabeled = np.append(unlabeled, -1e12 if tail == "upper" else 1e12)
    labeled = labeled if tail == "upper" else -labeled
    found = wasserstein_distance(labeled, unlabeled[matched(labeled, unlabeled, tail)])
    assert found == pytest.approx(naive_distance(labeled, unlabeled, tail), rel=1e-6)


@given(low=st.floats(-1e300, 1e300), tail=tails)
@examples(100)
def test_adjacent_floats_are_still_separated(low, tail):
    pair = np.array([low, np.nextafter(low, np.inf)])
    threshold = tail_threshold(pair, 1, tail=tail)
    expected = [False, True] if tail == "upper" else [True, False]
    assert beyond(pair, threshold, tail).tolist() == expected


@given(scores=scores_of(20), tail=tails, data=st.data())
@examples(100)
def test_a_tail_threshold_cuts_off_as_many_distinct_scores_as_asked(scores, tail, data):
    distinct = np.unique(scores)
    size = data.draw(st.integers(1, len(distinct)))
    inside = beyond(distinct, tail_threshold(distinct, size, tail=tail), tail)
    extreme = distinct[-size:] if tail == "upper" else distinct[:size]
    np.testing.assert_array_equal(distinct[inside], extreme)


@pytest.mark.parametrize("tail", TAILS)
def test_tied_scores_are_not_parted_by_a_tail_threshold(tail):
    scores = np.array([0.0, 0.0, 1.0, 2.0, 2.0])
    for size in range(1, 6):
        inside = beyond(scores, tail_threshold(scores, size, tail=tail), tail)
        assert 0 < inside.sum() <= max(size, 2)
        assert inside[0] == inside[1]
        assert inside[3] == inside[4]


@pytest.mark.parametrize("size", [0, -1, 4])
def test_a_tail_larger_than_the_scores_or_empty_is_refused(size):
    with pytest.raises(InputError, match=rf"a tail holds 1 to 3 scores; got size={size}"):
        tail_threshold([1.0, 2.0, 3.0], size, tail="upper")


@given(scores=scores_of(20))
@examples(100)
def test_no_split_has_less_variance_within_classes_than_otsus(scores):
    found = within_class_variance(scores, scores > otsu_threshold(scores))
    assert found == pytest.approx(naive_otsu(scores), rel=1e-9, abs=1e-9)


@given(scores=scores_of(20))
@examples(100)
def test_otsus_threshold_leaves_scores_on_both_sides_unless_all_are_equal(scores):
    threshold = otsu_threshold(scores)
    assert scores.min() <= threshold
    if len(np.unique(scores)) > 1:
        assert threshold < scores.max()
    else:
        assert threshold == scores[0]


@given(seed=seeds, shift=st.floats(-1e6, 1e6), scale=st.floats(1e-3, 1e3))
@examples(50)
def test_otsus_threshold_follows_shift_and_scale(seed, shift, scale):
    scores = normal_scores(seed)[1]
    moved = otsu_threshold(scale * scores + shift)
    expected = scale * otsu_threshold(scores) + shift
    assert moved == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1.0, np.nan], "must be finite scores"),
        ([1.0, np.inf], "must be finite scores"),
        ([-np.inf], "must be finite scores"),
        ([], r"non-empty vector of scores; got shape \(0,\)"),
        ([[1.0, 2.0]], r"non-empty vector of scores; got shape \(1, 2\)"),
        (3.0, r"non-empty vector of scores; got shape \(\)"),
    ],
)
def test_scores_that_are_not_a_finite_vector_are_refused_by_name(bad, message):
    good = [0.0, 1.0]
    with pytest.raises(InputError, match=f"^unlabeled.*{message}"):
        match_threshold(good, bad, tail="upper")
    with pytest.raises(InputError, match=f"^labeled.*{message}"):
        match_threshold(bad, good, tail="lower")
    with pytest.raises(InputError, match=f"^labeled.*{message}"):
        tail_size(bad, good, tail="upper")
    with pytest.raises(InputError, match=f"^scores.*{message}"):
        tail_threshold(bad, 1, tail="upper")
    with pytest.raises(InputError, match=f"^scores.*{message}"):
        otsu_threshold(bad)


@pytest.mark.parametrize("function", [match_threshold, tail_size])
def test_an_unknown_tail_is_refused(function):
    with pytest.raises(InputError, match="'upper' or 'lower'; got 'left'"):
        function([1.0], [1.0], tail="left")
    with pytest.raises(InputError, match="'upper' or 'lower'; got 'left'"):
        tail_threshold([1.0], 1, tail="left")


def test_scores_are_left_as_they_were():
    labeled, unlabeled = np.array([3.0, 1.0]), np.array([2.0, 0.0, 5.0])
    match_threshold(labeled, unlabeled, tail="lower")
    otsu_threshold(unlabeled)
    assert labeled.tolist() == [3.0, 1.0]
    assert unlabeled.tolist() == [2.0, 0.0, 5.0]


def test_a_tie_that_is_larger_than_the_tail_is_kept_whole():
    scores = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 2.0])
    assert (scores < tail_threshold(scores, 1, tail="lower")).sum() == 3
    assert (scores > tail_threshold(scores, 1, tail="upper")).sum() == 2
    assert (scores > tail_threshold(scores, 3, tail="upper")).sum() == 3


def unlabeled_beside(anomalies, normals):
    """Scores of 500 unlabeled rows beside those of labeled ones, and the labels."""
    scores = np.r_[np.random.default_rng(0).normal(size=500), anomalies, normals]
    counts = [500, len(anomalies), len(normals)]
    return scores, np.repeat(np.array([-1, 1, 0], dtype=np.int8), counts)


def test_labeled_anomalies_alone_are_matched_to_the_unlabeled_rows():
    anomalies = np.linspace(1, 3, 20)
    scores, labels = unlabeled_beside(anomalies, [])
    expected = match_threshold(anomalies, scores[:500], tail="upper")
    assert decide_threshold(scores, labels) == expected


@pytest.mark.parametrize("n_unlabeled", [500, 0])
def test_labels_of_both_classes_make_the_middle_of_three_guesses(n_unlabeled):
    anomalies, normals = np.linspace(1, 4, 20), np.linspace(-2, 1, 60)
    scores, labels = (
        each[500 - n_unlabeled :] for each in unlabeled_beside(anomalies, normals)
    )
    reference = scores[:500] if n_unlabeled else scores
    above = matched(anomalies, reference, "upper").sum()
    not_normal = (~matched(normals, reference, "lower")).sum()
    middle = np.median([above, not_normal, len(reference) * 20 / 80])
    called = reference > decide_threshold(scores, labels)
    assert called.sum() == pytest.approx(middle, abs=1)


def test_labeled_normals_alone_put_the_threshold_where_few_of_them_lie_above():
    normals = np.linspace(-1, 1, 200)
    scores, labels = unlabeled_beside([], normals)
    called = normals > decide_threshold(scores, labels)
    assert called.mean() == pytest.approx(FALSE_ALARMS, abs=1 / 200)


def test_rows_that_tie_at_the_top_are_called_together():
    scores = np.r_[
        np.full(48, 3.0), np.linspace(0, 1, 152), np.full(5, 3.0), np.zeros(20)
    ]
    labels = np.repeat(np.array([-1, 1, 0], dtype=np.int8), [200, 5, 20])
    assert (scores[:200] > decide_threshold(scores, labels)).sum() == 48


def test_a_half_of_anomalies_among_labels_does_not_call_half_of_the_rows():
    rng = np.random.default_rng(0)
    scores = np.r_[rng.normal(size=1_000), rng.normal(4, 1, 10), rng.normal(-2, 1, 10)]
    labels = np.repeat(np.array([-1, 1, 0], dtype=np.int8), [1_000, 10, 10])
    called = (scores[:1_000] > decide_threshold(scores, labels)).mean()
    few = np.append(labels, np.zeros(20, np.int8))  # now a quarter: that is believed
    believed = decide_threshold(np.append(scores, rng.normal(-2, 1, 20)), few)
    assert called == pytest.approx(0.1, abs=0.01)
    assert (scores[:1_000] > believed).mean() == pytest.approx(0.25, abs=0.01)


def test_no_more_than_a_third_is_called_by_labeled_anomalies_alone():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=1_050)
    labels = np.repeat(np.array([-1, 1], dtype=np.int8), [1_000, 50])
    assert (scores[:1_000] > decide_threshold(scores, labels)).sum() == 333


def test_where_all_rows_are_labeled_any_share_of_anomalies_is_believed():
    scores = np.arange(100.0)
    labels = (scores >= 40).astype(np.int8)
    assert (scores > decide_threshold(scores, labels)).sum() == 60


def test_labels_count_in_the_share_of_anomalies_although_they_are_not_scored():
    scores = np.r_[np.linspace(0, 1, 200), np.full(20, 0.5), np.full(80, 0.4)]
    labels = np.repeat(np.array([-1, 1, 0], dtype=np.int8), [200, 20, 80])
    scores[-60:] = np.nan  # 20 of 100 labels are of anomalies, of those scored a half
    every = np.where(np.isnan(scores), 0.4, scores)
    above, expected = (
        (scores[:200] > decide_threshold(each, labels)).sum() for each in (scores, every)
    )
    assert above == expected
