"""Cosine and correlation: scipy's heights, from unit rows and in linear memory."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy
from scipy.spatial.distance import cdist, pdist, squareform

import leaf_orders
import silverbirch as sb
from brute_force import few, ignore_square, linkage_module
from silverbirch.directions import directions
from silverbirch.linkage import job as linkage_job

METHODS = ("single", "complete", "average", "weighted")
EUCLIDEAN_METHODS = ("ward", "centroid", "median")
METRIC = pytest.mark.parametrize("metric", ["cosine", "correlation"])
METHOD = pytest.mark.parametrize("method", METHODS)

ROWS = arrays(np.float64, st.tuples(st.integers(2, 25), st.integers(2, 5)), elements=st.integers(-3, 3).map(float))
rng = np.random.default_rng(0)
POINTS = rng.normal(1, 1, (150, 12))
PAIRS = np.concatenate([POINTS[:90], POINTS[:30] * rng.uniform(0.1, 9, (30, 1)), POINTS[30:60] + 1e-9, POINTS[60:90]])
NEAR = np.concatenate([PAIRS, POINTS[:60] + 1e-9])


def unit_features(X, metric, size=3):
    """Features of `size` neighbouring unit rows each."""
    unit, _ = directions(X, metric)
    groups = unit[: len(unit) // size * size].reshape(-1, size, X.shape[1])
    mean = groups.mean(axis=1)
    return sb.ClusterFeatures(size, mean, ((groups - mean[:, None]) ** 2).sum(axis=(1, 2))), groups


def assert_scipys_heights(X, method, metric, **arguments):
    heights = sb.linkage(X, method, metric, **arguments)[:, 2]
    assert_allclose(heights, hierarchy.linkage(pdist(X, metric), method)[:, 2], rtol=0, atol=1e-12)


@METRIC
@METHOD
@pytest.mark.parametrize(
    "X",
    [
        POINTS,
        PAIRS,
        NEAR,
        POINTS * 1e-7,
        POINTS * np.logspace(-3, 6, 150)[:, None],
        POINTS + 1e7,
        rng.normal(size=(40, 800)),
    ],
    ids=["points", "pairs", "near duplicates", "tiny", "lengths", "offset", "many columns"],
)
def test_heights_are_scipys(X, method, metric):
    if method == "weighted" and X is NEAR:
        return  # its heights depend on the order of merges at distance zero, which is rounding in scipy
    assert_scipys_heights(X, method, metric)


@ignore_square
@few
@given(X=ROWS)
def test_heights_are_scipys_for_rows_with_many_equal_distances(X):
    for metric in ("cosine", "correlation"):
        usable = X[~directions(X, metric)[1]]
        assume(len(usable) > 1)
        assert_scipys_heights(usable, "single", metric)  # for others the order of equal distances matters


@METRIC
@METHOD
@few
@given(
    seed=st.integers(0, 2**32),
    shape=st.tuples(st.integers(2, 60), st.integers(3, 30)),
    spread=st.floats(-4, 4),
    offset=st.floats(-1e7, 1e7),  # beyond 1e8, scipy's correlation loses digits to the rounding of the mean
)
def test_heights_are_scipys_at_any_scale(method, metric, seed, shape, spread, offset):
    assert_scipys_heights((np.random.default_rng(seed).normal(size=shape) + offset) * 10**spread, method, metric)


@METRIC
@METHOD
def test_the_tree_is_scipys(method, metric):
    Z = sb.linkage(POINTS, method, metric)
    expected = hierarchy.linkage(pdist(POINTS, metric), method)
    assert_array_equal(Z[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    assert hierarchy.is_valid_linkage(Z)


@METRIC
@pytest.mark.parametrize("algorithm", ["rounds", "agnes", "nn_chain", "anderberg", "generic"])
@pytest.mark.parametrize("method", ["complete", "average", "weighted"])
def test_every_algorithm_gives_the_same_heights(method, algorithm, metric):
    assert_scipys_heights(POINTS, method, metric, algorithm=algorithm)


@METRIC
@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
def test_weights_are_repetitions(method, metric):
    weight = rng.integers(0, 4, 40)
    X = POINTS[:40]
    repeated = X[np.repeat(np.arange(40), weight)]
    heights = sb.linkage(X, method, metric, weights=weight)[:, 2]
    among_others = sb.linkage(repeated, method, metric)[:, 2][-len(heights) :]
    assert_allclose(heights, among_others, rtol=0, atol=1e-12)


@METRIC
@pytest.mark.parametrize("method", ["minimax", "medoid"])
def test_prototypes_are_those_of_the_distances(method, metric):
    Z, expected = sb.linkage(POINTS, method, metric), sb.linkage(pdist(POINTS, metric), method)
    assert_allclose(Z, expected, rtol=0, atol=1e-12)
    assert_array_equal(Z.prototypes, expected.prototypes)


@METRIC
@pytest.mark.parametrize("X", [POINTS[:60], sb.ClusterFeatures(1, directions(POINTS[:60], "correlation")[0], 0)])
def test_leaves_can_be_ordered(X, metric):
    distances = pdist(X.mean if isinstance(X, sb.ClusterFeatures) else X, metric)
    Z = sb.linkage(X, "average", metric)
    ordered = hierarchy.leaves_list(sb.linkage(X, "average", metric, True))
    assert_allclose(leaf_orders.cost(ordered, distances), leaf_orders.least_cost(Z, distances), rtol=1e-12)


@pytest.mark.parametrize("name", ["cos", "Cosine"])
def test_scipys_other_names_of_a_metric_take_the_same_way(name):
    assert_array_equal(sb.linkage(POINTS, "average", name), sb.linkage(POINTS, "average", "cosine"))


@METRIC
@pytest.mark.parametrize("scale", [1e-200, 1e98])
def test_the_length_of_rows_does_not_matter(metric, scale):
    expected = sb.linkage(POINTS, "average", metric)
    assert_allclose(sb.linkage(POINTS * scale, "average", metric), expected, rtol=0, atol=1e-12)


def test_rows_that_differ_by_a_factor_or_an_offset_merge_at_zero():
    rows = np.concatenate([POINTS[:5], POINTS[:5] * 4])  # scaling by a power of two is exact
    assert (sb.linkage(rows, "average", "cosine")[:5, 2] == 0).all()
    rows = np.concatenate([POINTS[:5], POINTS[:5] * 3 + 2])
    assert (sb.linkage(rows, "complete", "correlation")[:5, 2] < 1e-28).all()


@METRIC
def test_float32_rows_are_scaled_in_float64(metric):
    X = POINTS.astype(np.float32)
    assert_array_equal(sb.linkage(X, "average", metric), sb.linkage(X.astype(np.float64), "average", metric))


def test_rows_without_a_direction_are_refused_with_their_number():
    X = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 1.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match=r"y: row 1 is zero in every column: .*'cosine'.*drop such rows"):
        sb.linkage(X, "average", "cosine")
    with pytest.raises(ValueError, match="y: row 3 is zero"):
        sb.linkage(X, "average", "cosine", weights=[0, 0, 1, 1])
    assert len(sb.linkage(X, "average", "cosine", weights=[1, 0, 1, 0])) == 1
    with pytest.raises(ValueError, match=r"y: row 0 is constant: .*'correlation'"):
        sb.linkage([[0.1, 0.1, 0.1], [1, 2, 3]], "average", "correlation")


@METRIC
@pytest.mark.parametrize("method", EUCLIDEAN_METHODS)
def test_euclidean_linkages_are_refused_as_by_scipy_and_betula_is_named(method, metric):
    with pytest.raises(ValueError, match="requires the distance metric to be Euclidean"):
        hierarchy.linkage(POINTS, method, metric)
    for data in (POINTS, unit_features(POINTS, metric)[0]):
        with pytest.raises(ValueError, match=rf"only 'euclidean' .*Betula\(metric='{metric}'\) allows it on unit rows"):
            sb.linkage(data, method, metric)


@METRIC
@METHOD
def test_no_matrix_is_made(method, metric, monkeypatch):
    monkeypatch.setattr(linkage_job, "free_memory", lambda: 0)
    X = rng.normal(size=(300, 6))
    assert len(sb.linkage(X, method, metric)) == 299
    assert len(sb.linkage(unit_features(rng.normal(size=(900, 6)), metric)[0], method, metric)) == 299


def test_medoid_and_minimax_take_the_memory_that_they_announce(monkeypatch):
    for method in ("medoid", "minimax"):
        monkeypatch.setattr(linkage_job, "free_memory", lambda: 4 * 150 * 149)
        assert len(sb.linkage(POINTS, method, "cosine")) == 149
        monkeypatch.setattr(linkage_job, "free_memory", lambda: 4 * 150 * 149 - 1)
        with pytest.raises(sb.MemoryLimitError, match="'average' and 'weighted' need memory for the objects alone"):
            sb.linkage(POINTS, method, "cosine")


# Cluster features


@METRIC
@METHOD
def test_features_of_single_rows_are_points(method, metric):
    features = sb.ClusterFeatures(1, directions(POINTS, metric)[0], 0)
    assert_allclose(sb.linkage(features, method, metric), sb.linkage(POINTS, method, metric), rtol=0, atol=1e-12)


@METRIC
def test_the_distance_of_features_is_the_mean_distance_of_their_rows(metric):
    features, groups = unit_features(POINTS, metric)
    Z = sb.linkage(features, "average", metric)
    for method, mean in (("average", np.mean), ("weighted", np.mean)):
        between = [[mean(cdist(a, b, metric)) for b in groups] for a in groups]
        expected = hierarchy.linkage(squareform(between, checks=False), method)
        assert_allclose(sb.linkage(features, method, metric)[:, 2], expected[:, 2], rtol=0, atol=1e-12)
    assert hierarchy.is_valid_linkage(Z)


@METRIC
@pytest.mark.parametrize("method", ["single", "complete", "minimax", "medoid"])
def test_linkages_of_centres_use_their_directions(method, metric):
    features, _ = unit_features(POINTS, metric)
    expected = sb.linkage(features.mean, method, metric, weights=features.weight)
    assert_allclose(sb.linkage(features, method, metric), expected, rtol=0, atol=1e-12)


@METRIC
@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
def test_mode_centers_uses_the_directions_of_the_means_without_weights(method, metric):
    features, _ = unit_features(POINTS, metric)
    expected = sb.linkage(features.mean, method, metric)
    assert_allclose(sb.linkage(features, method, metric, mode="centers"), expected, rtol=0, atol=1e-12)


def test_features_of_other_rows_are_refused():
    with pytest.raises(ValueError, match=r"feature 0 is not of unit rows: .*is 4 and must be 1; .*Betula"):
        sb.linkage(sb.ClusterFeatures(1, [[2.0, 0.0], [0.0, 1.0]], 0), "average", "cosine")
    with pytest.raises(ValueError, match=r"feature 1 is not of unit rows"):
        sb.linkage(sb.ClusterFeatures(2, [[1.0, 0.0], [0.0, 1.0]], [0, 1]), "average", "cosine")
    unit = sb.ClusterFeatures(1, [[1.0, 0.0], [0.0, 1.0]], 0)
    assert len(sb.linkage(unit, "average", "cosine")) == 1
    with pytest.raises(ValueError, match=r"feature 0 is not of centred rows: .*sum to 1 and must sum to 0"):
        sb.linkage(unit, "average", "correlation")


@METRIC
def test_features_of_rows_that_were_scaled_in_float32_are_taken(metric):
    unit, _ = directions(POINTS.astype(np.float32), metric)
    features = sb.ClusterFeatures(1, unit, 0)
    assert_allclose(sb.linkage(features, "average", metric), sb.linkage(POINTS, "average", metric), atol=1e-6)


def test_a_centre_without_a_direction_is_refused_only_where_it_needs_one():
    features = sb.ClusterFeatures([2, 1, 1], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [2, 0, 0])
    assert_allclose(sb.linkage(features, "average", "cosine")[:, 2], [1, 1])
    for arguments in ({"method": "single"}, {"method": "average", "mode": "centers"}):
        with pytest.raises(ValueError, match=r"the mean of feature 0 is zero: .*use method='average' or 'weighted'"):
            sb.linkage(features, metric="cosine", **arguments)


@METRIC
@pytest.mark.parametrize("mode", ["linkage", "centers", "aggregation"])
@pytest.mark.parametrize("method", EUCLIDEAN_METHODS)
def test_models_may_use_euclidean_linkages_with_euclidean_heights(method, mode, metric):
    if (method, mode) == ("median", "aggregation"):
        return  # no CF distance
    features, _ = unit_features(POINTS, metric)
    Z = linkage_module.cluster_features(features, method, mode, "auto", metric=metric)
    if mode == "centers":
        features = sb.ClusterFeatures(1, directions(features.mean, metric)[0], 0)
    assert_allclose(Z, sb.linkage(features, method, mode="linkage" if mode == "centers" else mode), atol=1e-12)


def test_aggregation_of_models_by_average_is_average_linkage():
    features, _ = unit_features(POINTS, "cosine")
    by_mode = [
        linkage_module.cluster_features(features, "average", mode, "auto", metric="cosine")
        for mode in ("linkage", "aggregation")
    ]
    assert_allclose(*by_mode, atol=1e-12)
