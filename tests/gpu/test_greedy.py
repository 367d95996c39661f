"""Greedy clustering by means makes the dendrogram of the CPU, inversions included."""

import numpy as np
import pytest

import silverbirch as sb
from gpu_objects import GRID, ROWS, WEIGHTS, objects_of

pytest.importorskip("torch", reason="torch is not installed")

from silverbirch.gpu.greedy import GREEDY_LINKAGES, cluster_greedily


def linkage_greedily(X, linkage, weight=None):
    objects = objects_of(X, weight)
    cluster_greedily(objects, linkage)
    return objects.merges.linkage_matrix(objects.scale, monotone=False)


@pytest.mark.parametrize("linkage", GREEDY_LINKAGES)
@pytest.mark.parametrize("name", ROWS)
def test_same_dendrogram(name, linkage):
    X = ROWS[name]
    # Far from the origin the CPU's merged means are rounded to what a coordinate is there.
    Z, expected = linkage_greedily(X, linkage), sb.linkage(X - 1e8 if name == "far" else X, linkage)
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9, atol=1e-15 * expected[-1, 2])
    if name != "duplicates":
        np.testing.assert_array_equal(Z[:, [0, 1, 3]], expected[:, [0, 1, 3]])


@pytest.mark.parametrize("linkage", GREEDY_LINKAGES)
def test_weights_over_twelve_orders(linkage):
    Z = linkage_greedily(ROWS["normal"], linkage, WEIGHTS)
    expected = sb.linkage(ROWS["normal"], linkage, weights=WEIGHTS)
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9)
    np.testing.assert_array_equal(Z[:, :2], expected[:, :2])


def test_inversions_are_kept():
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])
    Z = linkage_greedily(triangle, "centroid")
    np.testing.assert_allclose(Z[:, 2], [1.0, 0.9])


@pytest.mark.parametrize("linkage", GREEDY_LINKAGES)
def test_ties_are_merged_in_an_order_that_is_greedy(linkage):
    """Every merge is one of two means at the least distance."""
    mean, weight, cluster = GRID.copy(), np.ones(len(GRID)), list(range(len(GRID)))
    for row, (a, b, height, _) in enumerate(linkage_greedily(GRID, linkage)):
        a, b = cluster.index(a), cluster.index(b)
        distance = np.linalg.norm(mean[:, None] - mean[None], axis=2)
        np.fill_diagonal(distance, np.inf)
        np.testing.assert_allclose([height, distance[a, b]], distance.min(), rtol=1e-9, atol=1e-12)
        share = 0.5 if linkage == "median" else weight[b] / (weight[a] + weight[b])
        mean[a] += (mean[b] - mean[a]) * share
        weight[a] += weight[b]
        cluster[a] = len(GRID) + row
        mean, weight = np.delete(mean, b, 0), np.delete(weight, b)
        del cluster[b]


def test_one_object_has_no_merges():
    objects = objects_of(np.ones((1, 3)))
    assert cluster_greedily(objects, "centroid") == {"searched": 0}
