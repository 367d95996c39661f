"""Linkage compared with brute force over the points; weights, modes, bits, errors and memory."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import silverbirch as sb
from brute_force import (
    CF_DISTANCES,
    FEATURE_METHODS,
    GREEDY,
    METHODS,
    REDUCIBLE,
    assert_each_merge_is_the_global_minimum,
    definitions,
    features_of,
    few,
    greedy,
    grid_points,
    grouped_points,
    groups_of,
    ignore_square,
    radii,
    random_features,
    random_points,
    singles,
)
from silverbirch import _core

# Every algorithm, against brute force and against each other


@pytest.mark.parametrize(
    ("method", "algorithm"),
    [
        *((method, algorithm) for method in METHODS for algorithm in ("auto", *GREEDY)),
        *((method, "nn_chain") for method in REDUCIBLE),
        ("single", "mst"),
    ],
)
@ignore_square
@given(X=grid_points())
@few
def test_every_merge_is_the_global_minimum_where_the_algorithm_promises_it(method, algorithm, X):
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


@pytest.mark.parametrize("dimensions", [2, 16, 17, 60])
@pytest.mark.parametrize("algorithm", ["nn_chain", "generic", "anderberg"])
def test_minimax_keeps_its_definition_in_any_number_of_columns(dimensions, algorithm):
    X = random_points(250, dimensions, seed=2)  # without ties: two radii may be the same distance
    D, Z = squareform(pdist(X)), sb.linkage(X, "minimax", algorithm=algorithm)
    expected = sb.linkage(pdist(X), "minimax", algorithm="agnes")
    assert_allclose(hierarchy.cophenet(Z), hierarchy.cophenet(expected), rtol=1e-12)
    assert_allclose(Z[:, 2], [radii(D, rows).min() for rows in members_by_row(Z)], rtol=1e-12)


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


def test_what_is_computed_from_a_matrix_with_prototypes_has_none():
    Z = sb.linkage(random_points(20), "minimax")
    for derived in (Z + 1, Z[::-1], Z[:5], np.sqrt(Z)):
        assert getattr(derived, "prototypes", None) is None


# The same bits; arguments are not changed


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
