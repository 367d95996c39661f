"""Single linkage by Borůvka's rounds has the heights of the CPU's, and a minimum spanning tree behind them."""

import numpy as np
import pytest

import silverbirch as sb
from gpu_objects import GRID, ROWS, WEIGHTS, objects_of

pytest.importorskip("torch", reason="torch is not installed")

import torch

from silverbirch.gpu.neighbours import nearest_outside
from silverbirch.gpu.single import cluster_single


def single(X, weight=None):
    objects = objects_of(X, weight)
    counts = cluster_single(objects)
    return objects.merges.linkage_matrix(objects.scale), counts


@pytest.mark.parametrize("name", ROWS)
def test_same_dendrogram(name):
    Z, expected = single(ROWS[name])[0], sb.linkage(ROWS[name], "single")
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9, atol=1e-15 * expected[-1, 2])
    if name not in ("duplicates", "chain"):
        np.testing.assert_array_equal(Z[:, [0, 1, 3]], expected[:, [0, 1, 3]])


def test_ties():
    Z, _ = single(GRID)
    np.testing.assert_allclose(Z[:, 2], 1.0, rtol=1e-12)
    assert Z[-1, 3] == len(GRID)


def test_weights_do_not_matter():
    np.testing.assert_array_equal(single(ROWS["normal"], WEIGHTS)[0], single(ROWS["normal"])[0])


def test_groups_farther_apart_than_lists_see():
    """Within a group of 40 objects all neighbours that are known lie in the group."""
    generator = np.random.default_rng(8)
    X = 100.0 * generator.normal(size=(12, 5)).repeat(40, 0) + generator.normal(size=(480, 5))
    Z, counts = single(X)
    np.testing.assert_allclose(Z[:, 2], sb.linkage(X, "single")[:, 2], rtol=1e-9)
    assert counts["searches"] > 0


def test_one_object_has_no_merges():
    assert single(np.ones((1, 3)))[1] == {"rounds": 0, "searches": 0}


@pytest.mark.parametrize("name", ["normal", "tight", "outlier"])
def test_nearest_outside(name):
    mean = objects_of(ROWS[name]).mean
    generator = np.random.default_rng(9)
    label = torch.from_numpy(generator.integers(4, size=len(mean)))
    queries = torch.arange(0, len(mean), 3)
    distances = (mean[queries, None] - mean).square().sum(2).masked_fill(label[queries, None] == label, torch.inf)
    least, nearest = distances.min(1)
    bound = torch.where(queries % 2 == 0, torch.inf, least)
    distance, row = nearest_outside(mean, queries, label, bound)
    np.testing.assert_array_equal(distance[::2], least[::2])
    np.testing.assert_array_equal(row[::2], nearest[::2])
    assert (row[1::2] == -1).all()  # nothing is nearer than the bound
    assert torch.isinf(distance[1::2]).all()
