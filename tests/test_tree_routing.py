"""Rows descend with the help of rounded numbers, a filter that must not change the tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from silverbirch import _core
from silverbirch.checks import CF_DISTANCES
from trees import assert_holds, gaussian_clusters, random_rows, snapshot

# All layouts of a node: lanes are entries (loops unrolled) or dimensions, of floats or of integers; with and without
# padding.
DIMENSIONS = [1, 5, 16, 17, 30, 64, 65, 96, 100, 144]


@pytest.fixture(autouse=True)
def restored_instruction_set():
    before = _core.instruction_set()
    yield
    _core.use_instruction_set(before)


@pytest.mark.parametrize("distance", CF_DISTANCES)
@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("instruction_set", _core.supported_instruction_sets()[1:])
def test_the_instruction_set_does_not_change_a_bit_of_the_tree(instruction_set, dimensions, distance):
    X = np.vstack([gaussian_clusters(600, dimensions), random_rows(600, dimensions)])
    trees = []
    for name in ("baseline", instruction_set):
        _core.use_instruction_set(name)
        trees.append(sb.CFTree(max_leaves=150, branching=9, distance=distance).insert(X, np.arange(1200) % 3 + 1.0))
    assert snapshot(trees[0]) == snapshot(trees[1])
    assert_holds(trees[0].features, X, np.arange(1200) % 3 + 1.0)


@pytest.mark.parametrize("digits", [0, 2, 9])
@pytest.mark.parametrize("dimensions", [1, 2, 5, 16, 17, 48, 64, 80])
@pytest.mark.parametrize("instruction_set", _core.supported_instruction_sets())
def test_rows_searched_for_together_go_where_each_alone_would(instruction_set, dimensions, digits):
    """In nodes of the usual size; rounded rows are equally far from several entries."""
    X = np.round(random_rows(1500, dimensions), digits)
    _core.use_instruction_set("baseline")
    alone = sb.CFTree(max_leaves=300)
    for row in X:
        alone.insert(row[None])
    _core.use_instruction_set(instruction_set)
    assert snapshot(sb.CFTree(max_leaves=300).insert(X)) == snapshot(alone)


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("instruction_set", _core.supported_instruction_sets())
def test_rows_of_single_precision_are_the_same_in_double(instruction_set, dimensions):
    """Some rows have weight 0 and are left out."""
    _core.use_instruction_set(instruction_set)
    X = random_rows(900, dimensions).astype(np.float32)
    weights = np.where(np.arange(900) % 50 < 20, 0.0, 1.0)
    trees = [sb.CFTree(max_leaves=200).insert(rows, weights) for rows in (X, X.astype(np.float64))]
    assert snapshot(trees[0]) == snapshot(trees[1])
    assert_holds(trees[0].features, X, weights)


@pytest.mark.parametrize("distance", ["centroid", "ward"])
@pytest.mark.parametrize("dimensions", [2, 5, 16, 17, 100])
def test_rows_go_to_the_exactly_least_distant_entry(dimensions, distance):
    """Rows so close to the middle between two entries that floats cannot decide which is nearer."""
    rng = np.random.default_rng(dimensions)
    centers = np.round(rng.uniform(-8, 8, size=(12, dimensions)))
    middles = (centers[:, None] + centers[None]).reshape(-1, dimensions) / 2
    queries = np.vstack([middles + side * 2.0**-40 * rng.normal(size=middles.shape) for side in (-1, 0, 1)])
    for query in queries:
        tree = sb.CFTree(threshold=1e3, branching=15, distance=distance)
        levels = [(np.array([12], np.uint32), np.ones(12), centers, np.zeros(12))]
        never, no_planes = _core.NEVER, (np.empty((0, dimensions)), np.empty(0))
        state = [(levels, 12.0, 1e6, (never, never), 0)], no_planes, (0, never, 0, 0), 0
        tree._core = _core.CfTree.from_state(dimensions, *tree._core_options(dimensions, 1e6), state)
        tree.insert(query[None])
        grown = np.flatnonzero(tree.features.weight == 2)
        gaps = np.zeros(12)
        for k in range(dimensions):
            gaps += (query[k] - centers[:, k]) ** 2
        assert grown.tolist() == [gaps.argmin()]


@pytest.mark.parametrize("dimensions", [3, 40, 120])
@pytest.mark.parametrize("scale", [2.0**-60, 2.0**60, 2.0**200])
def test_rescaled_data_gives_the_same_tree_even_beyond_floats(scale, dimensions):
    """Powers of two change no digit; far beyond the range of floats the filter is not used."""
    X = gaussian_clusters(800, dimensions)
    here, there = (sb.CFTree(max_leaves=60, branching=7).insert(x).features for x in (X, X * scale))
    np.testing.assert_array_equal(here.weight, there.weight)
    np.testing.assert_array_equal(here.mean * scale, there.mean)
    np.testing.assert_array_equal(here.sse * scale**2, there.sse)


@pytest.mark.parametrize("dimensions", [5, 40, 120])
def test_what_an_outlier_beyond_the_filter_leaves_of_the_others_is_whole(dimensions):
    X = gaussian_clusters(800, dimensions)
    far = np.full((1, dimensions), 1e40)
    features = sb.CFTree(threshold=3.0, branching=7).insert(np.vstack([X, far, X])).features
    near = np.abs(features.mean[:, 0]) < 1e30
    assert near.sum() == len(features) - 1
    assert_holds(features[near], np.vstack([X, X]))


def far_outliers(rng, n, dimensions):
    X = rng.normal(size=(n, dimensions))
    X[rng.random(n) < 0.05] *= 1e4
    return X


def tight_groups_far_apart(rng, n, dimensions):
    return 1e3 * rng.normal(size=(8, dimensions))[rng.integers(8, size=n)] + 1e-4 * rng.normal(size=(n, dimensions))


def drift(rng, n, dimensions):
    return rng.normal(size=(n, dimensions)) + 1.01 ** np.arange(n)[:, None]


def first_rows_alike(rng, n, dimensions):
    return rng.normal(size=(n, dimensions)) * np.where(np.arange(n) < n // 4, 1e-6, 1.0)[:, None]


@pytest.mark.parametrize("make", [far_outliers, tight_groups_far_apart, drift, first_rows_alike])
@pytest.mark.parametrize("distance", [distance for distance in CF_DISTANCES if distance != "diameter"])
@pytest.mark.parametrize("dimensions", [6, 17, 96, 101])
def test_the_same_tree_as_without_the_filter(dimensions, distance, make):
    """The filter is left out for weights beyond 1e15, and a power of two changes no digit of anything else, but of
    diameters, where a weight counts points."""
    X = make(np.random.default_rng(dimensions), 900, dimensions)
    trees = [
        sb.CFTree(max_leaves=120, branching=11, distance=distance).insert(X, np.full(len(X), weight)).features
        for weight in (2.0**12, 2.0**60)
    ]
    np.testing.assert_array_equal(trees[0].weight * 2.0**48, trees[1].weight)
    np.testing.assert_array_equal(trees[0].mean, trees[1].mean)
    np.testing.assert_array_equal(trees[0].sse * 2.0**48, trees[1].sse)


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_float32_rows_are_the_same_as_those_values_in_float64_in_every_layout(dimensions):
    X = gaussian_clusters(900, dimensions).astype(np.float32)
    trees = [sb.CFTree(max_leaves=80, branching=9).insert(x) for x in (X, X.astype(np.float64))]
    assert snapshot(trees[0]) == snapshot(trees[1])


@pytest.mark.parametrize("dimensions", [2, 20, 110])
def test_moved_data_gives_the_same_leaves_in_every_layout(dimensions):
    X = np.round(gaussian_clusters(600, dimensions) * 2**16) / 2**16  # moving by 1e8 is exact
    here, there = (sb.CFTree(max_leaves=60, branching=6).insert(X + s).features for s in (0, 1e8))
    np.testing.assert_array_equal(here.weight, there.weight)
    np.testing.assert_allclose(there.mean - 1e8, here.mean, rtol=0, atol=1e-5)
    np.testing.assert_allclose(there.sse, here.sse, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("distance", CF_DISTANCES)
@pytest.mark.parametrize("scale", [1e-12, 1e6, 1e12])
def test_no_row_goes_to_an_empty_slot_whatever_the_scale(scale, distance):
    X = scale * random_rows(300, 2)
    assert_holds(sb.CFTree(max_leaves=100, branching=15, distance=distance).insert(X).features, X)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 130),
    st.integers(4, 70),
    st.sampled_from(CF_DISTANCES),
    st.sampled_from([1e-25, 1e-3, 1.0, 1e12, 1e20]),
    st.integers(0, 2**32 - 1),
)
def test_a_tree_goes_on_to_the_same_bits_from_another_origin(dimensions, branching, distance, scale, seed):
    """A loaded tree chooses its own origin, so its rounded numbers differ; its leaves must not."""
    X = scale * random_rows(400, dimensions, seed=seed)
    tree = sb.CFTree(max_leaves=100, branching=branching, distance=distance).insert(X[:200])
    loaded = sb.CFTree.__new__(sb.CFTree)
    loaded.__setstate__(tree.__getstate__())
    assert snapshot(tree.insert(X[200:])) == snapshot(loaded.insert(X[200:]))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("distance", CF_DISTANCES)
def test_no_row_is_lost_on_the_way_down(distance, scale):
    X = scale * random_rows(3000, 3, seed=1)
    features = sb.CFTree(max_leaves=200, branching=7, distance=distance).insert(X).features
    assert features.weight.sum() == len(X)
    np.testing.assert_allclose(features.total().mean[0], X.mean(axis=0), rtol=1e-9, atol=1e-9 * scale)
