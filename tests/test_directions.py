"""Unit rows: half their squared distance is the cosine or correlation distance, at every scale and precision."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist

from silverbirch.directions import METRICS, directions

ROWS = arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.floats(-9, 9).map(np.float32))


@given(ROWS)
def test_every_row_has_unit_length_or_is_reported(rows):
    for metric in METRICS[1:]:
        unit, without = directions(rows, metric)
        np.testing.assert_allclose((unit**2).sum(axis=1), ~without, atol=1e-15)
        assert (unit[without] == 0).all()
        if metric == "correlation":
            np.testing.assert_allclose(unit.sum(axis=1), 0, atol=1e-15)


@pytest.mark.parametrize("metric", METRICS[1:])
def test_half_the_squared_distance_is_scipys(metric):
    rows = np.random.default_rng(0).normal(1, 1, (60, 12))
    rows[1], rows[2] = rows[0] * 3, rows[0] + 1e-7
    unit, without = directions(rows, metric)
    assert not without.any()
    np.testing.assert_allclose(pdist(unit, "sqeuclidean") / 2, pdist(rows, metric), rtol=0, atol=1e-15)


def test_rows_without_a_direction():
    rows = np.array([[0.0, 0.0, 0.0], [0.1, 0.1, 0.1], [1.0, 2.0, 3.0]])
    assert directions(rows, "cosine")[1].tolist() == [True, False, False]
    assert directions(rows, "correlation")[1].tolist() == [True, True, False]
    assert directions(rows[:, :1], "correlation")[1].all()  # one column is constant


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 2.0**-500, 1e150, 1e300])
@pytest.mark.parametrize("metric", METRICS[1:])
def test_neither_large_nor_small_rows_lose_their_direction(scale, metric):
    rows = np.array([[3.0, 4.0, 0.0], [-1.0, 2.0, 7.0]])
    unit, without = directions(rows * scale, metric)
    assert not without.any()
    np.testing.assert_allclose(unit, directions(rows, metric)[0], rtol=1e-3 if scale == 1e-320 else 1e-15, atol=1e-15)


@pytest.mark.parametrize("metric", METRICS)
def test_float32_rows_stay_float32_and_are_computed_in_float64(metric):
    rows = np.random.default_rng(1).normal(1e3, 1, (50, 20)).astype(np.float32)
    unit, _ = directions(rows, metric)
    assert unit.dtype == np.float32
    np.testing.assert_array_equal(unit, directions(rows.astype(np.float64), metric)[0].astype(np.float32))


def test_the_correlation_direction_of_rows_with_a_large_offset():
    noise = np.random.default_rng(2).integers(-1000, 1000, (20, 50)).astype(np.float64)
    exact = [[50 * value - sum(row) for value in row] for row in noise.astype(int).tolist()]
    exact = [[value / math.sqrt(sum(v * v for v in row)) for value in row] for row in exact]
    np.testing.assert_allclose(directions(noise + 2.0**52, "correlation")[0], exact, rtol=0, atol=1e-14)


def test_euclidean_rows_are_returned_as_they_are():
    rows = np.zeros((3, 2))
    unit, without = directions(rows, "euclidean")
    assert unit is rows
    assert not without.any()


def test_blocks_do_not_change_the_result():
    rows = np.random.default_rng(3).normal(size=(3000, 200))
    unit, _ = directions(rows, "correlation")
    np.testing.assert_array_equal(unit[2500:], directions(rows[2500:].copy(), "correlation")[0])
