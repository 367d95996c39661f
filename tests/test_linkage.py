"""Linkage against brute force over the points, and what it promises about weights, modes, bits, errors and memory."""

import copy
import itertools
import logging
import os
import pickle
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import silverbirch as sb
from silverbirch import _core

linkage_module = sys.modules["silverbirch.linkage"]  # the attribute of that name is the function

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
REDUCIBLE = ("single", "complete", "average", "weighted", "ward", "minimax")
GREEDY = ("agnes", "anderberg", "generic")
CF_DISTANCES = ("centroid", "manhattan", "average", "diameter", "ward", "radius")
FEATURE_METHODS = ("ward", "average", "weighted", "centroid", "median")
few = settings(deadline=None, max_examples=30)
ignore_square = pytest.mark.filterwarnings("ignore:data looks like a square distance matrix")


# Brute force: clusters are the points they hold, distances are the definitions over those points.


class Group(NamedTuple):
    rows: np.ndarray
    weight: np.ndarray
    vote: np.ndarray  # what each row counts where the halves of a merge count the same


def groups_of(labels, weight):
    rows = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return [Group(r, weight[r], weight[r] / weight[r].sum()) for r in rows]


def singles(X):
    return groups_of(np.arange(len(X)), np.ones(len(X)))


def joined(a, b):
    return Group(np.r_[a.rows, b.rows], np.r_[a.weight, b.weight], np.r_[a.vote, b.vote] / 2)


def definitions(X, D=None):
    """Each linkage and CF distance by name, as a function of two groups; `squared` ones are of squared distances."""
    D = squareform(pdist(X)) if D is None else D

    def mean(group, counts):
        return counts @ X[group.rows] / counts.sum()

    def sse(group):
        return group.weight @ ((X[group.rows] - mean(group, group.weight)) ** 2).sum(axis=1)

    def across(a, b, by_a, by_b, power=1):
        return by_a @ D[np.ix_(a.rows, b.rows)] ** power @ by_b / (by_a.sum() * by_b.sum())

    def squared_diameter(group):
        n = group.weight.sum()
        return group.weight @ D[np.ix_(group.rows, group.rows)] ** 2 @ group.weight / (n * (n - 1))

    def root(value):
        return np.sqrt(max(value, 0.0))

    return {
        "single": lambda a, b: D[np.ix_(a.rows, b.rows)].min(),
        "complete": lambda a, b: D[np.ix_(a.rows, b.rows)].max(),
        "average": lambda a, b: across(a, b, a.weight, b.weight),
        "weighted": lambda a, b: across(a, b, a.vote, b.vote),
        "squared average": lambda a, b: root(across(a, b, a.weight, b.weight, 2)),
        "squared weighted": lambda a, b: root(across(a, b, a.vote, b.vote, 2)),
        "centroid": lambda a, b: np.linalg.norm(mean(a, a.weight) - mean(b, b.weight)),
        "manhattan": lambda a, b: abs(mean(a, a.weight) - mean(b, b.weight)).sum(),
        "median": lambda a, b: np.linalg.norm(mean(a, a.vote) - mean(b, b.vote)),
        "ward": lambda a, b: root(2 * (sse(joined(a, b)) - sse(a) - sse(b))),
        "radius": lambda a, b: root(sse(joined(a, b)) / joined(a, b).weight.sum()),
        "diameter": lambda a, b: root(squared_diameter(joined(a, b))),
        "minimax": lambda a, b: radii(D, joined(a, b).rows).min(),
        "medoid": lambda a, b: D[medoid(D, a), medoid(D, b)],
    }


def radii(D, rows):
    return D[np.ix_(rows, rows)].max(axis=1)


def medoid(D, group):
    order = np.argsort(group.rows)
    rows, weight = group.rows[order], group.weight[order]
    return rows[np.argmin(D[np.ix_(rows, rows)] @ weight)]


class BruteForce:
    def __init__(self, groups, distance):
        self.distance = distance
        self.clusters = dict(enumerate(groups))
        self.next = len(groups)
        self.between = {(i, j): distance(groups[i], groups[j]) for i, j in itertools.combinations(self.clusters, 2)}

    def merge(self, i, j):
        merged = joined(self.clusters.pop(i), self.clusters.pop(j))
        self.between = {pair: d for pair, d in self.between.items() if not {i, j} & set(pair)}
        self.between |= {(k, self.next): self.distance(group, merged) for k, group in self.clusters.items()}
        self.clusters[self.next] = merged
        self.next += 1
        return merged


def greedy(groups, distance):
    state, leaves, Z = BruteForce(groups, distance), dict.fromkeys(range(len(groups)), 1), []
    while state.between:
        i, j = min(state.between, key=state.between.get)
        leaves[state.next] = leaves[i] + leaves[j]
        Z.append((i, j, state.between[i, j], leaves[state.next]))
        state.merge(i, j)
    return np.array(Z)


def assert_each_merge_is_the_global_minimum(Z, groups, distance):
    state = BruteForce(groups, distance)
    assert len(Z) == len(groups) - 1
    for i, j, height, _ in np.asarray(Z):
        merged = state.between[int(i), int(j)]
        assert merged**2 <= min(state.between.values()) ** 2 * (1 + 1e-9) + 1e-9
        assert height**2 == pytest.approx(merged**2, rel=1e-9, abs=1e-9)  # squares: the sums to compare with cancel
        state.merge(int(i), int(j))


def features_of(X, groups):
    weight = np.array([g.weight.sum() for g in groups])
    mean = np.array([np.average(X[g.rows], axis=0, weights=g.weight) for g in groups])
    sse = [g.weight @ ((X[g.rows] - m) ** 2).sum(axis=1) for g, m in zip(groups, mean, strict=True)]
    return sb.ClusterFeatures(weight, mean, np.array(sse))


def random_points(n=40, d=3, seed=1):
    return np.random.default_rng(seed).normal(size=(n, d))


def random_features(n=50, d=3, seed=2):
    rng = np.random.default_rng(seed)
    return sb.ClusterFeatures(rng.uniform(0.5, 20, size=n), rng.normal(size=(n, d)), rng.uniform(0, 3, size=n))


@st.composite
def grid_points(draw, min_rows=2):
    """Small integers: full of ties and duplicates, and exact."""
    shape = draw(st.tuples(st.integers(min_rows, 14), st.integers(1, 3)))
    return draw(arrays(np.float64, shape, elements=st.integers(-4, 4)))


@st.composite
def grouped_points(draw):
    """Points, weights and groups; there are at least two groups and each has some weight."""
    X = draw(grid_points(min_rows=4))
    weight = draw(arrays(np.float64, len(X), elements=st.floats(1, 8, width=16)))
    labels = draw(arrays(np.int64, len(X), elements=st.integers(0, 5)))
    labels[:2] = 0, 1
    return X, weight, groups_of(labels, weight)


# Every algorithm, against brute force and against each other


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("algorithm", ["auto", *GREEDY])
@ignore_square
@given(X=grid_points())
@few
def test_every_merge_is_the_global_minimum_for_greedy_algorithms(method, algorithm, X):
    Z = sb.linkage(X, method, algorithm=algorithm)
    assert_each_merge_is_the_global_minimum(Z, singles(X), definitions(X)[method])


@pytest.mark.parametrize(("method", "algorithm"), [*((m, "nn_chain") for m in REDUCIBLE), ("single", "mst")])
@ignore_square
@given(X=grid_points())
@few
def test_nn_chain_and_mst_are_greedy_where_the_linkage_is_reducible(method, algorithm, X):
    Z = sb.linkage(X, method, algorithm=algorithm)
    assert_each_merge_is_the_global_minimum(Z, singles(X), definitions(X)[method])


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted", "minimax", "medoid"])
@pytest.mark.parametrize("algorithm", GREEDY)
def test_every_merge_of_condensed_distances_is_the_global_minimum(method, algorithm):
    distances = np.random.default_rng(3).uniform(size=30 * 29 // 2)  # of no space at all
    brute_force = definitions(np.zeros((30, 1)), squareform(distances))[method]
    Z = sb.linkage(distances, method, algorithm=algorithm)
    assert_each_merge_is_the_global_minimum(Z, singles(np.zeros(30)), brute_force)


@pytest.mark.parametrize(
    ("method", "algorithm"),
    [
        *((method, algorithm) for method in [*METHODS, "minimax", "medoid"] for algorithm in ["anderberg", "generic"]),
        *((method, "nn_chain") for method in REDUCIBLE),
        ("single", "mst"),
    ],
)
@pytest.mark.parametrize("condensed", [False, True])
def test_every_algorithm_gives_the_result_of_agnes(method, algorithm, condensed):
    data = pdist(random_points(100)) if condensed else random_points(100)
    expected = sb.linkage(data, method, algorithm="agnes")
    Z = sb.linkage(data, method, algorithm=algorithm)
    assert_allclose(hierarchy.cophenet(Z), hierarchy.cophenet(expected), rtol=1e-9)


@pytest.mark.parametrize(
    ("method", "algorithm"),
    [
        *((method, algorithm) for method in FEATURE_METHODS for algorithm in ["auto", "anderberg", "generic"]),
        *((method, "nn_chain") for method in FEATURE_METHODS if method in REDUCIBLE),
    ],
)
def test_every_algorithm_gives_the_same_tree_of_weighted_features(method, algorithm):
    F = random_features(100)
    assert_allclose(sb.linkage(F, method, algorithm=algorithm), sb.linkage(F, method, algorithm="agnes"), rtol=1e-9)


@pytest.mark.parametrize("method", ["ward", "average", "centroid"])
@pytest.mark.parametrize("algorithm", GREEDY)
def test_merging_features_and_merging_distances_agree_for_three_linkages(method, algorithm):
    F = random_features()
    by_distances = sb.linkage(F, method, algorithm=algorithm)
    assert_allclose(sb.linkage(F, method, mode="aggregation"), by_distances, rtol=1e-9)


@pytest.mark.parametrize("method", ["centroid", "median", "medoid"])
def test_nn_chain_gives_another_valid_tree_where_the_linkage_is_not_reducible(method):
    X = random_points(200, 2)
    Z = sb.linkage(X, method, algorithm="nn_chain")
    assert hierarchy.is_valid_linkage(Z)
    assert not np.allclose(np.sort(Z[:, 2]), np.sort(sb.linkage(X, method)[:, 2]))


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted", "ward", "minimax"])
@pytest.mark.parametrize("algorithm", ["agnes", "anderberg", "generic", "nn_chain"])
def test_heights_of_reducible_linkages_ascend(method, algorithm):
    X = np.random.default_rng(4).integers(0, 4, size=(150, 3))
    assert (np.diff(sb.linkage(X, method, algorithm=algorithm)[:, 2]) >= 0).all()


def test_centroid_inversions_are_kept():
    triangle = [[0, 0], [1, 0], [0.5, 0.9]]
    assert_allclose(sb.linkage(triangle, "centroid"), [[0, 1, 1, 2], [2, 3, 0.9, 3]], rtol=1e-12)


# Cluster features


@pytest.mark.parametrize("method", FEATURE_METHODS)
@given(data=grouped_points())
@few
def test_linkage_of_features_is_that_of_the_points_they_hold(method, data):
    X, _, groups = data
    name = f"squared {method}" if method in ("average", "weighted") else method
    Z = sb.linkage(features_of(X, groups), method)
    assert_each_merge_is_the_global_minimum(Z, groups, definitions(X)[name])


@pytest.mark.parametrize("method", ["ward", "average", "centroid"])
def test_heights_above_the_features_are_those_of_full_clustering(method):
    centres, rng = random_points(12, 3) * 50, np.random.default_rng(5)
    labels = np.repeat(np.arange(12), rng.integers(2, 8, size=12))
    X = centres[labels] + rng.normal(size=(len(labels), 3))
    F = features_of(X, groups_of(labels, np.ones(len(X))))
    full = hierarchy.linkage(X if method != "average" else pdist(X, "sqeuclidean"), method)[-11:, 2]
    assert_allclose(sb.linkage(F, method)[:, 2], np.sqrt(full) if method == "average" else full, rtol=1e-9)


@pytest.mark.parametrize("method", CF_DISTANCES)
@pytest.mark.parametrize("algorithm", ["auto", *GREEDY])
@given(data=grouped_points())
@few
def test_aggregation_merges_the_nearest_point_sets(method, algorithm, data):
    X, _, groups = data
    Z = sb.linkage(features_of(X, groups), method, mode="aggregation", algorithm=algorithm)
    name = "squared average" if method == "average" else method
    assert_each_merge_is_the_global_minimum(Z, groups, definitions(X)[name])


@pytest.mark.parametrize("method", CF_DISTANCES)
def test_aggregation_of_points_is_naive_greedy_clustering(method):
    X = random_points()
    name = "squared average" if method == "average" else method
    assert_allclose(
        sb.linkage(X, method, mode="aggregation"), greedy(singles(X), definitions(X)[name]), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("method", ["single", "complete", "minimax"])
def test_linkages_that_need_distances_see_the_means_of_features(method):
    F = random_features()
    assert_array_equal(sb.linkage(F, method), sb.linkage(F.mean, method))


@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
@pytest.mark.parametrize("kind", ["features", "points"])
def test_centers_mode_sees_neither_weight_nor_spread(method, kind):
    F = random_features()
    if kind == "features":
        Z = sb.linkage(F, method, mode="centers")
    else:
        Z = sb.linkage(F.mean, method, weights=F.weight, mode="centers")
    assert_allclose(Z, sb.linkage(F.mean, method), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_features_of_one_point_each_are_points(method):
    X = random_points()
    metric = "sqeuclidean" if method in ("average", "weighted") else "euclidean"
    expected = hierarchy.linkage(X, method, metric)
    if metric == "sqeuclidean":
        expected[:, 2] **= 0.5
    assert_allclose(sb.linkage(sb.ClusterFeatures(1, X, 0), method), expected, rtol=1e-9)


# Weights

ALL_MODES = [*((method, "linkage") for method in (*METHODS, "minimax", "medoid"))]
ALL_MODES += [(method, "aggregation") for method in CF_DISTANCES]


@pytest.mark.parametrize(("method", "mode"), ALL_MODES)
def test_weight_two_is_the_row_twice(method, mode):
    X, weight = random_points(25), np.random.default_rng(6).integers(1, 4, size=25)
    Z = sb.linkage(X, method, weights=weight, mode=mode)
    repeated = sb.linkage(np.repeat(X, weight, axis=0), method, mode=mode)
    assert_repeats(Z, repeated, weight)


@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
def test_weight_two_is_the_object_twice_for_condensed_distances(method):
    X, weight = random_points(25), np.random.default_rng(6).integers(1, 4, size=25)
    Z = sb.linkage(pdist(X), method, weights=weight)
    assert_repeats(Z, sb.linkage(pdist(np.repeat(X, weight, axis=0)), method), weight)


def assert_repeats(Z, repeated, weight):
    first = np.cumsum(weight) - weight
    among_firsts = squareform(hierarchy.cophenet(repeated))[np.ix_(first, first)]
    assert_allclose(squareform(hierarchy.cophenet(Z)), among_firsts, rtol=1e-9)


@pytest.mark.parametrize(("method", "mode"), ALL_MODES)
def test_weight_zero_is_no_row(method, mode):
    X, weight = random_points(30), np.tile([0.0, 1.0, 2.5], 10)
    Z = sb.linkage(X, method, weights=weight, mode=mode)
    assert_array_equal(Z, sb.linkage(X[weight > 0], method, weights=weight[weight > 0], mode=mode))


@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
def test_weight_zero_is_no_object_for_condensed_distances(method):
    X, weight = random_points(30), np.tile([0.0, 1.0, 2.5], 10)
    Z = sb.linkage(pdist(X), method, weights=weight)
    assert_array_equal(Z, sb.linkage(pdist(X[weight > 0]), method, weights=weight[weight > 0]))


@pytest.mark.parametrize("method", FEATURE_METHODS)
def test_a_feature_of_weight_zero_is_no_feature(method):
    F = random_features()
    weight = np.where(np.arange(50) % 3, F.weight, 0)
    assert_array_equal(sb.linkage(sb.ClusterFeatures(weight, F.mean, F.sse), method), sb.linkage(F[weight > 0], method))


@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
def test_only_ratios_of_weights_matter_but_for_wards_heights(method):
    X, weight = random_points(), np.random.default_rng(7).uniform(0.1, 5, size=40)
    Z = np.array(sb.linkage(X, method, weights=weight))
    Z[:, 2] *= 2 if method == "ward" else 1
    assert_allclose(sb.linkage(X, method, weights=4 * weight), Z, rtol=1e-9)


def test_one_weight_stands_for_all_rows():
    X = random_points()
    assert_array_equal(sb.linkage(X, "ward", weights=2.0), sb.linkage(X, "ward", weights=np.full(40, 2.0)))


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("data", [random_points(5), pdist(random_points(5))], ids=["points", "condensed"])
def test_weights_that_are_no_counts_are_refused(data, bad):
    with pytest.raises(ValueError, match=rf"weights\[3\] = {bad}: must be finite and not negative, .*rescale"):
        sb.linkage(data, "ward", weights=[1, 1, 0, bad, 1])


@pytest.mark.parametrize("data", [random_points(5), pdist(random_points(5))], ids=["points", "condensed"])
def test_weights_of_another_length_or_all_zero_are_refused(data):
    with pytest.raises(ValueError, match=r"weights has shape \(4,\) but there are 5 rows"):
        sb.linkage(data, "ward", weights=np.ones(4))
    with pytest.raises(ValueError, match="all weights are zero"):
        sb.linkage(data, "ward", weights=np.zeros(5))


# Prototypes


def members_by_row(Z):
    members = [[i] for i in range(len(Z) + 1)]
    for a, b in np.asarray(Z)[:, :2].astype(int):
        members.append(sorted(members[a] + members[b]))
    return members[len(Z) + 1 :]


@pytest.mark.parametrize("algorithm", ["auto", *GREEDY])
@pytest.mark.parametrize("condensed", [False, True])
def test_minimax_is_naive_greedy_clustering(algorithm, condensed):
    X = random_points()
    expected = greedy(singles(X), definitions(X)["minimax"])
    Z = sb.linkage(pdist(X) if condensed else X, "minimax", algorithm=algorithm)
    assert_allclose(hierarchy.cophenet(Z), hierarchy.cophenet(expected), rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["auto", *GREEDY])
@pytest.mark.parametrize("condensed", [False, True])
def test_medoid_is_naive_greedy_clustering_with_weights(algorithm, condensed):
    X, weight = random_points(), np.random.default_rng(8).uniform(0.1, 9, size=40)
    expected = greedy(groups_of(np.arange(40), weight), definitions(X)["medoid"])
    Z = sb.linkage(pdist(X) if condensed else X, "medoid", weights=weight, algorithm=algorithm)
    assert_allclose(Z, expected, rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["agnes", "anderberg", "generic", "nn_chain"])
def test_minimax_prototypes_are_the_centres_and_heights_their_radii(algorithm):
    X = random_points(80)
    D, Z = squareform(pdist(X)), sb.linkage(X, "minimax", algorithm=algorithm)
    for rows, prototype, height in zip(members_by_row(Z), Z.prototypes, np.asarray(Z)[:, 2], strict=True):
        assert prototype in rows
        assert height == pytest.approx(radii(D, rows).min(), rel=1e-12)
        assert D[prototype, rows].max() == pytest.approx(height, rel=1e-12)


@pytest.mark.parametrize("algorithm", ["agnes", "anderberg", "generic", "nn_chain"])
@pytest.mark.parametrize("kind", ["points", "features", "condensed"])
def test_medoid_prototypes_have_the_least_weighted_sum_of_distances(algorithm, kind):
    F = random_features(80)
    D, weights = squareform(pdist(F.mean)), None if kind == "features" else F.weight
    data = {"points": F.mean, "features": F, "condensed": pdist(F.mean)}[kind]
    Z = sb.linkage(data, "medoid", weights=weights, algorithm=algorithm)
    for rows, prototype in zip(members_by_row(Z), Z.prototypes, strict=True):
        deviation = D[np.ix_(rows, rows)] @ F.weight[rows]
        assert deviation[rows.index(prototype)] == pytest.approx(deviation.min(), rel=1e-12)


@pytest.mark.parametrize(
    "again",
    [copy.deepcopy, lambda Z: pickle.loads(pickle.dumps(Z)), lambda Z: Z.copy()],
    ids=["deepcopy", "pickle", "copy"],
)
def test_a_copy_of_z_keeps_its_prototypes(again):
    Z = sb.linkage(random_points(), "minimax")
    assert_array_equal(again(Z).prototypes, Z.prototypes)


@pytest.mark.parametrize("method", ["minimax", "medoid"])
def test_optimal_ordering_keeps_prototypes(method):
    X = random_points()
    assert_array_equal(sb.linkage(X, method, optimal_ordering=True).prototypes, sb.linkage(X, method).prototypes)


# The same bits, and nobody's arrays touched


@pytest.fixture
def restored_instruction_set():
    before = _core.instruction_set()
    yield
    _core.use_instruction_set(before)


@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_number_of_threads_does_not_change_a_bit(method, n_jobs):
    X = random_points(150, 7)
    assert_array_equal(sb.linkage(X, method, n_jobs=n_jobs), sb.linkage(X, method, n_jobs=1))


@pytest.mark.usefixtures("restored_instruction_set")
@pytest.mark.parametrize("instruction_set", _core.supported_instruction_sets()[1:])
@pytest.mark.parametrize(("method", "mode"), ALL_MODES)
def test_the_instruction_set_does_not_change_a_bit(method, mode, instruction_set):
    F = random_features(150, 7)
    _core.use_instruction_set("baseline")
    expected = sb.linkage(F, method, mode=mode)
    _core.use_instruction_set(instruction_set)
    assert _core.instruction_set() == instruction_set
    assert_array_equal(sb.linkage(F, method, mode=mode), expected)


@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
@pytest.mark.parametrize("condensed", [False, True])
def test_the_callers_arrays_stay_as_they_were(method, condensed):
    data, weights = random_points(), np.linspace(1, 2, 40)
    data = pdist(data) if condensed else data
    before = data.copy(), weights.copy()
    sb.linkage(data, method, weights=weights)
    for array, copied in zip((data, weights), before, strict=True):
        assert_array_equal(array, copied)
        assert array.flags.writeable


@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
def test_read_only_input_is_enough(method):
    distances = pdist(random_points())
    expected = sb.linkage(distances.copy(), method)
    distances.flags.writeable = False
    assert_array_equal(sb.linkage(distances, method), expected)


# Bad input

POINTS = random_points(6)
FEATURES = random_features(6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "wards"}, "method='wards': must be one of 'single', 'complete'.*'medoid'"),
        ({"method": 3}, "method=3: must be one of"),
        ({"method": "diameter"}, "method='diameter' needs mode='aggregation'; .*one of single"),
        (
            {"method": "single", "mode": "aggregation"},
            "method='single' needs mode='linkage'; .* one of centroid, manhattan",
        ),
        ({"mode": "center"}, "mode='center': must be one of 'centers', 'linkage', 'aggregation'"),
        ({"algorithm": "slink"}, "algorithm='slink': must be one of 'auto', 'agnes'"),
        ({"method": "ward", "algorithm": "mst"}, "'mst' is for single linkage: use algorithm='auto' for 'ward'"),
        ({"method": "complete", "algorithm": "mst"}, "use algorithm='auto' for 'complete'"),
        ({"method": "medoid", "algorithm": "mst"}, "use algorithm='auto' for 'medoid'"),
        ({"method": "radius", "mode": "aggregation", "algorithm": "mst"}, "use algorithm='auto' for 'radius'"),
        ({"method": "ward", "mode": "aggregation", "metric": "cosine"}, "metric='cosine' with mode='aggregation'"),
        ({"metric": "nearness"}, "nearness"),
        ({"n_jobs": 0}, "n_jobs=0: must be a number of threads, or -1 for all"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(arguments, message):
    with pytest.raises(ValueError, match=message):
        sb.linkage(POINTS, **arguments)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([], ValueError, r"0 distances: .* n\(n-1\)/2"),
        (np.zeros((0, 3)), ValueError, r"shape \(0, 3\): at least one row"),
        (np.zeros((3, 0)), ValueError, r"shape \(3, 0\): at least one row and one column"),
        (np.zeros((2, 2, 2)), ValueError, r"3-D: rows need a 2-D array; use \(rows, columns\)"),
        (5.0, TypeError, "data is a float: rows need a 2-D array"),
        (np.arange(4.0), ValueError, r"4 distances: .*n\(n-1\)/2; .* data.reshape\(-1, 1\)"),
        ([["a"], ["b"]], TypeError, "strings: only real numbers can be clustered; encode or drop"),
        (["a", "b", "c"], TypeError, "only numbers can be clustered"),
        ([[1 + 2j], [3]], TypeError, "complex numbers: only real numbers"),
        ([[1.0], [np.nan]], ValueError, "row 1, column 0 is nan: .*drop or fill"),
        ([[1.0, np.inf], [0, 0]], ValueError, "row 0, column 1 is inf: .*drop or fill"),
        ([[1e200], [0]], ValueError, r"row 0, column 0 is 1e\+200: .*rescale"),
        ([1.0, np.nan, 2.0], ValueError, "distance nan at position 1: distances must be finite"),
        ([1.0, 2.0, np.inf], ValueError, "distance inf at position 2: distances must be finite"),
    ],
)
@pytest.mark.parametrize("method", ["single", "average", "ward", "minimax"])
def test_data_that_cannot_be_clustered_is_refused_with_the_reason(data, error, message, method):
    with pytest.raises(error, match=message):
        sb.linkage(data, method)


@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
def test_distances_whose_squares_overflow_are_refused(method):
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=r"1e\+200"):
        sb.linkage([1e200, 1e200, 1e200], method)


def test_cluster_features_take_no_weights_and_no_other_metric():
    with pytest.raises(ValueError, match="weights of their own: leave `weights` out"):
        sb.linkage(FEATURES, "ward", weights=np.ones(6))
    with pytest.raises(ValueError, match="metric='cosine' with cluster features: only 'euclidean'"):
        sb.linkage(FEATURES, "single", "cosine")


@pytest.mark.parametrize("mode", ["centers", "aggregation"])
def test_condensed_distances_have_no_features_to_treat(mode):
    with pytest.raises(ValueError, match=f"mode='{mode}' .*distances have mode='linkage' only"):
        sb.linkage(pdist(POINTS), "ward", mode=mode)


def test_a_metric_that_gives_nan_is_refused():
    with pytest.raises(ValueError, match="metric 'cosine' gave distance nan at position 0"):
        sb.linkage(np.zeros((3, 2)), "average", "cosine")


@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
def test_one_object_is_a_tree_without_merges(method):
    assert sb.linkage([[1.0, 2.0]], method).shape == (0, 4)
    assert sb.linkage(FEATURES[:1], method, optimal_ordering=True).shape == (0, 4)


# Long jobs


@pytest.mark.parametrize("method", ["single", "complete", "ward", "centroid", "minimax"])
def test_progress_goes_to_stderr_only_when_asked_for(method, capsys):
    quiet = sb.linkage(POINTS, method)
    assert capsys.readouterr() == ("", "")
    assert_array_equal(sb.linkage(POINTS, method, progress=True), quiet)
    shown = capsys.readouterr()
    assert f"{method} linkage: 100%" in shown.err
    assert shown.out == ""


LONG_JOB = """
import numpy, silverbirch
X = numpy.random.default_rng(0).normal(size=({rows}, {columns}))
print("ready", flush=True)
silverbirch.linkage(X, {method!r}, algorithm={algorithm!r})
print("finished", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process there")
@pytest.mark.parametrize(
    ("method", "algorithm", "rows", "columns"),
    [("ward", "agnes", 5000, 3), ("centroid", "generic", 60_000, 100), ("minimax", "nn_chain", 8000, 1500)],
)
def test_ctrl_c_stops_a_long_linkage(method, algorithm, rows, columns):
    script = LONG_JOB.format(method=method, algorithm=algorithm, rows=rows, columns=columns)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as job:
        try:
            assert job.stdout.readline() == "ready\n"
            time.sleep(0.5)  # into the native loop
            job.send_signal(signal.SIGINT)
            output, errors = job.communicate(timeout=10)
        finally:
            job.kill()
    assert output == ""
    assert errors.rstrip().endswith("KeyboardInterrupt")


# Memory


@pytest.mark.parametrize("method", ["complete", "average", "weighted", "minimax"])
def test_pairs_that_do_not_fit_are_refused_before_they_are_allocated(method):
    X = np.zeros((3_000_000, 1))
    with pytest.raises(sb.MemoryLimitError, match=r"of 3000000 objects needs 36 TB .*aggregate first with CFTree"):
        sb.linkage(X, method)


@pytest.mark.parametrize("algorithm", ["agnes", "anderberg"])
def test_algorithms_on_a_matrix_need_memory_for_all_pairs(algorithm, monkeypatch):
    monkeypatch.setattr(linkage_module, "_physical_memory", lambda: 100)
    with pytest.raises(sb.MemoryLimitError, match=r"needs 120 B .*machine has 100 B"):
        sb.linkage(POINTS, "ward", algorithm=algorithm)


@pytest.mark.parametrize("metric", ["cityblock", lambda x, y: abs(x - y).sum()])
def test_other_metrics_need_memory_for_all_pairs(metric, monkeypatch):
    monkeypatch.setattr(linkage_module, "_physical_memory", lambda: 100)
    with pytest.raises(sb.MemoryLimitError, match="needs 120 B"):
        sb.linkage(POINTS, "average", metric)


@pytest.mark.parametrize("data", [POINTS, FEATURES], ids=["points", "features"])
@pytest.mark.parametrize("method", ["ward", "centroid", "median", "single", "medoid"])
def test_linear_linkages_need_no_memory_for_pairs(data, method, monkeypatch):
    monkeypatch.setattr(linkage_module, "_physical_memory", lambda: 0)
    assert len(sb.linkage(data, method)) == 5


def test_averages_of_squared_distances_need_no_memory_for_pairs(monkeypatch):
    monkeypatch.setattr(linkage_module, "_physical_memory", lambda: 0)
    assert len(sb.linkage(POINTS, "average", "sqeuclidean")) == len(sb.linkage(FEATURES, "weighted")) == 5


def test_the_need_for_memory_is_logged(caplog):
    with caplog.at_level(logging.INFO, "silverbirch"):
        sb.linkage(random_points(100), "complete")
    assert "complete linkage of 100 objects: 39.6 kB for the distances of all pairs" in caplog.messages


def test_the_leaves_a_memory_error_proposes_do_fit():
    run = linkage_module.cluster_features
    with pytest.raises(sb.MemoryLimitError, match="leaves 10 kB: lower max_leaves to 50 or raise max_memory"):
        run(random_features(60), "complete", "linkage", "auto", max_memory=10_000)
    assert len(run(random_features(50), "complete", "linkage", "auto", max_memory=10_000)) == 49


@pytest.mark.parametrize("physical", [None, 10**12])
def test_a_memory_that_suffices_or_is_unknown_refuses_nothing(physical, monkeypatch):
    monkeypatch.setattr(linkage_module, "_physical_memory", lambda: physical)
    assert len(sb.linkage(POINTS, "complete")) == 5


def test_what_is_computed_from_a_matrix_with_prototypes_has_none():
    Z = sb.linkage(random_points(20), "minimax")
    for derived in (Z + 1, Z[::-1], Z[:5], np.sqrt(Z)):
        assert getattr(derived, "prototypes", None) is None
