"""Rows for trees, and the visible state of a tree."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import silverbirch as sb


def random_rows(count=300, dimensions=2, seed=0):
    return np.random.default_rng(seed).normal(size=(count, dimensions))


def gaussian_clusters(count=300, dimensions=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-50, 50, size=(10, dimensions))[rng.integers(0, 10, count)] + rng.normal(
        size=(count, dimensions)
    )


def grid_rows(count=400, dimensions=2, seed=0, step=2.0**-16):
    """Rows of multiples of a power of two: moving them by 1e8 is exact."""
    return np.round(gaussian_clusters(count, dimensions, seed) / step) * step


def assert_same_bits(a, b):
    assert [x.tobytes() for x in a.arrays()] == [x.tobytes() for x in b.arrays()]


def snapshot(tree):
    """The visible state of a tree."""
    features = [a.tobytes() for a in tree.features.arrays()] if len(tree) else None
    return features, tree.n_points, tree.threshold, tree.n_rebuilds, len(tree), repr(tree)


def moments(X, weight=None):
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    total = math.fsum(weight)
    mean = np.array([math.fsum(weight * column) / total for column in X.T])
    return total, mean, math.fsum((weight[:, None] * (X - mean) ** 2).ravel())


def assert_holds(features, X, weight=None):
    """The features have the weight (exactly), mean and sse of the rows."""
    total, mean, sse = moments(X, weight)
    scale = float(np.abs(X).max())
    assert features.weight.sum() == total
    assert (features.weight > 0).all()
    assert (features.sse >= 0).all()
    summed = features.total()
    np.testing.assert_allclose(summed.mean[0], mean, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(summed.sse[0], sse, rtol=1e-9, atol=1e-20 * total * scale**2)


def run_python(code):
    environment = os.environ | {"PYTHONPATH": str(Path(sb.__file__).parents[1])}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
