"""scikit-learn's own tests of AgglomerativeClustering, run with our class in the place of theirs.

Their module is loaded once more while `sklearn.cluster` has our class, and pytest finds its test functions here.
"""

import importlib.util
import inspect

import numpy as np
import pytest
import sklearn.cluster
from scipy.sparse import csr_array
from sklearn.cluster.tests import test_hierarchical as original
from sklearn.utils.estimator_checks import parametrize_with_checks

import silverbirch as sb
from silverbirch import _core

# The tests that need a connectivity matrix, which our class refuses.
ABOUT_CONNECTIVITY = {
    "test_agglomerative_clustering",
    "test_agglomeration_ward_constrained_metric",
    "test_agglomeration_ward_euclidean",
    "test_compute_full_tree",
    "test_connectivity_callable",
    "test_connectivity_fixing_non_lil",
    "test_connectivity_ignores_diagonal",
    "test_connectivity_propagation",
    "test_identical_points",
    "test_precomputed_connectivity_metric_with_2_connected_components",
}
# The tests that use the class with and without connectivity: they run with `grid_to_graph` returning None.
WITHOUT_THEIR_GRID = {
    "test_agglomerative_clustering_distances",
    "test_agglomerative_clustering_with_distance_threshold",
}
# The tests of scikit-learn's functions and of FeatureAgglomeration: none of them mentions the class.
ABOUT_OTHER_CODE = {
    "test_affinity_passed_to_fix_connectivity",
    "test_height_linkage_tree",
    "test_int_float_dict",
    "test_linkage_misc",
    "test_mst_linkage_core_memory_mapped",
    "test_n_components",
    "test_sparse_scikit_vs_scipy",
    "test_structured_linkage_tree",
    "test_unstructured_linkage_tree",
    "test_vector_scikit_single_vs_scipy_single",
    "test_ward_agglomeration",
    "test_ward_linkage_tree_return_distance",
    "test_ward_tree_children_order",
    "test_zero_cosine_linkage_tree",
}
LEFT_OUT = ABOUT_CONNECTIVITY | ABOUT_OTHER_CODE


def with_our_class():
    theirs = sklearn.cluster.AgglomerativeClustering
    spec = importlib.util.spec_from_file_location("hierarchical_with_our_class", original.__file__)
    module = importlib.util.module_from_spec(spec)
    try:
        sklearn.cluster.AgglomerativeClustering = sb.AgglomerativeClustering
        spec.loader.exec_module(module)
    finally:
        sklearn.cluster.AgglomerativeClustering = theirs
    return module


swapped = with_our_class()
THEIRS = {name: test for name, test in inspect.getmembers(swapped, inspect.isfunction) if name.startswith("test_")}
globals().update({name: test for name, test in THEIRS.items() if name not in LEFT_OUT})


@pytest.fixture(params=[0, 42, 99])
def global_random_seed(request):
    """scikit-learn's fixture of this name."""
    return request.param


@pytest.fixture(autouse=True)
def _without_their_grid(request, monkeypatch):
    if request.node.originalname in WITHOUT_THEIR_GRID:
        monkeypatch.setattr(swapped, "grid_to_graph", lambda *shape: None)


def test_their_tests_see_our_class():
    assert swapped.AgglomerativeClustering is sb.AgglomerativeClustering
    assert original.AgglomerativeClustering is not sb.AgglomerativeClustering
    assert len(THEIRS.keys() - LEFT_OUT) >= 9


def test_every_test_that_is_left_out_has_the_reason_it_is_listed_with():
    assert sorted(LEFT_OUT - THEIRS.keys()) == []
    source = {name: inspect.getsource(getattr(original, name)) for name in LEFT_OUT}
    assert [name for name in ABOUT_CONNECTIVITY if "connectivity=" not in source[name]] == []
    assert [name for name in ABOUT_OTHER_CODE if "AgglomerativeClustering" in source[name]] == []


# -- side by side


def rows(n=80, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def both(X, **parameters):
    return [cls(**parameters).fit(X) for cls in (sb.AgglomerativeClustering, sklearn.cluster.AgglomerativeClustering)]


def same_partition(a, b):
    return len(np.unique(np.column_stack([a, b]), axis=0)) == len(np.unique(a)) == len(np.unique(b))


@pytest.mark.parametrize("cut", [{"n_clusters": 1}, {"n_clusters": 7}, {"n_clusters": 80}, {"distance_threshold": 2.0}])
@pytest.mark.parametrize("linkage", ["ward", "complete", "average", "single"])
def test_all_attributes_are_theirs(linkage, cut):
    ours, theirs = both(rows(), linkage=linkage, compute_distances=True, **{"n_clusters": None} | cut)
    np.testing.assert_array_equal(ours.children_, np.sort(theirs.children_, axis=1))
    np.testing.assert_allclose(ours.distances_, theirs.distances_, rtol=1e-12)
    for name in ("n_leaves_", "n_connected_components_", "n_clusters_", "n_features_in_"):
        assert getattr(ours, name) == getattr(theirs, name)
    if linkage == "single":  # their children are in no order there, and the numbers follow the order
        assert same_partition(ours.labels_, theirs.labels_)
    else:
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)


@pytest.mark.parametrize("metric", ["l1", "l2", "manhattan", "cityblock", "cosine", "chebyshev"])
@pytest.mark.parametrize("linkage", ["complete", "average", "single"])
def test_metrics_have_their_names_and_values(metric, linkage):
    ours, theirs = both(rows(), linkage=linkage, metric=metric, n_clusters=5, compute_distances=True)
    np.testing.assert_allclose(ours.distances_, theirs.distances_, rtol=1e-10, atol=1e-12)
    assert same_partition(ours.labels_, theirs.labels_)


@pytest.mark.parametrize("linkage", ["complete", "average", "single", "weighted", "minimax", "medoid"])
def test_a_matrix_and_a_function_that_returns_it_give_the_labels_of_the_metric(linkage):
    X = rows()
    distances = sklearn.metrics.pairwise_distances(X, metric="manhattan")
    expected = sb.AgglomerativeClustering(5, linkage=linkage, metric="l1").fit(X)
    given = sb.AgglomerativeClustering(5, linkage=linkage, metric="precomputed").fit(distances)
    called = sb.AgglomerativeClustering(5, linkage=linkage, metric=sklearn.metrics.pairwise.manhattan_distances).fit(X)
    for model in (given, called):
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_allclose(model.linkage_matrix_, expected.linkage_matrix_, rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("linkage", ["average", "single"])
def test_sparse_rows_give_the_labels_of_dense_ones(linkage, metric):
    X = rows() * (rows(seed=1) > 0) + 0.01
    dense, sparse = (sb.AgglomerativeClustering(5, linkage=linkage, metric=metric).fit(Y) for Y in (X, csr_array(X)))
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    with pytest.raises(TypeError, match="dense data is required"):
        sb.AgglomerativeClustering(5, linkage=linkage, metric="precomputed").fit(csr_array(np.eye(9)))


@pytest.mark.parametrize("linkage", ["centroid", "median", "medoid"])
@pytest.mark.parametrize("threshold", [0.8, 1.0, 1.3])
def test_no_undone_merge_is_within_a_cluster_whatever_the_inversions(linkage, threshold):
    X = rows(200, 2)
    model = sb.AgglomerativeClustering(None, linkage=linkage, distance_threshold=threshold).fit(X)
    assert (np.diff(model.distances_) < 0).any()
    expected = sb.Dendrogram(model.linkage_matrix_).cut(height=np.nextafter(threshold, 0))
    assert same_partition(model.labels_, expected)
    assert model.n_clusters_ == len(np.unique(expected)) > 1


def test_dendrograms_are_stored_in_memory_and_looked_up(tmp_path, monkeypatch):
    X = rows()
    first = sb.AgglomerativeClustering(5, memory=str(tmp_path)).fit(X)
    assert any(tmp_path.rglob("output.pkl"))
    monkeypatch.setattr(_core, "cluster_features", lambda *arguments: pytest.fail("clustered again"))
    again = sb.AgglomerativeClustering(5, memory=str(tmp_path)).fit(X)
    np.testing.assert_array_equal(again.labels_, first.labels_)


def test_distances_go_when_they_are_no_longer_asked_for():
    model = sb.AgglomerativeClustering(5, compute_distances=True).fit(rows())
    assert not hasattr(model.set_params(compute_distances=False).fit(rows()), "distances_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"connectivity": np.eye(80)}, r"connectivity must be None.*sklearn\.cluster\.AgglomerativeClustering"),
        ({"metric": "manhattan"}, "only 'euclidean' and 'l2'"),
        ({"metric": "precomputed"}, "only 'euclidean' and 'l2'"),
        ({"linkage": "centroid", "metric": lambda X: X}, "only 'euclidean' and 'l2'"),
        ({"linkage": "radius"}, "linkage='radius'"),
        ({"n_clusters": 81}, "n_clusters=81 but there are 80 rows"),
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_clusters": None, "distance_threshold": -1.0}, "distance_threshold=-1.0"),
        ({"linkage": "average", "metric": lambda X: X}, "should be square"),
    ],
)
def test_what_is_wrong_is_refused_by_name(parameters, message):
    with pytest.raises(ValueError, match=message):
        sb.AgglomerativeClustering(**parameters).fit(rows())


@parametrize_with_checks(
    [sb.AgglomerativeClustering(), sb.AgglomerativeClustering(linkage="average", metric="manhattan", n_clusters=3)]
)
def test_the_class_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
