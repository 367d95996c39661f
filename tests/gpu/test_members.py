"""Complete, average and weighted linkage without a matrix of all objects makes the dendrogram of the CPU."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import silverbirch as sb
from gpu_objects import GRID, ROWS, UPDATES, WEIGHTS, assert_greedy, objects_of

pytest.importorskip("torch", reason="torch is not installed")

import torch

from silverbirch.gpu import member_search, members, memory, plain
from silverbirch.gpu.bounds import slack_of, threshold_for
from silverbirch.gpu.matrix import MATRIX_LINKAGES
from silverbirch.gpu.member_rounds import cluster_by_members
from silverbirch.gpu.member_search import MemberSearch
from silverbirch.gpu.rounds import merge_nearest


def linkage_by_members(X, linkage, weight=None, matrix_from=8, buffer_bytes=1 << 24):
    objects = objects_of(X, weight)
    counts = cluster_by_members(objects, linkage, buffer_bytes=buffer_bytes, matrix_from=matrix_from)
    return objects.merges.linkage_matrix(objects.scale), counts


def assert_same(Z, expected):
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9, atol=1e-15 * expected[-1, 2])
    np.testing.assert_array_equal(Z[:, [0, 1, 3]], expected[:, [0, 1, 3]])


# The widest table: 1024 never measures all clusters here, 1 where lists cannot tell.
@pytest.mark.parametrize("widest", [1024, 1])
@pytest.mark.parametrize("linkage", MATRIX_LINKAGES)
@pytest.mark.parametrize("name", ROWS)
def test_same_dendrogram(name, linkage, widest, monkeypatch):
    monkeypatch.setattr(member_search, "_WIDEST", widest)
    Z, counts = linkage_by_members(ROWS[name], linkage, matrix_from=60 if widest == 1 else 1)
    expected = sb.linkage(ROWS[name], linkage)
    if name == "duplicates":
        Z, expected = Z[:, 2:3], expected[:, 2:3]
        np.testing.assert_allclose(Z, expected, rtol=1e-9)
    else:
        assert_same(Z, expected)
    assert counts["unproven"] == 0 or widest < 1024


@pytest.mark.parametrize("widest", [1024, 1])
@pytest.mark.parametrize("linkage", MATRIX_LINKAGES)
def test_weights_over_twelve_orders(linkage, widest, monkeypatch):
    monkeypatch.setattr(member_search, "_WIDEST", widest)
    Z, _ = linkage_by_members(ROWS["normal"], linkage, WEIGHTS)
    assert_same(Z, sb.linkage(ROWS["normal"], linkage, weights=WEIGHTS))


@pytest.mark.parametrize("widest", [1024, 1])
@pytest.mark.parametrize("linkage", MATRIX_LINKAGES)
@pytest.mark.parametrize("rows", [GRID, np.eye(40)], ids=["grid", "equal distances"])
def test_ties_are_merged_in_an_order_that_is_greedy(rows, linkage, widest, monkeypatch):
    monkeypatch.setattr(member_search, "_WIDEST", widest)
    assert_greedy(linkage_by_members(rows, linkage, matrix_from=1)[0], rows, UPDATES[linkage])


@pytest.mark.parametrize("linkage", MATRIX_LINKAGES)
def test_pieces_of_all_sizes_give_the_same(linkage, monkeypatch):
    monkeypatch.setattr(member_search, "_WIDEST", 1)
    monkeypatch.setattr(members, "_RUN", 3)
    monkeypatch.setattr(members, "_TILES", 5)
    X = ROWS["normal"][:150]
    Z, counts = linkage_by_members(X, linkage, buffer_bytes=1 << 16)  # nine objects are measured to all at a time
    assert_same(Z, sb.linkage(X, linkage))
    assert counts["unproven"] > 0


@pytest.mark.parametrize("linkage", MATRIX_LINKAGES)
def test_distances_to_all_clusters_are_those_between_them(linkage):
    search = MemberSearch(objects_of(ROWS["plane"], np.linspace(1, 2, 500)), linkage, 1 << 24)
    for first, second in ((0, 250), (0, 125), (100, 0)):
        slots = torch.arange(100)
        search.merge(slots + first, slots + second) if first != 100 else search.compact()
    alive = search.clusters.alive.nonzero().squeeze(1)
    a, b = torch.triu_indices(len(alive), len(alive), 1)
    between = search.members.between(alive[a], alive[b])
    to_all = torch.cat([distance for _, distance in search.members.to_all(alive, 1 << 20)])
    torch.testing.assert_close(to_all[a, alive[b]], between, rtol=1e-13, atol=0)
    matrix = torch.empty(len(alive), len(alive), dtype=torch.float64)
    search.fill(matrix)
    roots = between if linkage == "complete" else between.sqrt()
    torch.testing.assert_close(matrix[a, b], roots, rtol=1e-13, atol=0)
    assert torch.equal(matrix, matrix.T)


@pytest.mark.parametrize("name", ["normal", "outlier", "tight", "column"])
def test_what_is_beyond_a_threshold_is_beyond_its_reach(name):
    search = MemberSearch(objects_of(ROWS[name]), "complete", 1 << 24)
    slots = torch.arange(50)
    search.merge(slots, slots + 50)
    c, count = search.clusters, len(ROWS[name])
    queries = c.alive[:count].nonzero().squeeze(1)
    everyone = queries.expand(len(queries), -1)
    distance = plain._measured(c, queries, everyone.masked_fill(everyone == queries[:, None], -1))
    extremes = plain.describe(c, 1.0 - slack_of(c.half.shape[1]))
    bounds, _ = plain.minima(c, queries, False, 64)
    for nth in (0, 5, 50):
        reach = distance.sort(1).values[:, nth] * (1 + 1e-9)
        threshold = threshold_for(c, queries, reach, extremes)
        table, counts = plain.candidates(c, queries, bounds, threshold, False, count)
        passed = torch.zeros(len(queries), c.padded + 1, dtype=torch.bool)
        passed.scatter_(1, table.long().where(table >= 0, c.padded), True)
        within = distance < reach[:, None]
        assert bool(passed[:, queries][within].all())
        if name == "normal":
            assert int(counts.sum()) < 1.1 * int(within.sum())


def test_neighbours_in_a_circle_are_merged_at_the_least_distance(monkeypatch):
    """Distances that are equal but for rounding can make each cluster the nearest of another one."""
    search = MemberSearch(objects_of(np.array([[0.0], [1.0], [3.0]])), "complete", 1 << 24)
    c = search.clusters
    search.find(torch.arange(3))
    c.nearest[:3] = torch.tensor([2, 0, 1])
    c.distance[:3] = c.distance[torch.tensor([2, 0, 2])]
    assert merge_nearest(search, first=False) == 1
    assert c.cluster[:3].tolist() == [3, 1, 2]
    assert c.alive[:3].tolist() == [1, 0, 1]


@settings(deadline=None, max_examples=30)
@given(
    X=arrays(np.float64, st.tuples(st.integers(2, 40), st.integers(1, 4)), elements=st.integers(-20, 20)),
    linkage=st.sampled_from(MATRIX_LINKAGES),
    matrix_from=st.integers(1, 10),
)
def test_any_rows_have_a_greedy_dendrogram(X, linkage, matrix_from):
    X = np.unique(X, axis=0)
    assert_greedy(linkage_by_members(X, linkage, matrix_from=matrix_from)[0], X, UPDATES[linkage])


@pytest.mark.parametrize("linkage", MATRIX_LINKAGES)
def test_a_matrix_is_taken_while_it_fits(gpu, linkage, monkeypatch, caplog):
    X = np.random.default_rng(12).normal(size=(1500, 3))
    expected = sb.linkage(X, linkage)
    for free, part in ((memory.needed_bytes("matrix", *X.shape), "scanned"), (30_000_000, "unproven")):
        monkeypatch.setattr(memory, "free_bytes", lambda device, free=free: free)
        caplog.clear()
        with caplog.at_level("INFO", logger="silverbirch"):
            assert_same(sb.linkage(gpu(X), linkage), expected)
        assert f", {part} " in caplog.messages[-1]
