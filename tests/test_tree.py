"""The CF-tree: conserved sums and bounds."""

import itertools
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from silverbirch.checks import CF_DISTANCES
from trees import assert_holds, assert_same_bits, gaussian_clusters, grid_rows, random_rows, run_python, snapshot

quick = settings(deadline=None, max_examples=50)
BRANCHINGS = [2, 3, 7, 8, 31, 63]
LEAF_LIMITS = [1, 2, 5, 50]


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


@pytest.mark.parametrize("distance", CF_DISTANCES)
def test_rows_that_come_together_give_the_same_bits_as_rows_that_come_alone(distance):
    """The core lets several rows descend at once."""
    rng = np.random.default_rng(5)
    X, weight = rng.normal(size=(3000, 3)), rng.integers(0, 4, size=3000) / 3
    together, alone = (sb.CFTree(max_leaves=300, branching=8, distance=distance) for _ in range(2))
    together.insert(X, weight)
    for i in range(3000):
        alone.insert(X[i : i + 1], weight[i : i + 1])
    assert snapshot(together) == snapshot(alone)


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


@pytest.mark.parametrize("groups", [2, 3, 5, 19, 20])
def test_as_many_leaves_as_allowed_keep_as_many_far_groups_apart(groups):
    """A rebuild usually leaves free leaves, but a small limit has none to spare."""
    rng = np.random.default_rng(groups)
    labels = rng.integers(0, groups, 40 * groups)
    X = 1e6 * np.stack([labels, labels**2], axis=1) + rng.normal(size=(len(labels), 2))
    features = sb.CFTree(max_leaves=groups).insert(X).features
    counts = np.bincount(labels)
    assert sorted(features.weight) == sorted(counts[counts > 0])


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


# --- properties of a tree


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


@pytest.mark.parametrize(("rows", "columns", "n_jobs"), [(1200, 800, None), (2600, 200, 2)])
@pytest.mark.parametrize("distance", ["centroid", "manhattan", "ward"])
def test_many_dimensions_do_not_collapse_into_one_leaf(distance, rows, columns, n_jobs):
    """All rows are about equally far apart, so the thresholds that merge nothing and everything are close."""
    tree = sb.CFTree(max_leaves=300, distance=distance, n_jobs=n_jobs).insert(random_rows(rows, columns))
    assert 75 <= len(tree) <= 300


@pytest.mark.parametrize("scale", [1e-90, 1e97])
def test_the_scale_of_the_data_does_not_change_how_many_leaves_there_are(scale):
    X = random_rows(2000, 17)
    X[1000:] *= 1e-3
    tree = sb.CFTree(max_leaves=257, branching=2, absorption="centroid", distance="radius").insert(scale * X)
    assert 64 <= len(tree) <= 257
    assert tree.threshold < 10 * scale
