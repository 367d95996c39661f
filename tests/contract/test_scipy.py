"""`silverbirch.linkage` agrees with scipy and fastcluster, and scipy and seaborn accept its Z."""

import inspect
import warnings

import fastcluster
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

import leaf_orders
import silverbirch as sb

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
ANY_METRIC = ("single", "complete", "average", "weighted")
rng = np.random.default_rng(20240607)

UNTIED = {
    "random": rng.normal(size=(120, 4)),
    "one column": rng.normal(size=(90, 1)),
    "high-dimensional": rng.normal(size=(60, 200)),
    "two objects": rng.normal(size=(2, 3)),
    "float32": rng.normal(size=(80, 5)).astype(np.float32),
    "integers": rng.integers(-(10**6), 10**6, size=(70, 3)),
    "far apart": rng.normal(size=(50, 2)) * np.logspace(-6, 6, 50)[:, None],
    "not contiguous": np.asfortranarray(rng.normal(size=(120, 8)))[::2, 1::2],
    "condensed": pdist(rng.normal(size=(80, 3))),
    "condensed, no metric": rng.uniform(0.1, 1.0, size=60 * 59 // 2),
}
POINTS = rng.normal(size=(60, 3))
FEATURES = sb.ClusterFeatures(rng.integers(1, 9, size=60), POINTS, rng.uniform(0, 0.1, size=60))
OURS = [(data, method) for method in METHODS for data in ("points", "features")]
OURS += [("points", "minimax"), ("points", "medoid"), ("features", "minimax"), ("features", "medoid")]


@pytest.fixture(params=OURS, ids=" ".join)
def Z(request):
    data, method = request.param
    return sb.linkage(POINTS if data == "points" else FEATURES, method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("data", UNTIED)
def test_linkage_is_scipys_where_nothing_is_tied(data, method):
    expected = hierarchy.linkage(UNTIED[data], method)
    assert_allclose(sb.linkage(UNTIED[data], method), expected, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_duplicates_merge_first_and_the_rest_is_scipys(method):
    X = np.repeat(rng.normal(size=(30, 3)), rng.integers(1, 5, size=30), axis=0)
    X = X[rng.permutation(len(X))]
    Z, expected = sb.linkage(X, method), hierarchy.linkage(X, method)
    assert (Z[: len(X) - 30, 2] == 0).all()
    assert_allclose(hierarchy.cophenet(Z), hierarchy.cophenet(expected), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_single_linkage_heights_are_scipys_on_a_grid_full_of_ties(columns):
    X = rng.integers(0, 5, size=(100, columns))
    assert_allclose(hierarchy.cophenet(sb.linkage(X)), hierarchy.cophenet(hierarchy.linkage(X)), rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_identical_rows_give_a_tree_of_height_zero(method):
    Z = sb.linkage(np.full((20, 3), 7.25), method)
    assert (Z[:, 2] == 0).all()
    assert hierarchy.is_valid_linkage(Z)


@pytest.mark.parametrize("method", METHODS)
def test_two_points_merge_at_their_euclidean_distance(method):
    assert_allclose(sb.linkage([[0.0, 0.0], [3.0, 4.0]], method), [[0, 1, 5, 2]], rtol=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_a_far_origin_gives_the_same_tree(method):
    X = np.round(rng.normal(size=(60, 3)) * 2**20) / 2**20  # exact at 1e8 too
    assert_allclose(sb.linkage(X + 1e8, method), hierarchy.linkage(X, method), rtol=1e-5)


def test_positional_parameters_are_scipys():
    ours, theirs = (list(inspect.signature(f).parameters.values()) for f in (sb.linkage, hierarchy.linkage))
    assert [(p.name, p.default) for p in ours[:4]] == [(p.name, p.default) for p in theirs[:4]]
    ordered = sb.linkage(POINTS, "average", "cityblock", True)
    expected = hierarchy.linkage(POINTS, "average", "cityblock", True)
    assert_ordered_at_least_as_well_as_by_scipy(ordered, expected, pdist(POINTS, "cityblock"))


def test_parameters_can_be_named_as_in_scipy():
    arguments = {"y": POINTS, "method": "average", "metric": "cityblock", "optimal_ordering": False}
    assert_allclose(sb.linkage(**arguments), hierarchy.linkage(**arguments), rtol=1e-9)
    assert_allclose(sb.linkage(y=POINTS), hierarchy.linkage(y=POINTS), rtol=1e-9)
    assert_allclose(sb.linkage(y=pdist(POINTS)), hierarchy.linkage(y=pdist(POINTS)), rtol=1e-9)


@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "cityblock", "chebyshev", "correlation"])
@pytest.mark.parametrize("method", ANY_METRIC)
def test_any_metric_of_pdist_gives_scipys_tree(method, metric):
    assert_allclose(sb.linkage(POINTS, method, metric), hierarchy.linkage(POINTS, method, metric), rtol=1e-9)


@pytest.mark.parametrize("method", ANY_METRIC)
def test_a_callable_metric_gives_scipys_tree(method):
    def largest_gap(x, y):
        return abs(x - y).max()

    assert_allclose(sb.linkage(POINTS, method, largest_gap), hierarchy.linkage(POINTS, method, "chebyshev"), rtol=1e-9)


@pytest.mark.parametrize("metric", ["cosine", "sqeuclidean", lambda x, y: 1.0])
@pytest.mark.parametrize("method", ["centroid", "median", "ward"])
def test_methods_defined_on_euclidean_distances_refuse_other_metrics(method, metric):
    with pytest.raises(ValueError, match=f"metric=.*{method}.*only 'euclidean'"):
        sb.linkage(POINTS, method, metric)


def assert_ordered_at_least_as_well_as_by_scipy(ordered, expected, distances):
    """The same merges, in an order of leaves that costs no more; scipy's is often not optimal (scipy issue 11227)."""
    assert_array_equal(np.sort(ordered[:, :2]), np.sort(expected[:, :2]))
    assert_allclose(ordered[:, 2:], expected[:, 2:], rtol=1e-9)
    ours, theirs = (leaf_orders.cost(hierarchy.leaves_list(np.asarray(Z)), distances) for Z in (ordered, expected))
    assert ours <= theirs * (1 + 1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("data", [POINTS, pdist(POINTS), POINTS[:2]], ids=["points", "condensed", "two points"])
def test_optimal_ordering_costs_no_more_than_scipys(data, method):
    ordered, expected = (linkage(data, method, optimal_ordering=True) for linkage in (sb.linkage, hierarchy.linkage))
    assert_ordered_at_least_as_well_as_by_scipy(ordered, expected, data if data.ndim == 1 else pdist(data))


@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "cityblock"])
@pytest.mark.parametrize("method", ANY_METRIC)
def test_optimal_ordering_uses_the_metric_of_the_linkage(method, metric):
    expected = hierarchy.linkage(POINTS, method, metric, True)
    ordered = sb.linkage(POINTS, method, metric, True)
    assert_ordered_at_least_as_well_as_by_scipy(ordered, expected, pdist(POINTS, metric))


@pytest.mark.parametrize("method", ["ward", "median", "minimax", "medoid"])
def test_optimal_ordering_of_features_is_that_of_their_means(method):
    expected = hierarchy.optimal_leaf_ordering(np.array(sb.linkage(FEATURES, method)), FEATURES.mean)
    ordered = sb.linkage(FEATURES, method, optimal_ordering=True)
    assert_ordered_at_least_as_well_as_by_scipy(ordered, expected, pdist(FEATURES.mean))


SQUARE = abs(POINTS[:, :1] - POINTS[:, 0])
ROUNDING = 1e-12 * rng.uniform(size=SQUARE.shape)


def warnings_of(function, *arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments)
    return result, [warning.category for warning in caught]


@pytest.mark.parametrize(
    "rows",
    [SQUARE, SQUARE + ROUNDING, SQUARE - 1, SQUARE + np.eye(60), SQUARE * SQUARE[0], SQUARE[:, 1:]],
    ids=["distances", "rounded", "negative", "diagonal", "not symmetric", "not square"],
)
def test_points_that_look_like_a_distance_matrix_warn_where_scipy_warns(rows):
    (Z, ours), (expected, theirs) = (warnings_of(f, rows) for f in (sb.linkage, hierarchy.linkage))
    assert ours == theirs
    assert set(ours) <= {hierarchy.ClusterWarning}
    assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9, atol=1e-12)


def test_the_warning_names_the_callers_line_and_the_remedy():
    with pytest.warns(hierarchy.ClusterWarning, match="squareform") as caught:
        sb.linkage(SQUARE)
    assert caught[0].filename == __file__


NEGATIVE = rng.uniform(-1.0, 1.0, size=45)
NEGATIVE[:7] = 1.0, 0.5, 0.25, 0.75, 1.0, 0.5, -1.0


@pytest.mark.parametrize("method", ["centroid", "median"])
def test_negative_distances_are_refused_where_scipy_refuses_them(method):
    for linkage in (hierarchy.linkage, sb.linkage):
        with pytest.raises(ValueError):
            linkage(NEGATIVE, method)


@pytest.mark.parametrize("method", [*ANY_METRIC, "ward"])
def test_negative_distances_are_refused_where_scipys_tree_would_be_invalid(method):
    with np.errstate(invalid="ignore"):
        assert not hierarchy.is_valid_linkage(hierarchy.linkage(NEGATIVE, method))
    with pytest.raises(ValueError, match=r"y holds distance -1\.0 at position 6"):
        sb.linkage(NEGATIVE, method)


def test_a_metric_that_gives_negative_distances_is_refused():
    with pytest.raises(ValueError, match=r"gave distance -1\.0 at position 0: .*not negative"):
        sb.linkage(POINTS, "average", lambda x, y: -1.0)


@pytest.mark.parametrize("method", METHODS)
def test_fastcluster_gives_the_same_heights_and_tree(method):
    expected = fastcluster.linkage(UNTIED["random"], method)
    assert_allclose(sb.linkage(UNTIED["random"], method), expected, rtol=1e-9)


@pytest.mark.parametrize("method", ["single", "centroid", "median", "ward"])
def test_fastclusters_memory_saving_linkage_gives_the_same(method):
    expected = fastcluster.linkage_vector(UNTIED["random"], method)
    assert_allclose(sb.linkage(UNTIED["random"], method), expected, rtol=1e-9)


def test_every_result_is_valid_for_scipy(Z):
    assert Z.dtype == np.float64
    assert hierarchy.is_valid_linkage(Z, throw=True)
    assert hierarchy.num_obs_linkage(Z) == 60


def test_the_fourth_column_counts_leaves_whatever_they_weigh(Z):
    size = np.ones(60 + len(Z))
    for i, (a, b, _, count) in enumerate(np.asarray(Z)):
        size[60 + i] = size[int(a)] + size[int(b)]
        assert count == size[60 + i]


@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_fcluster_and_leaders_agree_on_the_clusters(Z, count):
    labels = hierarchy.fcluster(Z, count, "maxclust")
    _, names = hierarchy.leaders(Z, labels)
    assert len(set(labels)) <= count
    assert_array_equal(np.sort(names), np.unique(labels))


def test_dendrogram_draws_every_leaf_once(Z):
    drawn = hierarchy.dendrogram(Z, no_plot=True)
    assert sorted(drawn["leaves"]) == list(range(60))


def test_cophenet_finds_the_heights_of_z_and_no_others(Z):
    assert set(hierarchy.cophenet(Z)) == set(np.asarray(Z)[:, 2])


def test_inconsistent_describes_every_merge(Z):
    described = hierarchy.inconsistent(Z)
    assert described.shape == (59, 4)
    assert np.isfinite(described).all()


def test_clustermap_orders_rows_by_our_tree(Z):
    plt = pytest.importorskip("matplotlib.pyplot")
    seaborn = pytest.importorskip("seaborn")
    plt.switch_backend("Agg")
    grid = seaborn.clustermap(pd.DataFrame(POINTS), row_linkage=Z, col_cluster=False)
    plt.close("all")
    assert_array_equal(grid.dendrogram_row.reordered_ind, hierarchy.leaves_list(Z))
