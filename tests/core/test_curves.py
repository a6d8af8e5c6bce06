"""Values are found among numbers, and lines drawn, exactly as numpy does it."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from properties import examples
from spadework.core.curves import Curve, Cuts

TYPES = [np.float32, np.float64]


def numbers(kind, *, unique=False):
    """Numbers of all sizes, many of them close together or the same."""
    width = np.finfo(kind).bits
    return hnp.arrays(
        kind,
        st.integers(1, 60),
        elements=st.one_of(
            st.integers(-3, 3).map(float),
            st.integers(0, 40).map(lambda i: 1000 + i / 8),
            st.floats(-1e3, 1e3, width=width),
            st.floats(allow_nan=False, allow_infinity=False, width=width),
        ),
        unique=unique,
    )


def around(points):
    """Return the points, and the numbers next to each of them."""
    with np.errstate(over="ignore"):
        sides = [np.nextafter(points, points.dtype.type(to)) for to in (-np.inf, np.inf)]
    values = np.concatenate([points, *sides, np.zeros(1, dtype=points.dtype)])
    return values[np.isfinite(values)]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", TYPES)
@given(data=st.data())
@examples(50)
def test_values_are_counted_as_by_searchsorted(kind, side, data):
    cuts = np.sort(data.draw(numbers(kind)))
    values = np.concatenate([around(cuts), data.draw(numbers(kind))])
    expected = np.searchsorted(cuts, values, side=side)
    np.testing.assert_array_equal(Cuts(cuts).count(values, side=side), expected)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    "cuts",
    [
        np.random.default_rng(0).normal(size=300),
        np.random.default_rng(0).standard_cauchy(size=300),
        np.append(np.arange(500) * 1e-6, 1e6),
        [-np.inf, 0.0, np.inf],
        [0.0, -0.0],
        [5e-324, 1e-320],
        [-3e38, 3e38],
    ],
)
def test_numbers_of_any_spread_are_told_apart(kind, cuts):
    cuts = np.sort(np.asarray(cuts).astype(kind))
    spread = np.random.default_rng(1).standard_cauchy(size=5_000).astype(kind)
    values = np.concatenate([spread, around(cuts)])
    np.testing.assert_array_equal(Cuts(cuts).count(values), np.searchsorted(cuts, values))


@given(x=numbers(np.float64, unique=True), data=st.data())
@example(x=np.array([5e-324, 1e-323]), data=None)
@examples(80)
def test_lines_are_drawn_as_by_interp(x, data):
    x = np.sort(x + 0.0)
    y = np.sort(np.random.default_rng(len(x)).normal(size=len(x)))
    more = data.draw(numbers(np.float64)) if data else np.zeros(1)
    values = np.concatenate([around(x), more])
    expected, found = np.interp(values, x, y), Curve(x, y)(values)
    with np.errstate(over="ignore"):
        steep = ~np.isfinite(np.diff(y) / np.diff(x)).all()
    if not steep:
        np.testing.assert_array_max_ulp(found, expected, maxulp=1)
    assert np.isfinite(found).all()


def test_float32_values_are_drawn_as_the_float64_numbers_they_are():
    rng = np.random.default_rng(0)
    curve = Curve(np.sort(rng.normal(size=257)), np.sort(rng.normal(size=257)))
    values = rng.normal(size=1_000).astype(np.float32)
    expected = np.interp(values.astype(np.float64), curve.x, curve.y)
    np.testing.assert_array_max_ulp(curve(values), expected, maxulp=1)


def test_values_are_left_as_they_were():
    curve = Curve(np.array([0.0, 1.0]), np.array([0.0, 5.0]))
    values = np.array([-1.0, 0.5, 2.0])
    assert curve(values).tolist() == [0.0, 2.5, 5.0]
    assert values.tolist() == [-1.0, 0.5, 2.0]
