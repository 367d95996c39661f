"""hdbscan's trees work with silverbirch's single linkage."""

import numpy as np
from hdbscan import HDBSCAN
from sklearn.metrics import adjusted_rand_score

import silverbirch as sb


def test_a_cut_of_the_tree_is_our_cut_with_small_clusters_as_noise(recipe, blobs):
    X, _ = blobs
    page = recipe("hdbscan", X=X)

    ours = sb.Dendrogram(page.Z).cut(height=2.5)
    ours[np.bincount(ours)[ours] < 10] = -1
    assert 0 < (ours == -1).sum() < 100
    np.testing.assert_array_equal(page.labels_at_height == -1, ours == -1)
    assert adjusted_rand_score(page.labels_at_height, ours) == 1


def test_condensed_clusters_are_those_of_hdbscan(recipe, blobs):
    X, _ = blobs
    page = recipe("hdbscan", X=X)

    reference = HDBSCAN(min_cluster_size=10, min_samples=1, approx_min_span_tree=False).fit(X)
    np.testing.assert_allclose(page.Z[:, 2], reference.single_linkage_tree_.to_numpy()[:, 2], rtol=1e-12)
    np.testing.assert_array_equal(page.labels == -1, reference.labels_ == -1)
    assert adjusted_rand_score(page.labels, reference.labels_) == 1
    np.testing.assert_allclose(page.probabilities, reference.probabilities_, rtol=1e-9)
    assert page.labels.max() >= 4


def test_the_trees_draw_and_export(recipe, blobs):
    X, _ = blobs
    page = recipe("hdbscan", X=X)

    axes = page.tree.plot()
    assert axes.get_ylabel() == "distance"
    np.testing.assert_array_equal(page.tree.to_pandas()["distance"], page.Z[:, 2])
    assert page.tree.to_networkx().number_of_nodes() == 2 * len(X) - 1
