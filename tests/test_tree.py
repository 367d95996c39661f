"""The CF-tree: what it conserves, what it bounds, and what it refuses."""

import copy
import itertools
import math
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import silverbirch as sb
from silverbirch.checks import CF_DISTANCES

quick = settings(deadline=None, max_examples=50)
BRANCHINGS = [2, 3, 7, 8, 31, 63]
LEAF_LIMITS = [1, 2, 5, 50]


def random_rows(count=300, dimensions=2, seed=0):
    return np.random.default_rng(seed).normal(size=(count, dimensions))


def gaussian_clusters(count=300, dimensions=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-50, 50, size=(10, dimensions))[rng.integers(0, 10, count)] + rng.normal(
        size=(count, dimensions)
    )


def grid_rows(count=400, dimensions=2, seed=0, step=2.0**-16):
    """Multiples of a power of two: moving them by 1e8 is exact."""
    return np.round(gaussian_clusters(count, dimensions, seed) / step) * step


DATA = {
    "random": random_rows(),
    "clusters": gaussian_clusters(),
    "sorted": np.sort(random_rows(), axis=0),
    "reversed": np.sort(random_rows(), axis=0)[::-1],
    "constant": np.full((300, 2), 0.1),
    "duplicates": random_rows(7)[np.random.default_rng(1).integers(0, 7, 300)],
    "far outlier": np.vstack([random_rows(150), [[1e100, -1e100]], random_rows(150, seed=1)]),
    "exponential": np.stack([2.0 ** np.arange(-150, 150), np.zeros(300)], axis=1),
    "grid with ties": np.array(list(itertools.product(range(17), range(17))), dtype=float),
    "alternating": np.tile([[0.0, 0.0], [3.0, 4.0]], (150, 1)),
    "collinear": np.arange(300.0)[:, None] * [1.0, 2.0],
}
each_data = pytest.mark.parametrize("X", DATA.values(), ids=DATA.keys())


def assert_same_bits(a, b):
    assert [x.tobytes() for x in a.arrays()] == [x.tobytes() for x in b.arrays()]


def snapshot(tree):
    """All that can be seen of a tree."""
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


def weight_by_mean(features):
    sums = defaultdict(float)
    for mean, weight in zip(features.mean.tolist(), features.weight, strict=True):
        sums[tuple(mean)] += weight
    return dict(sums)


# --- conservation, bounds, determinism


@each_data
@pytest.mark.parametrize("absorption", CF_DISTANCES)
@pytest.mark.parametrize("distance", CF_DISTANCES)
def test_leaves_hold_the_data_for_every_distance_and_absorption(distance, absorption, X):
    tree = sb.CFTree(max_leaves=20, distance=distance, absorption=absorption, branching=4).insert(X)
    assert 1 <= len(tree) == len(tree.features) <= 20
    assert tree.n_points == len(X)
    assert_holds(tree.features, X)


@each_data
@pytest.mark.parametrize("max_leaves", LEAF_LIMITS)
@pytest.mark.parametrize("branching", BRANCHINGS)
def test_leaves_hold_the_data_for_every_branching_and_limit(branching, max_leaves, X):
    tree = sb.CFTree(max_leaves=max_leaves, branching=branching).insert(X)
    assert 1 <= len(tree) <= max_leaves
    assert_holds(tree.features, X)


@st.composite
def rows_and_weights(draw):
    value = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.sampled_from([1e99, -1e99, 1e-140]))
    dimensions = draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(*[value] * dimensions), min_size=1, max_size=60))
    weights = draw(st.lists(st.integers(0, 5), min_size=len(rows), max_size=len(rows)))
    return np.array(rows), np.array([1, *weights[1:]], dtype=float)


@quick
@given(
    rows_and_weights(),
    st.sampled_from(CF_DISTANCES),
    st.sampled_from(CF_DISTANCES),
    st.sampled_from(BRANCHINGS),
    st.sampled_from([None, *LEAF_LIMITS]),
    st.sampled_from([0.0, 1e-3, 2.0]),
)
def test_any_weighted_rows_are_held(data, distance, absorption, branching, max_leaves, threshold):
    X, weight = data
    parameters = {"distance": distance, "absorption": absorption, "branching": branching, "max_leaves": max_leaves}
    tree = sb.CFTree(threshold, **parameters).insert(X, weight)
    assert len(tree) <= (max_leaves or len(X))
    assert tree.threshold >= threshold
    assert tree.n_points == weight.sum()
    assert_holds(tree.features, X[weight > 0], weight[weight > 0])
    assert_same_bits(tree.features, sb.CFTree(threshold, **parameters).insert(X, weight).features)


@each_data
@pytest.mark.parametrize("distance", CF_DISTANCES)
def test_the_same_rows_give_the_same_bits(distance, X):
    first, second = (sb.CFTree(max_leaves=30, distance=distance, branching=5).insert(X) for _ in range(2))
    assert snapshot(first) == snapshot(second)


@each_data
@pytest.mark.parametrize("size", [1, 7, 256])
def test_chunks_give_the_same_bits_as_the_whole(size, X):
    whole, chunked = (sb.CFTree(max_leaves=25, branching=4) for _ in range(2))
    whole.insert(X)
    for start in range(0, len(X), size):
        chunked.insert(X[start : start + size])
    assert snapshot(whole) == snapshot(chunked)


@each_data
def test_the_threshold_never_shrinks_and_rebuilds_are_counted(X):
    tree = sb.CFTree(max_leaves=5, branching=3)
    seen = [(tree.threshold, tree.n_rebuilds)]
    for row in X:
        tree.insert(row[None])
        seen.append((tree.threshold, tree.n_rebuilds))
    for (threshold, rebuilds), (next_threshold, next_rebuilds) in itertools.pairwise(seen):
        assert next_rebuilds >= rebuilds
        assert (next_threshold > threshold) == (next_rebuilds > rebuilds)


@each_data
@pytest.mark.parametrize("parameters", [{"threshold": 0.5}, {"max_leaves": 40}], ids=str)
@pytest.mark.parametrize("distance", ["ward", "centroid"])
@pytest.mark.parametrize("branching", [3, 63])
def test_no_leaf_is_larger_than_the_threshold(branching, distance, parameters, X):
    radius = sb.CFTree(**parameters, distance=distance, branching=branching).insert(X)
    features = radius.features
    assert (np.sqrt(features.sse / features.weight) <= radius.threshold * (1 + 1e-12)).all()

    diameter = sb.CFTree(**parameters, distance=distance, branching=branching, absorption="diameter").insert(X)
    many = diameter.features[diameter.features.weight > 1]
    assert (np.sqrt(2 * many.sse / (many.weight - 1)) <= diameter.threshold * (1 + 1e-12)).all()


@each_data
@pytest.mark.parametrize("branching", BRANCHINGS)
@pytest.mark.parametrize("absorption", CF_DISTANCES)
def test_threshold_zero_merges_exact_duplicates_only(absorption, branching, X):
    tree = sb.CFTree(branching=branching, absorption=absorption).insert(X)
    rows, counts = np.unique(X, axis=0, return_counts=True)
    expected = dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True))
    assert weight_by_mean(tree.features) == expected
    assert not tree.features.sse.any()
    assert tree.threshold == tree.n_rebuilds == 0


def test_constant_data_is_one_leaf():
    for max_leaves in (None, 1, 10):
        features = sb.CFTree(max_leaves=max_leaves).insert(DATA["constant"]).features
        assert features == sb.ClusterFeatures([300], DATA["constant"][:1], [0])


def test_a_far_outlier_gets_a_leaf_of_its_own():
    features = sb.CFTree(max_leaves=50).insert(DATA["far outlier"]).features
    far = np.flatnonzero(np.abs(features.mean[:, 0]) > 1e50)
    assert features.weight[far].tolist() == [1]


# --- weights


@each_data
@pytest.mark.parametrize("distance", CF_DISTANCES)
def test_a_weighted_row_is_the_same_as_repeated_rows(distance, X):
    counts = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = sb.CFTree(distance=distance, branching=5).insert(X, counts)
    repeated = sb.CFTree(distance=distance, branching=5).insert(np.repeat(X, counts, axis=0))
    assert weighted.n_points == repeated.n_points == counts.sum()
    assert weight_by_mean(weighted.features) == weight_by_mean(repeated.features)


@each_data
@pytest.mark.parametrize("max_leaves", [None, 20])
def test_weight_zero_is_the_same_as_no_row(max_leaves, X):
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    with_zeros = sb.CFTree(max_leaves=max_leaves, branching=4).insert(X, weight)
    without = sb.CFTree(max_leaves=max_leaves, branching=4).insert(X[weight > 0], weight[weight > 0])
    assert snapshot(with_zeros) == snapshot(without)


def test_weight_one_is_the_same_as_no_weight():
    X = DATA["random"]
    assert snapshot(sb.CFTree(max_leaves=9).insert(X, np.ones(len(X)))) == snapshot(sb.CFTree(max_leaves=9).insert(X))


def test_a_single_weight_stands_for_every_row():
    X = DATA["random"]
    assert snapshot(sb.CFTree().insert(X, 2.0)) == snapshot(sb.CFTree().insert(X, np.full(len(X), 2.0)))


def test_only_zero_weights_leave_the_tree_empty():
    tree = sb.CFTree().insert(DATA["random"], np.zeros(300))
    assert (len(tree), tree.n_points) == (0, 0)
    with pytest.raises(ValueError, match="the tree is empty: insert rows first"):
        _ = tree.features


EXTREME_WEIGHTS = """
import numpy as np, silverbirch as sb
X = np.random.default_rng(0).normal(size=(100, 2)) * {scale}
try:
    tree = sb.CFTree(branching=2, max_leaves={max_leaves}, distance={distance!r})
    tree.insert(sb.ClusterFeatures(np.full(100, {weight}), X, np.full(100, {sse})))
    assert np.isfinite(np.concatenate([a.ravel() for a in tree.features.arrays()])).all()
    np.testing.assert_allclose(tree.features.weight.sum(), 100 * {weight})
except ValueError as error:
    print("refused:", error)
"""


def run_python(code):
    environment = os.environ | {"PYTHONPATH": str(Path(sb.__file__).parents[1])}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("weight", "sse", "scale", "distance"),
    [
        (1e200, 0.0, 1.0, "ward"),
        (1e25, 0.0, 1e99, "ward"),
        (1.0, 1e308, 1.0, "radius"),
        (1.0, 1e304, 1.0, "average"),
        (1e-200, 0.0, 1.0, "average"),
    ],
)
@pytest.mark.parametrize("max_leaves", [None, 3])
def test_extreme_weights_and_sses_are_held_or_refused_and_never_crash(weight, sse, scale, distance, max_leaves):
    code = EXTREME_WEIGHTS.format(weight=weight, sse=sse, scale=scale, distance=distance, max_leaves=max_leaves)
    result = run_python(code)
    assert result.returncode == 0, result.stderr


# --- numbers


@pytest.mark.parametrize("shift", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("distance", CF_DISTANCES)
@pytest.mark.parametrize("parameters", [{"threshold": 0.75}, {"threshold": 4.0}, {"max_leaves": 60}], ids=str)
def test_moved_data_gives_the_same_leaves(parameters, distance, shift):
    X = grid_rows()
    here, there = (sb.CFTree(**parameters, distance=distance, branching=6).insert(X + s).features for s in (0, shift))
    assert 5 < len(here) == len(there) < 400
    np.testing.assert_array_equal(here.weight, there.weight)
    np.testing.assert_allclose(there.mean - shift, here.mean, rtol=0, atol=1e-15 * shift * 100)
    np.testing.assert_allclose(there.sse, here.sse, rtol=1e-5, atol=1e-5)


@each_data
def test_float32_rows_are_the_same_as_those_values_in_float64(X):
    narrow = np.clip(X, -1e30, 1e30).astype(np.float32)
    first, second = (sb.CFTree(max_leaves=30).insert(x) for x in (narrow, narrow.astype(np.float64)))
    assert snapshot(first) == snapshot(second)
    np.testing.assert_array_equal(first.assign(narrow), first.assign(narrow.astype(np.float64)))


def test_dtype_float32_rounds_the_rows():
    X = random_rows()
    rounded = sb.CFTree(dtype=np.float32).insert(X)
    assert snapshot(rounded) == snapshot(sb.CFTree().insert(X.astype(np.float32)))
    assert snapshot(rounded) != snapshot(sb.CFTree(dtype=np.float64).insert(X))
    assert rounded.features.mean.dtype == np.float64


@pytest.mark.parametrize(
    "converted",
    [
        lambda X: X.tolist(),
        np.asfortranarray,
        lambda X: np.hstack([X, X])[:, :2],
        lambda X: X[::-1][::-1],
        lambda X: X.astype(int),
        lambda X: X.astype(object),
        lambda X: pytest.importorskip("pandas").DataFrame(X),
        lambda X: pytest.importorskip("polars").DataFrame(X),
    ],
    ids=["list", "fortran", "strided", "reversed view", "integers", "objects", "pandas", "polars"],
)
def test_every_container_of_the_same_numbers_gives_the_same_bits(converted):
    X = np.round(random_rows() * 100)
    assert snapshot(sb.CFTree(max_leaves=30).insert(converted(X))) == snapshot(sb.CFTree(max_leaves=30).insert(X))


def test_inserting_does_not_change_or_keep_the_rows():
    X = random_rows()
    rows = X.copy()
    tree = sb.CFTree().insert(rows)
    np.testing.assert_array_equal(rows, X)
    rows[:] = 0
    assert_holds(tree.features, X)


# --- features and trees as input


@each_data
def test_points_as_features_give_the_same_bits_as_rows(X):
    features = sb.ClusterFeatures(np.ones(len(X)), X, np.zeros(len(X)))
    first, second = (sb.CFTree(max_leaves=20, branching=5).insert(x) for x in (X, features))
    assert snapshot(first) == snapshot(second)


@each_data
@pytest.mark.parametrize("max_leaves", [None, 1, 30])
def test_inserted_features_hold_what_they_summarize(max_leaves, X):
    features = sb.CFTree(max_leaves=60).insert(X).features
    tree = sb.CFTree(max_leaves=max_leaves).insert(features)
    assert tree.n_points == len(X)
    assert_holds(tree.features, X)


def test_features_of_weight_zero_are_left_out():
    features = sb.ClusterFeatures([1, 0, 2], [[0.0], [5.0], [9.0]], [0, 0, 1])
    assert snapshot(sb.CFTree().insert(features)) == snapshot(sb.CFTree().insert(features[[0, 2]]))


@each_data
@pytest.mark.parametrize("max_leaves", [None, 2, 40])
def test_merged_trees_hold_the_union(max_leaves, X):
    other = gaussian_clusters(200, seed=5)
    a, b = (sb.CFTree(max_leaves=max_leaves, branching=5).insert(x) for x in (X, other))
    before, thresholds = snapshot(b), (a.threshold, b.threshold)
    assert a.merge(b) is a
    assert a.n_points == len(X) + len(other)
    assert len(a) <= (max_leaves or len(X) + len(other))
    assert a.threshold >= max(thresholds)
    assert_holds(a.features, np.vstack([X, other]))
    assert snapshot(b) == before


@pytest.mark.parametrize(("first", "second"), [(0.5, 2.0), (2.0, 0.5), (0.0, 0.0)])
def test_merging_takes_the_larger_threshold(first, second):
    a = sb.CFTree(threshold=first).insert(random_rows())
    a.merge(sb.CFTree(threshold=second).insert(random_rows(seed=1)))
    assert a.threshold == max(first, second)
    assert (np.sqrt(a.features.sse / a.features.weight) <= a.threshold * (1 + 1e-12)).all()


def test_merging_an_empty_tree_changes_nothing():
    tree = sb.CFTree(max_leaves=9).insert(random_rows())
    before = snapshot(tree)
    tree.merge(sb.CFTree(threshold=7.0))
    assert snapshot(tree) == before


def test_merging_into_an_empty_tree_takes_all():
    source = sb.CFTree(max_leaves=9).insert(random_rows())
    tree = sb.CFTree().merge(source)
    assert_holds(tree.features, random_rows())
    assert tree.threshold == source.threshold


def test_merging_a_tree_with_itself_doubles_it():
    X = gaussian_clusters()
    tree = sb.CFTree(max_leaves=20).insert(X)
    tree.merge(tree)
    assert tree.n_points == 2 * len(X)
    assert_holds(tree.features, X, np.full(len(X), 2.0))


# --- assign


def brute_force_nearest(X, means):
    """The lowest number among the nearest, each squared distance summed in the order of the columns."""
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


def test_assign_follows_the_tree_as_it_grows():
    tree = sb.CFTree().insert([[0.0], [1.0]])
    assert tree.features.mean[tree.assign([[9.0]])] == 1.0
    tree.insert([[8.0]])
    assert tree.features.mean[tree.assign([[9.0]])] == 8.0


# --- memory


@pytest.mark.parametrize("dimensions", [2, 5, 64])
@pytest.mark.parametrize(("max_memory", "limit"), [("1MB", 10**6), ("300kB", 300_000)])
@pytest.mark.parametrize("kind", ["random", "sorted", "clusters", "powers of two"])
def test_max_memory_bounds_the_tree_and_its_rebuild(kind, max_memory, limit, dimensions):
    count = 20_000 if dimensions < 10 else 4_000
    X = {
        "random": lambda: random_rows(count, dimensions),
        "sorted": lambda: np.sort(random_rows(count, dimensions), axis=0),
        "clusters": lambda: gaussian_clusters(count, dimensions),
        "powers of two": lambda: 2.0 ** np.random.default_rng(0).integers(-200, 200, size=(count, dimensions)),
    }[kind]()
    tree = sb.CFTree(max_memory=max_memory)
    most = 0
    for chunk in np.array_split(X, 50):
        tree.insert(chunk)
        most = max(most, 2 * tree.memory_bytes)  # a rebuild holds two trees
    assert tree.n_rebuilds > 0
    assert most <= limit


def test_more_memory_gives_more_leaves():
    leaves = [len(sb.CFTree(max_memory=m).insert(random_rows(5000))) for m in ("20kB", "200kB", "20MB")]
    assert leaves[0] < leaves[1] < leaves[2] == 5000


def test_max_leaves_and_max_memory_both_hold():
    X = random_rows(3000)
    small = sb.CFTree(max_memory="20kB").insert(X)
    assert len(sb.CFTree(max_leaves=2000, max_memory="20kB").insert(X)) == len(small) < 2000
    assert len(sb.CFTree(max_leaves=7, max_memory="20kB").insert(X)) <= 7


@pytest.mark.parametrize(("max_memory", "dimensions"), [(1, 1), (300, 2), ("1kB", 100)])
def test_too_little_memory_is_refused_and_the_tree_stays_empty(max_memory, dimensions):
    tree = sb.CFTree(max_memory=max_memory)
    with pytest.raises(ValueError, match=f"does not hold a tree of rows of {dimensions} columns: raise it"):
        tree.insert(random_rows(5, dimensions))
    assert snapshot(tree) == snapshot(sb.CFTree(max_memory=max_memory))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1MB", 10**6),
        ("300kB", 300_000),
        ("2 GiB", 2**31),
        ("1.5MB", 1_500_000),
        (" 64 mib ", 2**26),
        ("1KiB", 1024),
        ("1TB", 10**12),
        ("512", 512),
        ("512B", 512),
        (2e6, 2_000_000),
        (4096, 4096),
    ],
)
def test_memory_is_read_with_its_unit(text, count):
    assert sb.CFTree(max_memory=text).max_memory == count


# --- what a tree tells about itself


def test_an_empty_tree_says_so():
    tree = sb.CFTree(threshold=0.5)
    assert repr(tree) == "CFTree(0 leaves, 0 points, threshold 0.5)"
    assert (len(tree), tree.n_leaves, tree.n_points, tree.n_rebuilds, tree.memory_bytes) == (0, 0, 0, 0, 0)
    for use in (lambda: tree.features, lambda: tree.assign([[1.0]])):
        with pytest.raises(ValueError, match="the tree is empty: insert rows first"):
            use()


def test_a_tree_counts_leaves_points_and_rebuilds():
    tree = sb.CFTree(max_leaves=10).insert(random_rows(), np.full(300, 2.0))
    assert len(tree) == tree.n_leaves == len(tree.features) <= 10
    assert tree.n_points == 600
    assert tree.n_rebuilds > 0
    assert tree.threshold > 0
    assert tree.memory_bytes > len(tree) * 8 * 4
    assert repr(tree) == f"CFTree({len(tree)} leaves, 600 points, threshold {tree.threshold:.4g})"


def test_insert_returns_the_tree():
    tree = sb.CFTree()
    assert tree.insert(random_rows()) is tree


# --- bad input


def with_value(value, row=150):
    X = random_rows()
    X[row, 1] = value
    return X


BAD_ROWS = {
    "NaN": (with_value(np.nan), ValueError, "X: row 150, column 1 is nan: .*drop or fill"),
    "infinity": (with_value(np.inf), ValueError, "X: row 150, column 1 is inf: .*drop or fill"),
    "minus infinity": (with_value(-np.inf), ValueError, "X: row 150, column 1 is -inf: .*drop or fill"),
    "too large to square": (with_value(1e200), ValueError, r"X: row 150, column 1 is 1e\+200: .*rescale"),
    "float32 NaN": (with_value(np.nan).astype(np.float32), ValueError, "X: row 150, column 1 is nan"),
    "None": ([[1.0, None]], ValueError, "X: row 0, column 1 is nan"),
    "strings": ([["a", "b"]], TypeError, "X holds strings: only real numbers .*encode or drop"),
    "objects": ([[object(), object()]], ValueError, "X holds values that are missing or not numbers: encode"),
    "mixed objects": (
        np.array([[1.0, "a"]], dtype=object),
        ValueError,
        "missing or not numbers",
    ),
    "huge integers": (np.array([[10**400, 1]], dtype=object), ValueError, "X"),
    "complex": (np.ones((3, 2)) * 1j, TypeError, "X holds complex numbers: only real numbers"),
    "dates": (np.zeros((3, 2), dtype="M8[s]"), TypeError, "X holds dates"),
    "too narrow": (np.ones((3, 1)), ValueError, "X has 1 columns but the tree has 2: pass the same columns"),
    "too wide": (np.ones((3, 5)), ValueError, "X has 5 columns but the tree has 2: pass the same columns"),
    "no rows": (np.empty((0, 2)), ValueError, r"X has shape \(0, 2\): at least one row and one column"),
    "no columns": (np.empty((3, 0)), ValueError, r"X has shape \(3, 0\): at least one row and one column"),
    "empty list": ([], ValueError, "X is 1-D"),
    "1-D": (np.ones(4), ValueError, r"X is 1-D: rows need a 2-D array; use reshape\(-1, 1\)"),
    "3-D": (np.ones((2, 2, 2)), ValueError, r"X is 3-D: rows need a 2-D array; use \(rows, columns\)"),
    "a number": (5.0, TypeError, "X is a float: rows need a 2-D array"),
    "ragged": ([[1.0, 2.0], [3.0]], ValueError, "inhomogeneous"),
    "nothing": (None, TypeError, "X is a NoneType: rows need a 2-D array"),
    "sparse matrix": (sparse.csr_matrix(np.eye(2)), TypeError, r"X is a sparse matrix: .*pass X.toarray\(\)"),
    "sparse array": (sparse.coo_array(np.eye(2)), TypeError, r"X is a sparse matrix: .*pass X.toarray\(\)"),
}


@pytest.fixture
def tree():
    return sb.CFTree(max_leaves=20, branching=4).insert(random_rows(200, seed=3))


@pytest.mark.parametrize(("bad", "error", "message"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_bad_rows_are_refused_and_the_tree_is_unchanged(tree, bad, error, message):
    before = snapshot(tree)
    with pytest.raises(error, match=message):
        tree.insert(bad)
    assert snapshot(tree) == before
    with pytest.raises(error, match=message):
        tree.assign(bad)
    assert snapshot(tree) == before


BAD_WEIGHTS = {
    "negative": (np.r_[np.ones(5), -1.0], ValueError, r"weight\[5\] = -1.0: must be finite and not negative"),
    "NaN": (np.r_[np.ones(4), np.nan, 1], ValueError, r"weight\[4\] = nan: must be finite and not negative"),
    "infinite": (np.r_[np.inf, np.ones(5)], ValueError, r"weight\[0\] = inf: must be finite and not negative"),
    "too few": (np.ones(5), ValueError, r"weight has shape \(5,\) but there are 6 rows: one for each row"),
    "too many": (np.ones(7), ValueError, r"weight has shape \(7,\) but there are 6 rows: one for each row"),
    "a column": (np.ones((6, 1)), ValueError, r"weight has shape \(6, 1\) but there are 6 rows"),
    "strings": (["a"] * 6, (TypeError, ValueError), "weight"),
    "complex": (np.ones(6) * (1 + 1j), (TypeError, ValueError), "weight"),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(("weight", "error", "message"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS.keys())
def test_bad_weights_are_refused_and_the_tree_is_unchanged(tree, weight, error, message):
    before = snapshot(tree)
    with pytest.raises(error, match=message):
        tree.insert(random_rows(6), weight)
    assert snapshot(tree) == before


@pytest.mark.parametrize(
    ("insert", "error", "message"),
    [
        (lambda t: t.insert(sb.CFTree().insert([[1.0, 2]]).features, weight=[1.0]), ValueError, "leave `weight` out"),
        (lambda t: t.insert(sb.ClusterFeatures([1], [[1.0]], [0])), ValueError, "X has 1 columns but the tree has 2"),
        (lambda t: t.merge(sb.CFTree(threshold=9.0).insert([[1.0]])), ValueError, "1 columns but the tree has 2"),
        (lambda t: t.merge(random_rows()), TypeError, "can only merge with a CFTree, not ndarray"),
        (lambda t: t.assign(random_rows(), n_jobs=0), ValueError, "n_jobs=0: must be a number of threads"),
        (lambda t: t.assign(random_rows(), n_jobs=1.5), TypeError, "n_jobs=1.5: a whole number or None"),
        (lambda t: t.assign(random_rows(), n_jobs=-1000), ValueError, "n_jobs=-1000"),
    ],
    ids=["weighted features", "narrow features", "narrow tree", "not a tree", "no jobs", "half a job", "many jobs"],
)
def test_what_does_not_fit_is_refused_and_the_tree_is_unchanged(tree, insert, error, message):
    before = snapshot(tree)
    with pytest.raises(error, match=message):
        insert(tree)
    assert snapshot(tree) == before


@pytest.mark.parametrize("bad", ["NaN", "3-D", "strings"])
def test_a_refused_first_chunk_does_not_fix_the_width(bad):
    rows, error, _ = BAD_ROWS[bad]
    tree = sb.CFTree()
    with pytest.raises(error):
        tree.insert(rows)
    assert tree.insert(np.ones((3, 7))).n_points == 3


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"threshold": -1}, ValueError, "threshold=-1: must be between 0 and"),
        ({"threshold": np.nan}, ValueError, "threshold=nan: must be between 0 and"),
        ({"threshold": np.inf}, ValueError, "threshold=inf: must be between 0 and"),
        ({"threshold": 10**400}, ValueError, "threshold=1000"),
        ({"threshold": "wide"}, TypeError, "threshold='wide': a number is needed"),
        ({"max_leaves": 0}, ValueError, "max_leaves=0: must be at least 1"),
        ({"max_leaves": -5}, ValueError, "max_leaves=-5: must be at least 1"),
        ({"max_leaves": 2.5}, TypeError, "max_leaves=2.5: a whole number is needed"),
        ({"max_leaves": True}, ValueError, "max_leaves=True"),
        ({"branching": 1}, ValueError, "branching=1: must be at least 2"),
        ({"branching": "many"}, TypeError, "branching='many': a whole number is needed"),
        ({"distance": "euclidean"}, ValueError, "distance='euclidean': must be one of 'centroid', 'manhattan'"),
        ({"distance": None}, ValueError, "distance=None: must be one of"),
        ({"absorption": "D4"}, ValueError, "absorption='D4': must be one of"),
        ({"max_memory": "12 parsecs"}, ValueError, "max_memory='12 parsecs': write bytes as a number or like '256MB'"),
        ({"max_memory": "MB"}, ValueError, "max_memory='MB': write bytes"),
        ({"max_memory": ""}, ValueError, "max_memory='': write bytes"),
        ({"max_memory": "-1MB"}, ValueError, "max_memory='-1MB': must be a finite number of at least one byte"),
        ({"max_memory": 0}, ValueError, "max_memory=0: must be a finite number of at least one byte"),
        ({"max_memory": np.nan}, ValueError, "max_memory=nan: must be a finite number of at least one byte"),
        ({"max_memory": 10**400}, ValueError, "max_memory=1000"),
        ({"max_memory": [1]}, TypeError, r"max_memory=\[1\]: write bytes"),
        ({"dtype": np.float16}, ValueError, "must be float32, float64 or None"),
        ({"dtype": int}, ValueError, "must be float32, float64 or None"),
        ({"dtype": "wide"}, (TypeError, ValueError), "wide"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_parameters_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        sb.CFTree(**parameters)


@pytest.mark.parametrize("branching", ["2**40", "2**60", "2**61 - 1", "2**64"])
def test_a_branching_no_memory_holds_is_refused_and_does_not_crash(branching):
    code = f"""
import silverbirch as sb
try:
    sb.CFTree(branching={branching}).insert([[1.0, 2.0], [3.0, 4.0]])
except ValueError as error:
    assert "branching" in str(error)
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr


# --- interrupts and threads

SLOW = {"branching": 600, "threshold": 0.0}  # wide nodes make each row expensive


def test_an_interrupted_insert_keeps_the_rows_up_to_then():
    X = random_rows(400_000)

    def stop(done, total):
        assert 0 < done < total == len(X)
        raise InterruptedError("enough")

    tree = sb.CFTree(**SLOW)
    with pytest.raises(InterruptedError, match="enough"):
        tree.insert(X, progress=stop)
    kept = int(tree.n_points)
    assert 0 < kept < len(X)
    assert tree.features.weight.sum() == kept
    assert_same_bits(tree.features, sb.CFTree(**SLOW).insert(X[:kept]).features)


def test_an_interrupted_rebuild_loses_nothing():
    X = random_rows(600_000)
    tree = sb.CFTree(max_leaves=20_000, branching=2)
    interrupts = start = 0

    def stop(done, total):  # most of the time goes into rebuilds, so most interrupts meet one
        if interrupts < 20:
            raise InterruptedError

    while start < len(X):
        try:
            tree.insert(X[start:], progress=stop)
        except InterruptedError:
            interrupts += 1
        start = int(tree.n_points)
        assert tree.features.weight.sum() == start
    assert interrupts == 20
    assert len(tree) <= 20_000
    assert_holds(tree.features, X)


def test_an_interrupted_assign_leaves_the_tree_usable():
    tree = sb.CFTree().insert(random_rows(20_000, 8))
    before = snapshot(tree)

    def stop(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        tree.assign(random_rows(200_000, 8, seed=1), progress=stop)
    assert snapshot(tree) == before
    np.testing.assert_array_equal(tree.assign(tree.features.mean[:9]), np.arange(9))


CTRL_C = """
import numpy as np, silverbirch as sb
X = np.random.default_rng(0).normal(size=(5_000_000, 2))
tree = sb.CFTree({parameters})
print("inserting", flush=True)
try:
    tree.insert(X)
    print("finished before the interrupt")
except KeyboardInterrupt:
    assert tree.features.weight.sum() == tree.n_points < len(X)
    before = tree.n_points
    tree.insert(X[:100])
    assert tree.features.weight.sum() == tree.n_points == before + 100
    print("interrupted")
"""


@pytest.mark.parametrize("parameters", ["branching=600", "max_leaves=40_000, branching=200"])
def test_ctrl_c_stops_an_insert_and_leaves_a_usable_tree(parameters):
    environment = os.environ | {"PYTHONPATH": str(Path(sb.__file__).parents[1])}
    command = [sys.executable, "-c", CTRL_C.format(parameters=parameters)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "inserting\n"
            threading.Event().wait(0.4)
            child.send_signal(signal.SIGINT)
            output, errors = child.communicate(timeout=8)
        finally:
            child.kill()
    assert (child.returncode, output) == (0, "interrupted\n"), errors


@pytest.mark.parametrize("max_leaves", [None, 100])
def test_threads_that_share_a_tree_lose_nothing(max_leaves):
    tree = sb.CFTree(max_leaves=max_leaves)
    parts = [np.round(random_rows(20_000, seed=s) * 64) for s in range(2)]
    tree.insert([[0.0, 0.0]])
    errors = []

    def run(work):
        try:
            work()
        except Exception as error:
            errors.append(error)

    def insert(part):
        for chunk in np.array_split(part, 100):
            tree.insert(chunk)

    def look():
        for _ in range(50):
            features = tree.features
            assert (features.weight > 0).all()
            tree.assign(parts[0][:10])
            copy.deepcopy(tree)

    threads = [threading.Thread(target=run, args=(w,)) for w in (*(lambda p=p: insert(p) for p in parts), look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert tree.n_points == 40_001
    assert_holds(tree.features, np.vstack([[[0.0, 0.0]], *parts]))


# -- looking in from a callback


def test_a_progress_callback_can_read_the_tree_but_not_change_it():
    tree = sb.CFTree(max_leaves=2_000)
    seen = []

    def look(done, total):
        seen.append((tree.n_leaves, len(tree.features), tree.n_points))
        with pytest.raises(RuntimeError, match="being changed"):
            tree.insert([[1.0, 2.0]])

    X = random_rows(300_000)
    tree.insert(X, progress=look)
    assert seen
    assert all(leaves == features <= 2_001 for leaves, features, _ in seen)  # one too many is what starts a rebuild
    assert tree.features == sb.CFTree(max_leaves=2_000).insert(X).features


def test_merging_does_not_take_over_a_threshold_of_another_unit():
    coarse = sb.CFTree(max_leaves=20, absorption="ward").insert(random_rows(2_000))
    fine = sb.CFTree().insert(random_rows(100, seed=5))
    assert fine.merge(coarse).threshold == 0.0
    assert coarse.threshold > 0.0


@pytest.mark.parametrize("absorption", ["radius", "average", "ward"])
def test_equal_rows_find_each_other_beside_a_wider_feature_of_the_same_mean(absorption):
    tree = sb.CFTree(absorption=absorption).insert(sb.ClusterFeatures(3, [[1.0, 2.0]], 5.0))
    tree.insert(np.repeat([[1.0, 2.0]], 5, axis=0))
    assert len(tree) <= 2
    assert tree.features.weight.sum() == 8
