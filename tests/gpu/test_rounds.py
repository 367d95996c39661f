"""Ward, and average and weighted linkage of squares, by rounds: the dendrogram of the CPU, with every search proven."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import silverbirch as sb
from gpu_objects import GRID, ROWS, WEIGHTS, objects_of

pytest.importorskip("torch", reason="torch is not installed")

import torch

from silverbirch.gpu import plain
from silverbirch.gpu.bounds import limits, slack_of
from silverbirch.gpu.clusters import Clusters
from silverbirch.gpu.rounds import cluster_by_rounds

LINKAGES = ["ward", "average", "weighted"]


def linkage_by_rounds(X, linkage, weight=None, device="cpu", **options):
    objects = objects_of(X, weight, device)
    counts = cluster_by_rounds(objects, linkage, **{"matrix_from": 8} | options)
    return objects.merges.linkage_matrix(objects.scale), counts


def expected_linkage(X, linkage, **options):
    Z = sb.linkage(X, linkage, metric="euclidean" if linkage == "ward" else "sqeuclidean", **options)
    if linkage != "ward":
        Z[:, 2] **= 0.5
    return Z


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("name", ROWS)
def test_same_dendrogram(name, linkage):
    X = ROWS[name] - 1e8 if name == "far" else ROWS[name]  # the CPU's means are less exact so far from the origin
    Z, counts = linkage_by_rounds(ROWS[name], linkage)
    expected = expected_linkage(X, linkage)
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9, atol=1e-15 * expected[-1, 2])
    if name != "duplicates":
        np.testing.assert_array_equal(Z[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    assert counts["unproven"] == 0


@pytest.mark.parametrize("linkage", LINKAGES)
def test_weights_over_twelve_orders(linkage):
    Z, _ = linkage_by_rounds(ROWS["normal"], linkage, WEIGHTS)
    expected = expected_linkage(ROWS["normal"], linkage, weights=WEIGHTS)
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9)
    np.testing.assert_array_equal(Z[:, :2], expected[:, :2])


@pytest.mark.parametrize("linkage", LINKAGES)
def test_more_equal_distances_than_a_list_holds(linkage):
    Z, counts = linkage_by_rounds(np.eye(90), linkage, matrix_from=1)
    np.testing.assert_allclose(Z[0, 2], 2**0.5, rtol=1e-12)
    assert sorted(Z[:, :2].ravel()) == list(range(2 * 90 - 2))
    assert counts["unproven"] == 0


def test_equal_distances_are_merged_nearest_first():
    """Of Ward's merges on a grid, each is one of two clusters at the least distance of all."""
    Z, _ = linkage_by_rounds(GRID, "ward")
    clusters = {i: (1.0, x) for i, x in enumerate(GRID)}
    for row, (a, b, height, _) in enumerate(Z):
        weight, mean = (np.array(part) for part in zip(*clusters.values(), strict=True))
        gap = ((mean[:, None] - mean[None]) ** 2).sum(2) * 2 * weight[:, None] * weight / (weight[:, None] + weight)
        np.testing.assert_allclose(height**2, gap[np.triu_indices(len(gap), 1)].min(), rtol=1e-9)
        (weight_a, mean_a), (weight_b, mean_b) = clusters.pop(int(a)), clusters.pop(int(b))
        total = weight_a + weight_b
        clusters[len(GRID) + row] = (total, (weight_a * mean_a + weight_b * mean_b) / total)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_the_matrix_at_the_end_makes_no_difference(linkage):
    without, counts = linkage_by_rounds(ROWS["normal"], linkage, matrix_from=1)
    assert counts["matrix_rounds"] == 0
    with_matrix, counts = linkage_by_rounds(ROWS["normal"], linkage, matrix_from=120)
    assert counts["matrix_rounds"] > 0
    np.testing.assert_array_equal(with_matrix[:, :2], without[:, :2])
    np.testing.assert_allclose(with_matrix[:, 2], without[:, 2], rtol=1e-12)


def test_small_buffers_make_more_batches_and_the_same_dendrogram():
    large, _ = linkage_by_rounds(ROWS["normal"], "ward")
    small, _ = linkage_by_rounds(ROWS["normal"], "ward", buffer_bytes=1)
    np.testing.assert_array_equal(large, small)


def test_crowds_of_nearest_columns_are_counted():
    """In a group much smaller than the rounding of float16 all columns may be nearest."""
    X = np.repeat(np.eye(3) * 1e3, 200, 0) + 1e-3 * np.random.default_rng(0).normal(size=(600, 3))
    Z, counts = linkage_by_rounds(X, "ward")
    assert counts["crowded"] > 300
    np.testing.assert_allclose(Z[:, 2], expected_linkage(X, "ward")[:, 2], rtol=1e-9)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("linkage", LINKAGES)
def test_several_devices_make_the_same_dendrogram_to_the_bit(linkage, ranks, device):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("this machine has no GPU")
    devices = [torch.device(device)] * ranks
    one, counts = linkage_by_rounds(ROWS["plane"], linkage, device=device)
    several, counts_of_ranks = linkage_by_rounds(ROWS["plane"], linkage, device=device, devices=devices)
    np.testing.assert_array_equal(one, several)
    assert counts == counts_of_ranks


@given(
    X=arrays(np.float64, st.tuples(st.integers(2, 40), st.integers(1, 5)), elements=st.floats(-1e3, 1e3, width=32)),
    exponent=st.sampled_from([0, 20, -20, 150]),
    weights=st.none() | st.lists(st.sampled_from([1e-6, 1.0, 3.0, 1e6]), min_size=40, max_size=40),
    linkage=st.sampled_from(LINKAGES),
)
@settings(max_examples=60, deadline=None)
def test_the_nearest_cluster_passes_the_threshold_and_what_does_not_is_beyond_reach(X, exponent, weights, linkage):
    objects = objects_of(X * 2.0**exponent, None if weights is None else np.array(weights[: len(X)]))
    if len(objects) < 2:
        return
    clusters = Clusters(objects, linkage)
    count = len(objects)
    queries = torch.arange(count)
    slack = slack_of(clusters.half.shape[1])
    extremes = plain.describe(clusters, 1 - slack)
    weighted = linkage == "ward" and not clusters.uniform
    bounds, least = plain.minima(clusters, queries, weighted, 64)
    found = limits(clusters, queries, least, extremes, slack)
    everyone = queries.int().expand(count, -1)
    distance = plain._measured(clusters, queries, everyone.masked_fill(everyone == queries[:, None], -1))
    table, _ = plain.candidates(clusters, queries, bounds, found.threshold, weighted, count)
    passed = torch.zeros(count, count + 1, dtype=torch.bool)
    passed.scatter_(1, table.long().where(table >= 0, count), True)
    passed = passed[:, :count]
    assert bool(passed.gather(1, distance.argmin(1, keepdim=True)).all())
    assert bool((distance.amin(1) < found.reach).all())
    assert bool((passed | (distance >= found.reach[:, None])).all())
