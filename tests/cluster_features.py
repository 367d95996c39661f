"""Cluster features for the tests, and their exact values."""

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

import silverbirch as sb

ROUNDING = 16 * np.finfo(float).eps
FAR = 1e8  # added to multiples of 1/16 it loses no bit
quick = settings(deadline=None, max_examples=50)


def coordinates(largest=1e6):
    return st.floats(-largest, largest, allow_subnormal=False)


def grid_points(least=1, most=8, dimensions=2):
    """Multiples of 1/16, so that moving them by FAR is exact."""
    row = st.tuples(*[st.integers(-1024, 1024).map(lambda i: i / 16)] * dimensions)
    return st.lists(row, min_size=least, max_size=most).map(np.array)


@st.composite
def single_features(draw, dimensions=2):
    weight = draw(st.one_of(st.integers(1, 1000).map(float), st.floats(1e-3, 1e3)))
    mean = [draw(coordinates()) for _ in range(dimensions)]
    return sb.ClusterFeatures([weight], [mean], [draw(st.floats(0, 1e6, allow_subnormal=False))])


def features_of(points, counts=None):
    """The feature of the points, merged one after the other."""
    counts = np.ones(len(points)) if counts is None else counts
    rows = sb.ClusterFeatures(counts, points, np.zeros(len(points)))
    return reduce(sb.ClusterFeatures.merged_with, rows)


def exact(weights, means, sses):
    """Weight, mean and sse of the union, in rational numbers."""
    weights, sses = [Fraction(w) for w in weights], [Fraction(s) for s in sses]
    means = [[Fraction(x) for x in mean] for mean in means]
    total = sum(weights)
    mean = [sum(w * m[k] for w, m in zip(weights, means, strict=True)) / total for k in range(len(means[0]))]
    spread = sum(
        w * sum((x - c) ** 2 for x, c in zip(m, mean, strict=True)) for w, m in zip(weights, means, strict=True)
    )
    return total, mean, sum(sses) + spread


def assert_close_to_exact(features, expected, largest, sse_relative=ROUNDING):
    weight, mean, sse = expected
    assert len(features) == 1
    assert float(features.weight[0]) == pytest.approx(float(weight), rel=ROUNDING)
    for got, want in zip(features.mean[0], mean, strict=True):
        assert abs(Fraction(float(got)) - want) <= ROUNDING * largest
    assert abs(Fraction(float(features.sse[0])) - sse) <= sse_relative * sse + Fraction(1e-290)


def assert_same_bits(a, b):
    assert [x.tobytes() for x in a.arrays()] == [x.tobytes() for x in b.arrays()]


def example(count=6, dimensions=3, seed=0):
    rng = np.random.default_rng(seed)
    return sb.ClusterFeatures(
        rng.integers(1, 9, count).astype(float), rng.normal(size=(count, dimensions)), rng.uniform(0, 4, count)
    )
