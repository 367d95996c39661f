"""Linkage on a matrix in the device's memory makes the dendrogram of the CPU."""

import numpy as np
import pytest

import silverbirch as sb
from gpu_objects import GRID, ROWS, UPDATES, WEIGHTS, assert_greedy, objects_of

pytest.importorskip("torch", reason="torch is not installed")

from silverbirch.gpu import matrix_rounds
from silverbirch.gpu.matrix import MATRIX_LINKAGES, cluster_by_matrix


def linkage_by_matrix(X, linkage, weight=None):
    objects = objects_of(X, weight)
    cluster_by_matrix(objects, linkage)
    return objects.merges.linkage_matrix(objects.scale)


@pytest.mark.parametrize("linkage", MATRIX_LINKAGES)
@pytest.mark.parametrize("name", ROWS)
def test_same_dendrogram(name, linkage):
    Z, expected = linkage_by_matrix(ROWS[name], linkage), sb.linkage(ROWS[name], linkage)
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9, atol=1e-15 * expected[-1, 2])
    if name != "duplicates":
        np.testing.assert_array_equal(Z[:, [0, 1, 3]], expected[:, [0, 1, 3]])


@pytest.mark.parametrize("linkage", MATRIX_LINKAGES)
def test_weights_over_twelve_orders(linkage):
    Z = linkage_by_matrix(ROWS["normal"], linkage, WEIGHTS)
    expected = sb.linkage(ROWS["normal"], linkage, weights=WEIGHTS)
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9)
    np.testing.assert_array_equal(Z[:, :2], expected[:, :2])


@pytest.mark.parametrize("linkage", MATRIX_LINKAGES)
def test_ties_are_merged_in_an_order_that_is_greedy(linkage):
    assert_greedy(linkage_by_matrix(GRID, linkage), GRID, UPDATES[linkage])


def test_one_object_has_no_merges():
    objects = objects_of(np.ones((1, 3)))
    assert cluster_by_matrix(objects, "complete") == {"rounds": 0, "scanned": 0}
    assert objects.merges.count == 0


def test_few_rows_are_scanned_where_one_cluster_is_the_neighbour_of_all(monkeypatch):
    """Normal rows of many columns: the cluster in the middle takes them one by one, and all others lose a neighbour."""
    X = np.random.default_rng(10).normal(size=(300, 200))
    few = linkage_by_matrix(X, "average"), cluster_by_matrix(objects_of(X), "average")
    monkeypatch.setattr(matrix_rounds, "_FEW", 0)
    lazy = linkage_by_matrix(X, "average"), cluster_by_matrix(objects_of(X), "average")
    np.testing.assert_allclose(lazy[0], few[0], rtol=1e-12)
    assert lazy[1]["scanned"] < 6 * len(X) < few[1]["scanned"]
    assert lazy[1]["rounds"] > few[1]["rounds"]
