"""Statistics of columns are those of exact fractions, however the rows are divided."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from silverbirch.pipeline import exact_sums
from silverbirch.pipeline.statistics import ColumnStatistics

UNIT = Fraction(2) ** exact_sums.SMALLEST
finite = st.floats(-1e100, 1e100)
tables = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.one_of(st.just(np.nan), finite)
)
some_weights = st.lists(st.one_of(st.integers(0, 5).map(float), st.floats(1e-80, 1e80)), min_size=12, max_size=12).map(
    np.array
)


def exact(X, weight):
    """For each column: weight, sum and sum of squares, as fractions."""
    of_rows = [Fraction(float(w)) for w in weight]
    for column in X.T:
        pairs = [(w, Fraction(float(x))) for w, x in zip(of_rows, column, strict=True) if not math.isnan(x)]
        yield sum(w for w, _ in pairs), sum(w * x for w, x in pairs), sum(w * x * x for w, x in pairs)


def assert_same(found, expected):
    assert (found.weight, found.sums) == (expected.weight, expected.sums)
    for name in ("least", "most", "mean", "deviation", "values"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), strict=True)


def is_nearest(found, is_below):
    """Whether no other float64 is nearer; `is_below(x)` says whether the fraction x is below the true value."""
    half_below = (Fraction(found) + Fraction(math.nextafter(found, -math.inf))) / 2
    half_above = (Fraction(found) + Fraction(math.nextafter(found, math.inf))) / 2
    return (is_below(half_below) or half_below < 0) and not is_below(half_above)


@settings(deadline=None, max_examples=30)
@given(tables, some_weights)
def test_sums_are_exact(X, weight):
    for given_weight in (None, weight[: len(X)]):
        found = exact_sums.exact_sums(X, given_weight)
        expected = exact(X, np.ones(len(X)) if given_weight is None else given_weight)
        for own, wanted in zip(zip(*found, strict=True), expected, strict=True):
            assert tuple(number * UNIT**power for power, number in enumerate(own, start=1)) == wanted


def test_sums_of_many_rows_of_wide_range_are_exact():
    random = np.random.default_rng(0)
    X = random.normal(size=(34_000, 2)) * 10.0 ** random.integers(-320, 100, size=(34_000, 2))
    X[::9, 1] = np.nan
    X[:, 0] = np.round(X[:, 0])
    found = exact_sums.exact_sums(X)
    for own, wanted in zip(zip(*found, strict=True), exact(X, np.ones(len(X))), strict=True):
        assert tuple(number * UNIT**power for power, number in enumerate(own, start=1)) == wanted


@settings(deadline=None, max_examples=30)
@given(tables, some_weights)
def test_means_and_deviations_are_correctly_rounded(X, weight):
    found = ColumnStatistics.of(X, weight[: len(X)])
    every = sum(Fraction(float(w)) for w in weight[: len(X)])
    for number, (own, total, squares) in enumerate(exact(X, weight[: len(X)])):
        if own == 0:
            assert found.mean[number] == found.deviation[number] == 0
            continue
        assert found.mean[number] == float(total / own)
        variance = (squares - total**2 / own) / every
        assert variance >= 0
        deviation = float(found.deviation[number])
        assert is_nearest(deviation, lambda x, variance=variance: x < 0 or x * x <= variance)


@settings(deadline=None, max_examples=20)
@given(tables, some_weights, st.lists(st.integers(0, 12), max_size=4))
def test_statistics_of_parts_join_to_those_of_the_whole(X, weight, cuts):
    weight = weight[: len(X)]
    parts = np.split(np.arange(len(X)), sorted(min(cut, len(X)) for cut in cuts))
    joined = None
    for part in parts:
        found = ColumnStatistics.of(X[part], weight[part])
        joined = found if joined is None else found.joined_with(joined)
    assert_same(joined, ColumnStatistics.of(X, weight))


@settings(deadline=None, max_examples=20)
@given(tables)
def test_a_weight_of_two_is_the_row_twice_and_a_weight_of_zero_no_row(X):
    weight = np.arange(len(X)) % 3
    assert_same(ColumnStatistics.of(X, weight.astype(float)), ColumnStatistics.of(np.repeat(X, weight, axis=0)))


@settings(deadline=None, max_examples=20)
@given(tables, some_weights)
def test_stored_statistics_are_the_same(X, weight):
    statistics = ColumnStatistics.of(X, weight[: len(X)])
    assert_same(ColumnStatistics.from_state(statistics.to_state()), statistics)


def test_extremes_are_numpys_and_float32_is_exact():
    X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    X[3, 1] = np.nan
    found = ColumnStatistics.of(X)
    np.testing.assert_array_equal(found.least, np.nanmin(X, axis=0))
    np.testing.assert_array_equal(found.most, np.nanmax(X, axis=0))
    assert found.values.tolist() == [100, 99, 100]
    assert_same(found, ColumnStatistics.of(X.astype(np.float64)))


def test_the_sign_of_zero_does_not_depend_on_the_order_of_parts():
    parts = [ColumnStatistics.of(np.array([[zero]])) for zero in (0.0, -0.0)]
    extremes = [a.joined_with(b).to_state() for a, b in (parts, parts[::-1])]
    assert not any(np.signbit(found[name]).any() for found in extremes for name in ("least", "most"))


def test_statistics_do_not_suffer_from_a_far_origin():
    X = np.round(np.random.default_rng(0).normal(size=(5000, 2)) * 2**20) / 2**20
    near, far = ColumnStatistics.of(X), ColumnStatistics.of(X + 2.0**30)
    np.testing.assert_array_equal(far.deviation, near.deviation)


def test_a_column_without_values_is_named():
    X = np.ones((10, 4))
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match="column 'b' has no value"):
        ColumnStatistics.of(X).checked(("a", "b", "c", "d"))
    with pytest.raises(ValueError, match="no row is left"):
        ColumnStatistics.of(X[:0]).checked(None)


def changed(arrays, name, place, value):
    array = arrays[name].copy()
    array[place] = value
    return arrays | {name: array}


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays: {name: array for name, array in arrays.items() if name != "squares"},
        lambda arrays: {name: array for name, array in arrays.items() if name != "weight"},
        lambda arrays: arrays | {"least": arrays["least"][:1]},
        lambda arrays: arrays | {"sums": arrays["sums"][:1]},
        lambda arrays: arrays | {"sums": arrays["sums"].astype(np.float64)},
        lambda arrays: arrays | {"sums": np.zeros((2, 5000), np.uint8)},
        lambda arrays: arrays | {"weight": np.zeros((1, 1), np.uint8)},
        lambda arrays: changed(arrays, "weights", (0, -1), 255),
        lambda arrays: changed(arrays, "squares", (0, -1), 255),
        lambda arrays: changed(arrays, "sums", (0, -1), 127),
        lambda arrays: changed(arrays, "least", 0, np.nan),
        lambda arrays: changed(arrays, "least", 0, -1e200),
        lambda arrays: changed(arrays, "least", 0, 10.0),
        lambda arrays: changed(arrays, "most", 0, np.inf),
        lambda arrays: changed(arrays, "most", 0, -10.0),
        lambda arrays: {name: array[:0] for name, array in arrays.items()},
    ],
)
def test_sums_that_no_rows_have_are_refused(damage):
    arrays = ColumnStatistics.of(np.random.default_rng(0).normal(size=(50, 2))).to_state()
    with pytest.raises((ValueError, KeyError)):
        ColumnStatistics.from_state(damage(arrays))
