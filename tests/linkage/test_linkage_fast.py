"""The algorithms that skip most distances, by an index ("rounds", "heap", "boruvka") or a filter ("blocked")."""

import fastcluster
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import silverbirch as sb
from brute_force import (
    assert_each_merge_is_the_global_minimum,
    definitions,
    features_of,
    few,
    grid_points,
    grouped_points,
    ignore_square,
    random_features,
    random_points,
    singles,
)
from silverbirch import _core

METHODS = ["ward", "average", "weighted", "centroid", "median"]
OF_SQUARES = ["average", "weighted"]  # of squared distances, that is
REDUCIBLE = ["ward", "average", "weighted"]
CASES = [
    *((method, algorithm) for method in METHODS for algorithm in ["blocked", "heap"]),
    *((method, "rounds") for method in REDUCIBLE),
]
REFERENCE = dict.fromkeys(METHODS, "nn_chain") | dict.fromkeys(["centroid", "median"], "generic")


def fast(data, method, algorithm, **options):
    """The linkage; average and weighted use squared distances, and heights are their roots."""
    squared = method in OF_SQUARES and not isinstance(data, sb.ClusterFeatures)
    Z = sb.linkage(data, method, "sqeuclidean" if squared else "euclidean", algorithm=algorithm, **options)
    if squared:
        Z[:, 2] **= 0.5
    return Z


def scipys(X, method):
    if method not in OF_SQUARES:
        return hierarchy.linkage(X, method)
    Z = hierarchy.linkage(pdist(X, "sqeuclidean"), method)
    Z[:, 2] **= 0.5
    return Z


def assert_greedy(Z, X, method):
    """Replays the merges on the matrix of squared distances: each merge must join a nearest pair, any one of ties."""
    n = len(X)
    D = squareform(pdist(X, "sqeuclidean"))
    np.fill_diagonal(D, np.inf)
    place, size = list(range(n)), np.ones(n)
    for i, j, height, _ in np.asarray(Z):
        a, b = place[int(i)], place[int(j)]
        assert D[a, b] <= D.min() * (1 + 1e-9) + 1e-9
        assert height**2 == pytest.approx(D[a, b], rel=1e-9, abs=1e-9)
        if method == "ward":
            merged = ((size[a] + size) * D[a] + (size[b] + size) * D[b] - size * D[a, b]) / (size[a] + size[b] + size)
        else:
            share = size[b] / (size[a] + size[b]) if method in ("average", "centroid") else 0.5
            merged = (1 - share) * D[a] + share * D[b]
            if method in ("centroid", "median"):
                merged -= share * (1 - share) * D[a, b]
        D[b] = D[:, b] = merged
        D[a] = D[:, a] = D[b, b] = np.inf
        size[b] += size[a]
        place.append(b)


def assert_same_tree(Z, expected, rtol):
    """Compares heights and cophenetic distances: merges of equal height may come in any order."""
    assert_allclose(Z[:, 2], expected[:, 2], rtol=rtol)
    assert_allclose(hierarchy.cophenet(Z), hierarchy.cophenet(expected), rtol=rtol)


def clustered(n, d, spread, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, size=(20, d))[rng.integers(0, 20, n)] + spread * rng.normal(size=(n, d))


# Against others


@pytest.mark.parametrize(("method", "algorithm"), CASES)
@given(shape=st.tuples(st.integers(2, 300), st.integers(1, 64)), seed=st.integers(0, 2**32 - 1), single=st.booleans())
@few
def test_random_points_give_scipys_tree(method, algorithm, shape, seed, single):
    X = np.random.default_rng(seed).normal(size=shape).astype(np.float32 if single else np.float64)
    assert_same_tree(fast(X, method, algorithm), scipys(X.astype(np.float64), method), rtol=1e-9)


@pytest.mark.parametrize(("method", "algorithm"), CASES)
@given(
    shape=st.tuples(st.integers(30, 300), st.integers(1, 64)),
    seed=st.integers(0, 2**32 - 1),
    spread=st.sampled_from([1.0, 1e-2, 1e-4, 1e-7]),
    offset=st.sampled_from([0.0, 1e3]),
)
@few
def test_clustered_points_give_the_heights_of_the_reference(method, algorithm, shape, seed, spread, offset):
    """Clusters that are tiny compared with their distances, where products and float32 fail."""
    X = offset + clustered(*shape, spread, seed)
    expected = sb.linkage(sb.ClusterFeatures(1, X, 0), method, algorithm=REFERENCE[method])
    Z = fast(sb.ClusterFeatures(1, X, 0), method, algorithm)
    # Near ties may be merged in another order, and then means differ by the rounding of a coordinate.
    rounding = np.finfo(float).eps * np.abs(X).max() * np.sqrt(X.shape[1])
    assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-10, atol=rounding)
    assert_array_equal(Z[:, 3], expected[:, 3])


@pytest.mark.parametrize("algorithm", ["auto", "blocked", "heap"])
@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
def test_many_dimensions_give_fastclusters_tree(method, algorithm):
    X = clustered(600, 384, 0.3).astype(np.float32)
    assert_allclose(fast(X, method, algorithm), fastcluster.linkage_vector(X, method), rtol=1e-12)


@pytest.mark.parametrize(("method", "algorithm"), CASES)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_more_rows_than_a_block_give_the_tree_of_the_reference(method, algorithm, n_jobs):
    F = sb.ClusterFeatures(1, np.random.default_rng(0).normal(size=(1500, 40)), 0)
    expected = sb.linkage(F, method, algorithm=REFERENCE[method])
    assert_allclose(fast(F, method, algorithm, n_jobs=n_jobs), expected, rtol=1e-12)


@pytest.mark.parametrize(("method", "algorithm"), CASES)
@pytest.mark.parametrize("d", [3, 50])
def test_weighted_features_give_the_tree_of_agnes(method, algorithm, d):
    F = random_features(200, d)
    assert_allclose(fast(F, method, algorithm), sb.linkage(F, method, algorithm="agnes"), rtol=1e-12)


@pytest.mark.parametrize("method", REDUCIBLE)
@given(
    shape=st.tuples(st.integers(30, 300), st.integers(1, 100)),
    seed=st.integers(0, 2**32 - 1),
    spread=st.sampled_from([1.0, 0.1, 1e-3]),
    decades=st.sampled_from([0, 2, 12]),
    repeated=st.booleans(),
)
@few
def test_features_of_very_different_weight_give_the_heights_of_the_reference(
    method, shape, seed, spread, decades, repeated
):
    """The bounds that a merged cluster takes over from its children depend on the weights."""
    rng = np.random.default_rng(seed)
    X = clustered(*shape, spread, seed)
    if repeated:
        X = X[rng.integers(0, len(X), len(X))]
    F = sb.ClusterFeatures(10 ** rng.uniform(-decades / 2, decades / 2, len(X)), X, 0)
    expected = sb.linkage(F, method, algorithm="nn_chain")
    assert_allclose(fast(F, method, "blocked")[:, 2], expected[:, 2], rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("d", [64, 384])
@pytest.mark.parametrize("spread", [0.0, 1e-3, 0.1, 10.0])
def test_few_rows_of_many_dimensions_give_the_tree_of_rounds(spread, d):
    """`auto` chooses by the numbers of rows and columns alone, even if an index would be fast."""
    F = sb.ClusterFeatures(1, clustered(1300, d, spread), 0)
    assert_allclose(sb.linkage(F, "ward")[:, 2], sb.linkage(F, "ward", algorithm="rounds")[:, 2], rtol=1e-10)


@pytest.mark.parametrize(("method", "algorithm"), CASES)
@given(data=grouped_points())
@few
def test_every_merge_of_features_is_the_global_minimum(method, algorithm, data):
    X, _, groups = data
    name = f"squared {method}" if method in OF_SQUARES else method
    assert_each_merge_is_the_global_minimum(
        fast(features_of(X, groups), method, algorithm), groups, definitions(X)[name]
    )


# Ties


@pytest.mark.parametrize(("method", "algorithm"), CASES)
@ignore_square
@given(X=grid_points())
@few
def test_every_merge_of_tied_points_is_the_global_minimum(method, algorithm, X):
    name = f"squared {method}" if method in OF_SQUARES else method
    assert_each_merge_is_the_global_minimum(fast(X, method, algorithm), singles(X), definitions(X)[name])


TIED = {
    "grid": np.stack(np.meshgrid(*[np.arange(4.0)] * 4), axis=-1).reshape(-1, 4),
    "grid that rounds": 3.3 + 0.1 * np.stack(np.meshgrid(*[np.arange(4.0)] * 4), axis=-1).reshape(-1, 4),
    "binary": np.random.default_rng(0).integers(0, 2, size=(300, 12)).astype(float),
    "one-hot": np.hstack([np.eye(5)[np.random.default_rng(s).integers(0, 5, 300)] for s in range(8)]),
    "all equally far": np.eye(150),
    "line": np.arange(300.0)[:, None] * np.ones(40),
    "line with growing gaps": np.cumsum(1.02 ** np.arange(300))[:, None] * np.ones(40),
    "duplicates": np.repeat(random_points(30, 40), 10, axis=0),
    "one place": np.ones((50, 40)),
    "zeros of both signs": np.random.default_rng(0).choice([0.0, -0.0, 1.0], size=(100, 3)),
}


@pytest.mark.parametrize(("method", "algorithm"), CASES)
@pytest.mark.parametrize("name", TIED)
def test_ties_and_duplicates_are_merged_greedily(method, algorithm, name):
    Z = fast(TIED[name], method, algorithm)
    assert hierarchy.is_valid_linkage(Z)
    assert_greedy(Z, TIED[name], method)


# Bits


@pytest.fixture
def restored_instruction_set():
    used = _core.instruction_set()
    yield
    _core.use_instruction_set(used)


SAME_BITS = {
    **TIED,
    "random": np.random.default_rng(0).normal(size=(800, 150)),
    "groups": clustered(800, 100, 0.05),
    "tight": clustered(600, 40, 1e-5),
    "far away": 1e8 + clustered(400, 10, 0.1),
}


@pytest.mark.parametrize(("method", "algorithm"), CASES)
@pytest.mark.parametrize("name", SAME_BITS)
def test_threads_and_instruction_sets_give_the_same_bits(method, algorithm, name, restored_instruction_set):
    results = set()
    for instruction_set in _core.supported_instruction_sets():
        _core.use_instruction_set(instruction_set)
        results |= {fast(SAME_BITS[name], method, algorithm, n_jobs=n_jobs).tobytes() for n_jobs in (1, 2, 3)}
    assert len(results) == 1


# Limits


@pytest.mark.parametrize(("method", "algorithm"), CASES)
@pytest.mark.parametrize(
    "F",
    [
        sb.ClusterFeatures(np.geomspace(1e-30, 1e30, 60), random_points(60, 5), 0),
        sb.ClusterFeatures(1, 1e100 * np.tanh(random_points(60, 5)), 0),
        sb.ClusterFeatures(1, 1e-200 * random_points(60, 5), 0),
        sb.ClusterFeatures(1e-30, random_points(60, 5), 1e175),
        sb.ClusterFeatures(1, random_points(60, 5) * np.geomspace(1e-30, 1e30, 5), 0),
    ],
    ids=["weights", "large", "small", "sses", "columns"],
)
def test_numbers_at_the_ends_of_what_is_accepted_give_the_heights_of_the_reference(method, algorithm, F):
    expected = sb.linkage(F, method, algorithm=REFERENCE[method])
    assert_allclose(fast(F, method, algorithm)[:, 2], expected[:, 2], rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(("method", "algorithm"), CASES)
def test_few_points_are_clustered(method, algorithm, n):
    X = random_points(n, 70)
    assert_allclose(fast(X, method, algorithm), scipys(X, method) if n > 1 else np.empty((0, 4)), rtol=1e-12)


@pytest.mark.parametrize(
    ("method", "algorithm"),
    [*((m, a) for m in ["complete", "average", "minimax"] for a in ["blocked", "heap"]), ("single", "heap")],
)
def test_linkages_it_cannot_do_are_refused(method, algorithm):
    with pytest.raises(ValueError, match=f"algorithm='{algorithm}' does not compute '{method}' linkage of points"):
        sb.linkage(random_points(5), method, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ["blocked", "heap", "rounds", "boruvka"])
@pytest.mark.parametrize("method", ["ward", "single"])
def test_distances_are_refused(method, algorithm):
    with pytest.raises(ValueError, match=f"'{algorithm}' does not compute '{method}' linkage of condensed distances"):
        sb.linkage(pdist(random_points(5)), method, algorithm=algorithm)


def test_rounds_are_refused_where_they_would_not_be_greedy():
    with pytest.raises(ValueError, match="'rounds' does not compute 'centroid' linkage"):
        sb.linkage(random_points(5), "centroid", algorithm="rounds")


# Lists that outlive many merges


@pytest.mark.parametrize("method", ["centroid", "median"])
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(
    "X",
    [
        random_points(2500, 64),  # one cluster grows, nearer to each other than its parents were
        clustered(2500, 48, 0.3),
        clustered(2500, 48, 1e-4),
        np.cumsum(np.random.default_rng(0).normal(size=(2000, 40)), axis=0),
    ],
    ids=["inversions", "groups", "tight groups", "a chain"],
)
def test_greedy_merges_through_lists_are_those_of_the_generic_algorithm(method, n_jobs, X):
    Z = sb.linkage(X, method, algorithm="blocked", n_jobs=n_jobs)
    assert_allclose(Z, sb.linkage(X, method, algorithm="generic"), rtol=1e-9)


# Enough rows for the index to be swept and ordered anew many times, and for threads to be started


MANY = {
    "uniform": np.random.default_rng(0).uniform(size=(6000, 3)),
    "clustered": clustered(6000, 8, 0.05),
    "a line": np.random.default_rng(0).normal(size=(5000, 1)) * np.ones(3),
    "denser and denser": np.geomspace(1, 1e6, 4000)[:, None] * np.random.default_rng(0).normal(size=(4000, 2)),
    "one column": np.random.default_rng(0).normal(size=(6000, 1)),
}


@pytest.mark.parametrize("method", ["ward", "centroid", "median", "single"])
@pytest.mark.parametrize("name", MANY)
def test_many_rows_give_the_heights_of_fastcluster(method, name):
    expected = fastcluster.linkage_vector(MANY[name], method)[:, 2]
    assert_allclose(sb.linkage(MANY[name], method)[:, 2], expected, rtol=1e-9)


@pytest.mark.parametrize("method", ["ward", "centroid", "single"])
@pytest.mark.parametrize("name", MANY)
def test_many_rows_give_the_same_bits_on_any_number_of_threads(method, name):
    results = {sb.linkage(MANY[name], method, n_jobs=n_jobs).tobytes() for n_jobs in (1, 2, 3)}
    assert len(results) == 1


@pytest.mark.parametrize("method", ["ward", "average"])
@pytest.mark.parametrize("name", ["uniform", "clustered", "grid"])
def test_pairs_of_a_round_are_merged_to_the_same_bits_on_any_number_of_threads(method, name):
    """Enough rows that several threads merge and widen the same boxes; the grid has thousands of ties."""
    X = {
        "uniform": np.random.default_rng(1).uniform(size=(20_000, 3)),
        "clustered": clustered(20_000, 4, 0.05),
        "grid": np.stack(np.meshgrid(*[np.arange(27.0)] * 3), axis=-1).reshape(-1, 3),
    }[name]
    results = {
        sb.linkage(X, method, metric="sqeuclidean" if method == "average" else "euclidean", n_jobs=n_jobs).tobytes()
        for n_jobs in (1, 2, 3)
    }
    assert len(results) == 1


@pytest.mark.parametrize("method", ["ward", "centroid", "single"])
def test_grids_of_many_rows_merge_at_equal_heights(method):
    """All ties: thousands of pairs are nearest at once."""
    X = np.stack(np.meshgrid(*[np.arange(16.0)] * 3), axis=-1).reshape(-1, 3)
    Z = sb.linkage(X, method)
    assert hierarchy.is_valid_linkage(Z)
    if method == "single":
        assert (Z[:, 2] == 1).all()
    else:
        assert (Z[: len(X) // 4, 2] == 1).all()


# Single linkage


@pytest.mark.parametrize("algorithm", ["boruvka", "blocked"])
@given(shape=st.tuples(st.integers(2, 300), st.integers(1, 32)), seed=st.integers(0, 2**32 - 1), single=st.booleans())
@few
def test_a_spanning_tree_gives_scipys_tree(algorithm, shape, seed, single):
    X = np.random.default_rng(seed).normal(size=shape).astype(np.float32 if single else np.float64)
    expected = hierarchy.linkage(X.astype(np.float64), "single")
    assert_same_tree(sb.linkage(X, "single", algorithm=algorithm), expected, rtol=1e-12)


WIDE = {
    # Lists of sixteen neighbours are used up within a group, and most points are never in the majority.
    "groups far apart": clustered(2000, 64, 1e-3),
    "a crowd and a few": np.vstack([random_points(1500, 48), 5 + 3 * random_points(300, 48)]),
    "a chain": np.cumsum(np.random.default_rng(0).normal(size=(1500, 32)), axis=0),
}


@pytest.mark.parametrize("name", WIDE)
def test_blocked_single_linkage_gives_the_heights_of_prim(name):
    Z = sb.linkage(WIDE[name], "single", algorithm="blocked", n_jobs=2)
    assert_same_tree(Z, sb.linkage(WIDE[name], "single", algorithm="mst"), rtol=1e-14)


@pytest.mark.parametrize("algorithm", ["boruvka", "blocked"])
@pytest.mark.parametrize("name", SAME_BITS)
def test_a_spanning_tree_gives_the_heights_of_prim_and_the_same_bits_everywhere(
    algorithm, name, restored_instruction_set
):
    X, results = SAME_BITS[name], set()
    for instruction_set in _core.supported_instruction_sets():
        _core.use_instruction_set(instruction_set)
        results |= {sb.linkage(X, "single", algorithm=algorithm, n_jobs=n_jobs).tobytes() for n_jobs in (1, 2, 3)}
    assert len(results) == 1
    Z = np.frombuffer(results.pop()).reshape(-1, 4)
    assert_array_equal(Z[:, 2], sb.linkage(X, "single", algorithm="mst")[:, 2])


@pytest.mark.parametrize("algorithm", ["rounds", "heap", "blocked"])
@pytest.mark.parametrize("method", ["average", "weighted"])
@pytest.mark.parametrize("seed", range(4, 8))  # with 5, bounds that do not follow give another tree
def test_features_of_very_different_spread_give_the_heights_of_agnes(method, algorithm, seed):
    """A compact cluster may take the slot of a wide one; the bounds above it must be updated."""
    rng = np.random.default_rng(seed)
    X, spread = rng.normal(size=(200, 1)), 10 ** rng.uniform(-2, 2)
    F = sb.ClusterFeatures(1, X, spread * rng.random(200) * (rng.random(200) < 0.8) * (X[:, 0] > 0))
    expected = sb.linkage(F, method, algorithm="agnes")
    assert_allclose(sb.linkage(F, method, algorithm=algorithm)[:, 2], expected[:, 2], rtol=1e-9)


@pytest.mark.parametrize("weight", [1e-30, 1e30])
@pytest.mark.parametrize("method", ["ward", "average", "centroid"])
def test_blocked_searches_of_light_or_heavy_objects_beside_one_far_away(method, weight):
    """Quotients by such weights are beyond the range of floats, unless the units are rescaled."""
    X = np.random.default_rng(0).normal(size=(200, 8))
    X[0] = 1e7
    features = sb.ClusterFeatures(np.full(200, weight), X, np.zeros(200))
    Z, expected = (sb.linkage(features, method, algorithm=a) for a in ("blocked", "generic"))
    assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9)
    assert_array_equal(Z[:, :2], expected[:, :2])
