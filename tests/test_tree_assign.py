"""`assign` finds the exactly nearest leaf of each row, by every search path."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from trees import random_rows

quick = settings(deadline=None, max_examples=50)


def brute_force_nearest(X, means):
    """The lowest of the nearest leaves; each squared distance is summed in the order of the columns."""
    squared = np.zeros((len(X), len(means)))
    for k in range(X.shape[1]):
        squared += (X[:, k, None] - means[None, :, k]) ** 2
    return squared.argmin(axis=1)


@pytest.mark.parametrize("dimensions", [1, 2, 5, 30])
@pytest.mark.parametrize("leaves", [1, 7, 8, 9, 64, 65, 513, 3000])
def test_assign_finds_the_exactly_nearest_leaf(leaves, dimensions):
    tree = sb.CFTree().insert(random_rows(leaves, dimensions))
    assert len(tree) == leaves
    means = tree.features.mean
    queries = np.vstack([random_rows(200, dimensions, seed=1), 1e3 * random_rows(20, dimensions, seed=2), means[:50]])
    assigned = tree.assign(queries)
    assert assigned.dtype == np.int64
    np.testing.assert_array_equal(assigned, brute_force_nearest(queries, means))
    np.testing.assert_array_equal(assigned[220:], np.arange(len(means[:50])))


@pytest.mark.parametrize("dimensions", [1, 2, 5])
@pytest.mark.parametrize("leaves", [9, 64, 513])
def test_assign_takes_the_lowest_of_equally_near_leaves(leaves, dimensions):
    rng = np.random.default_rng(0)
    means = rng.integers(0, 4, size=(leaves, dimensions)).astype(float)
    tree = sb.CFTree(branching=5).insert(sb.ClusterFeatures(np.ones(leaves), means, np.ones(leaves)))
    assert len(tree) == leaves  # a spread of its own keeps every feature apart at threshold 0
    tree.insert(sb.ClusterFeatures([1], tree.features.mean[-1:], [1]))
    assert len(np.unique(tree.features.mean, axis=0)) <= leaves < len(tree)
    queries = rng.integers(-2, 12, size=(300, dimensions)) / 2
    np.testing.assert_array_equal(tree.assign(queries), brute_force_nearest(queries, tree.features.mean))


@quick
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=80), st.lists(st.integers(-12, 12), min_size=2, max_size=20))
def test_assign_equals_brute_force_on_ties(places, queries):
    means, queries = np.array(places, dtype=float)[:, None], np.array(queries)[:, None] / 2
    tree = sb.CFTree(branching=3).insert(sb.ClusterFeatures(np.ones(len(means)), means, np.ones(len(means))))
    np.testing.assert_array_equal(tree.assign(queries), brute_force_nearest(queries, tree.features.mean))


@pytest.mark.parametrize("far", [1e8, 1e99])
def test_assign_of_far_rows_finds_a_leaf(far):
    tree = sb.CFTree().insert(random_rows(100, 3))
    queries = far * np.array([[1.0, 0, 0], [0, -1, 0], [1, 1, 1]])
    np.testing.assert_array_equal(tree.assign(queries), brute_force_nearest(queries, tree.features.mean))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_assign_does_not_depend_on_threads(dtype):
    tree = sb.CFTree(max_leaves=500).insert(random_rows(5000, 4))
    queries = random_rows(5000, 4, seed=1).astype(dtype)
    expected = brute_force_nearest(queries.astype(np.float64), tree.features.mean)
    for n_jobs in (None, 1, 2, -1, 7):
        np.testing.assert_array_equal(tree.assign(queries, n_jobs=n_jobs), expected)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5, 6])
def test_assign_of_many_rows_finds_the_exactly_nearest_leaf(dimensions, offset):
    """Enough rows that cell lists are built: in one call, and in several calls of which the last ones use them."""
    tree = sb.CFTree().insert(offset + random_rows(300, dimensions))
    rows = np.vstack([random_rows(10_000, dimensions, seed=1), 1e3 * random_rows(50, dimensions, seed=2)]) + offset
    rows[::50] = tree.features.mean[np.arange(len(rows[::50])) % 300]
    rows[1::50] = np.round(rows[1::50], 1)
    expected = brute_force_nearest(rows, tree.features.mean)
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(tree.assign(rows, n_jobs=n_jobs), expected)
    narrow = rows.astype(np.float32)
    np.testing.assert_array_equal(tree.assign(narrow), brute_force_nearest(narrow.astype(float), tree.features.mean))
    in_parts = sb.CFTree().insert(offset + random_rows(300, dimensions))
    parts = [in_parts.assign(part) for part in np.array_split(rows, 7)]
    np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_assign_of_many_rows_to_duplicate_leaves_takes_the_lowest():
    means = np.random.default_rng(0).integers(0, 12, size=(400, 2)).astype(float)
    tree = sb.CFTree().insert(sb.ClusterFeatures(np.ones(400), means, np.ones(400)))
    assert len(np.unique(tree.features.mean, axis=0)) < len(tree) == 400
    rows = np.random.default_rng(1).integers(-4, 28, size=(20_000, 2)) / 2
    np.testing.assert_array_equal(tree.assign(rows), brute_force_nearest(rows, tree.features.mean))


def test_assign_may_be_called_by_several_threads_while_lists_are_made():
    tree = sb.CFTree().insert(random_rows(3000, 2))
    rows = random_rows(20_000, 2, seed=1)
    expected = brute_force_nearest(rows, tree.features.mean)
    with ThreadPoolExecutor(4) as pool:
        for assigned in pool.map(lambda _: tree.assign(rows), range(24)):  # the fifth call makes the lists
            np.testing.assert_array_equal(assigned, expected)


def test_assign_follows_the_tree_as_it_grows():
    tree = sb.CFTree().insert([[0.0], [1.0]])
    assert tree.features.mean[tree.assign([[9.0]])] == 1.0
    tree.insert([[8.0]])
    assert tree.features.mean[tree.assign([[9.0]])] == 8.0
