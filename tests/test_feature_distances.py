"""Distances of cluster features against brute force over the points, on all instruction sets."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

import silverbirch as sb
from cluster_features import FAR, example, features_of, grid_points, quick, single_features
from silverbirch import _core
from silverbirch.checks import CF_DISTANCES


def sum_of_squares(points):
    return float(((points - points.mean(axis=0)) ** 2).sum())


def squared_gaps(a, b):
    return ((a[:, None] - b[None]) ** 2).sum(axis=2)


def union(a, b):
    return np.concatenate([a, b])


# The definitions of the paper, over the points; squared.
BRUTE_FORCE = {
    "centroid": lambda a, b: float(((a.mean(axis=0) - b.mean(axis=0)) ** 2).sum()),
    "manhattan": lambda a, b: float(np.abs(a.mean(axis=0) - b.mean(axis=0)).sum()) ** 2,
    "average": lambda a, b: float(squared_gaps(a, b).mean()),
    "diameter": lambda a, b: (
        float(squared_gaps(union(a, b), union(a, b)).sum()) / ((len(a) + len(b)) * (len(a) + len(b) - 1))
    ),
    "ward": lambda a, b: sum_of_squares(union(a, b)) - sum_of_squares(a) - sum_of_squares(b),
    "radius": lambda a, b: sum_of_squares(union(a, b)) / (len(a) + len(b)),
}


def joined(*features):
    return sb.ClusterFeatures(*(np.concatenate(arrays) for arrays in zip(*(f.arrays() for f in features), strict=True)))


def squared_distances(features, name, threads=1):
    return _core.pairwise_squared_distances(*features.arrays(), name, threads, None)


def test_every_distance_is_tested():
    assert set(CF_DISTANCES) == set(BRUTE_FORCE)


@pytest.mark.parametrize("name", BRUTE_FORCE)
@pytest.mark.parametrize("dimensions", [1, 2, 9])
@quick
@given(data=st.data())
def test_distances_equal_brute_force_over_the_points(name, dimensions, data):
    points = [data.draw(grid_points(dimensions=dimensions)) for _ in range(2)]
    counts = [data.draw(st.lists(st.integers(1, 4), min_size=len(p), max_size=len(p))) for p in points]
    features = joined(*(features_of(p, c) for p, c in zip(points, counts, strict=True)))
    expected = BRUTE_FORCE[name](*(np.repeat(p, c, axis=0) for p, c in zip(points, counts, strict=True)))
    assert squared_distances(features, name)[0] == pytest.approx(expected, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("name", BRUTE_FORCE)
@quick
@given(a=grid_points(), b=grid_points())
def test_aggregation_heights_are_the_distances(name, a, b):
    features = joined(features_of(a), features_of(b))
    height = sb.linkage(features, name, mode="aggregation")[0, 2]
    scale = math.sqrt(2) if name == "ward" else 1.0
    assert height == pytest.approx(scale * math.sqrt(squared_distances(features, name)[0]), rel=1e-12)


@pytest.mark.parametrize("name", ["centroid", "average", "ward"])
def test_distances_far_from_the_origin_are_those_at_the_origin(name):
    near = example(40)
    near = sb.ClusterFeatures(near.weight, np.round(near.mean * 16) / 16, near.sse)
    far = sb.ClusterFeatures(near.weight, near.mean + FAR, near.sse)
    assert squared_distances(near, name).tobytes() == squared_distances(far, name).tobytes()


@pytest.mark.parametrize("name", BRUTE_FORCE)
@quick
@given(st.lists(single_features(dimensions=3), min_size=2, max_size=12))
def test_distances_are_symmetric_to_the_bit(name, features):
    features = joined(*features)
    forwards = squareform(squared_distances(features, name))
    backwards = squareform(squared_distances(features[::-1], name))
    np.testing.assert_array_equal(forwards, backwards[::-1, ::-1])


@pytest.mark.parametrize("name", BRUTE_FORCE)
@quick
@given(a=single_features(), b=single_features())
def test_distances_are_never_negative_and_grow_with_the_gap(name, a, b):
    assume(not np.array_equal(a.mean, b.mean))
    further = sb.ClusterFeatures(b.weight, b.mean + 4 * (b.mean - a.mean), b.sse)
    near, far = (squared_distances(joined(a, other), name)[0] for other in (b, further))
    assert 0 <= near <= far


@pytest.mark.parametrize("name", BRUTE_FORCE)
def test_distances_do_not_depend_on_threads(name):
    features = example(count=300)
    assert squared_distances(features, name, 1).tobytes() == squared_distances(features, name, 3).tobytes()


@pytest.mark.parametrize("name", BRUTE_FORCE)
@pytest.mark.parametrize("count", [2, 7, 8, 9, 64, 65])
def test_distances_of_many_are_those_of_each_pair(name, count):
    features = example(count=count)
    matrix = squareform(squared_distances(features, name))
    for i, j in [(0, 1), (0, count - 1), (count // 2, count - 1)]:
        if i != j:
            assert matrix[i, j] == squared_distances(features[[i, j]], name)[0]


@pytest.mark.parametrize("weight", [1e-3, 0.1, 0.5, 0.75, 1.0])
def test_the_diameter_of_two_points_is_their_distance_whatever_fraction_they_weigh(weight):
    features = sb.ClusterFeatures([weight, weight], [[0.0], [3.0]], [0, 0])
    assert squared_distances(features, "diameter")[0] == pytest.approx(9.0)


# --- instruction sets


@pytest.fixture
def each_instruction_set():
    """Runs something once for every instruction set of this machine."""
    used = _core.instruction_set()

    def run(compute):
        results = {}
        for name in _core.supported_instruction_sets():
            _core.use_instruction_set(name)
            assert _core.instruction_set() == name
            results[name] = compute()
        return results

    yield run
    _core.use_instruction_set(used)


@pytest.mark.parametrize("name", BRUTE_FORCE)
@pytest.mark.parametrize("dimensions", [1, 3, 17])
def test_every_instruction_set_gives_the_same_bits(each_instruction_set, name, dimensions):
    features = example(count=45, dimensions=dimensions)
    rows = np.random.default_rng(0).normal(size=(600, dimensions))

    def compute():
        tree = sb.CFTree(max_leaves=40, distance=name, absorption=name, branching=5).insert(rows)
        parts = [squared_distances(features, name), *tree.features.arrays(), tree.assign(rows)]
        return b"".join(part.tobytes() for part in parts)

    assert len(set(each_instruction_set(compute).values())) == 1


@pytest.mark.parametrize("dimensions", [1, 3, 5])
def test_every_instruction_set_assigns_many_rows_alike(each_instruction_set, dimensions):
    rng = np.random.default_rng(0)
    means, rows = rng.normal(size=(300, dimensions)), rng.normal(size=(12_000, dimensions))
    results = each_instruction_set(lambda: _core.NearestIndex(means).nearest(rows, 1, None)[0].tobytes())
    assert len(set(results.values())) == 1


def test_an_unknown_instruction_set_is_refused():
    used = _core.instruction_set()
    with pytest.raises(ValueError, match="z80"):
        _core.use_instruction_set("z80")
    assert _core.instruction_set() == used


@pytest.mark.parametrize("name", ["radius", "diameter", "average"])
def test_the_smallest_weights_and_largest_sses_still_find_each_other(name):
    X = np.random.default_rng(0).normal(size=(20, 2))
    features = sb.ClusterFeatures(1e-30, X, 1e175)
    assert sb.linkage(features, name, mode="aggregation").shape == (19, 4)
    assert len(sb.CFTree(distance=name, branching=2).insert(features)) <= 20
