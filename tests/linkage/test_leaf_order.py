"""`leaf_order`: the least sum of distances of neighbours, by brute force; and orders that are nearly as good."""

import importlib
import logging

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

import leaf_orders
import silverbirch as sb
from brute_force import METHODS
from silverbirch import _core

ordering = importlib.import_module("silverbirch.linkage.ordering")
job = importlib.import_module("silverbirch.linkage.job")

rng = np.random.default_rng(0)
POINTS = rng.normal(size=(200, 3))
Z = sb.linkage(POINTS, "average")
EXACT = pytest.mark.parametrize("exact", [True, False, None])


def points_of(kind, count, seed):
    """Points in general position, with many ties, or on a line, where single linkage makes chains."""
    random = np.random.default_rng(seed)
    if kind == "ties":
        return random.integers(0, 3, size=(count, 2)).astype(float)
    if kind == "chain":
        return np.cumsum(np.arange(count) + random.uniform(size=count))[:, None]
    return random.normal(size=(count, 2))


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(METHODS),
    st.sampled_from(["general", "ties", "chain"]),
    st.integers(2, 8),
    st.integers(0, 2**32 - 1),
)
def test_no_order_of_the_dendrogram_costs_less(method, kind, count, seed):
    X = points_of(kind, count, seed)
    Z, distances = sb.linkage(X, method), pdist(X)
    orders = leaf_orders.every_order(Z)
    order = sb.leaf_order(Z, X, exact=True)
    assert tuple(order.tolist()) in orders
    least = min(leaf_orders.cost(np.array(other), distances) for other in orders)
    assert_allclose(leaf_orders.cost(order, distances), least, rtol=1e-12, atol=1e-12)
    # So few leaves may all be ends, and then nothing is left out.
    assert_allclose(leaf_orders.cost(sb.leaf_order(Z, X, exact=False), distances), least, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["general", "ties", "chain"])
def test_the_cost_is_the_least_one_by_the_definition(method, kind):
    X = points_of(kind, 45, 1)
    Z, distances = sb.linkage(X, method), pdist(X)
    least = leaf_orders.least_cost(Z, distances)
    for y in (X, distances):
        assert_allclose(leaf_orders.cost(sb.leaf_order(Z, y, exact=True), distances), least, rtol=1e-12)


@pytest.mark.parametrize("instruction_set", _core.supported_instruction_sets())
@pytest.mark.parametrize("method", ["single", "ward"])
def test_threads_and_instruction_sets_change_nothing(method, instruction_set):
    X = rng.normal(size=(700, 5))  # several strips of rows, and tiles that are not full
    Z = sb.linkage(X, method)
    used = _core.instruction_set()
    try:
        expected = [sb.leaf_order(Z, X, exact) for exact in (True, False)]
        _core.use_instruction_set(instruction_set)
        for exact, order in zip((True, False), expected, strict=True):
            assert_array_equal(sb.leaf_order(Z, X, exact, n_jobs=3), order)
    finally:
        _core.use_instruction_set(used)


@pytest.mark.parametrize("method", METHODS)
def test_the_fast_order_costs_little_more_than_the_optimal_one(method):
    X = rng.uniform(size=(600, 2))
    Z, distances = sb.linkage(X, method), pdist(X)
    exact, fast = (leaf_orders.cost(sb.leaf_order(Z, X, exact), distances) for exact in (True, False))
    assert exact <= fast * (1 + 1e-12)
    assert fast < 1.02 * exact


def test_fewer_ends_cost_more_and_as_many_as_leaves_cost_nothing_more():
    distances = pdist(POINTS[:60])
    Z = sb.linkage(distances, "average")
    orders = {ends: _core.order_distances(Z, distances, ends, 1, None) for ends in (1, 2, 64)}
    costs = {ends: leaf_orders.cost(order, distances) for ends, order in orders.items()}
    assert costs[1] > costs[2] > costs[64]
    assert_allclose(costs[64], leaf_orders.least_cost(Z, distances), rtol=1e-12)
    with pytest.raises(ValueError, match="between 1 and 64"):
        _core.order_distances(Z, distances, 0, 1, None)


@EXACT
def test_the_children_of_the_root_stay_where_they_are(exact):
    left, right = Z[-1, :2].astype(int)
    order = sb.leaf_order(Z, POINTS, exact)
    below = {node: set(sb.Dendrogram(Z).subtree(int(node)).leaves) for node in (left, right)}
    assert set(order[: len(below[left])]) == below[left]


@EXACT
def test_linkage_orders_leaves_as_leaf_order_does(exact):
    ordered = sb.linkage(POINTS, "average", optimal_ordering=True)
    assert_array_equal(sb.Dendrogram(Z).ordered(sb.leaf_order(Z, POINTS, exact=True)).Z, ordered)
    assert_array_equal(hierarchy.leaves_list(ordered), sb.leaf_order(ordered, POINTS, exact))


@EXACT
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "correlation", "cityblock", "cos"])
def test_points_are_ordered_by_the_metric(metric, exact):
    Z, distances = sb.linkage(POINTS, "average", metric), pdist(POINTS, {"cos": "cosine"}.get(metric, metric))
    order = sb.leaf_order(Z, POINTS, exact, metric=metric)
    least = leaf_orders.cost(sb.leaf_order(Z, distances, exact=True), distances)
    assert leaf_orders.cost(order, distances) < least * (1.01 if exact is False else 1 + 1e-12)


@EXACT
def test_other_forms_of_the_same_leaves_give_the_same_order(exact):
    expected = sb.leaf_order(Z, POINTS, exact)
    features = sb.ClusterFeatures(rng.integers(1, 5, 200), POINTS, 0)
    assert_array_equal(sb.leaf_order(Z, features, exact), expected)
    assert_array_equal(sb.leaf_order(Z.tolist(), pd.DataFrame(POINTS), exact), expected)
    assert_array_equal(sb.leaf_order(Z, pdist(POINTS), exact), expected)
    assert_array_equal(sb.leaf_order(Z, sparse.csr_array(POINTS), exact), expected)


def test_directions_of_features_are_those_of_their_means():
    unit = POINTS / np.linalg.norm(POINTS, axis=1)[:, None]
    features = sb.ClusterFeatures(1, unit, 0)
    Z = sb.linkage(features, "average", "cosine")
    assert_array_equal(sb.leaf_order(Z, features, metric="cosine"), sb.leaf_order(Z, POINTS, metric="cosine"))


@EXACT
def test_one_leaf_and_two_leaves(exact):
    assert_array_equal(sb.leaf_order(np.empty((0, 4)), [[1.0, 2.0]], exact), [0])
    assert_array_equal(sb.leaf_order(np.empty((0, 4)), np.empty(0), exact), [0])
    assert_array_equal(sb.leaf_order([[1, 0, 5, 2]], [[0.0], [5.0]], exact), [1, 0])
    assert sb.leaf_order([[0, 1, 5, 2]], [5.0], exact).dtype == np.int64


def test_the_optimal_order_is_the_default_where_it_is_affordable(monkeypatch):
    calls = []
    monkeypatch.setattr(ordering.Leaves, "order", lambda self, Z, ends, threads, progress: calls.append(ends))
    sb.leaf_order(Z, POINTS)
    monkeypatch.setattr(job, "free_memory", lambda: 8 * 200**2 - 1)
    sb.leaf_order(Z, POINTS)
    monkeypatch.setattr(job, "free_memory", lambda: 8 * 200**2)
    sb.leaf_order(Z, POINTS)
    monkeypatch.setattr(ordering, "_MOST_EXACT_LEAVES", 199)
    sb.leaf_order(Z, POINTS)
    assert calls == [None, 32, None, 32]


def test_memory_is_announced_and_compared_with_what_is_free(monkeypatch, caplog):
    monkeypatch.setattr(job, "free_memory", lambda: 300_000)
    with pytest.raises(sb.MemoryLimitError, match=r"200 leaves needs 320 kB .* 300 kB .* free: use exact=False"):
        sb.leaf_order(Z, POINTS, exact=True)
    with pytest.raises(sb.MemoryLimitError, match=r"leave optimal_ordering out, or take the order of leaf_order"):
        sb.linkage(POINTS, "ward", optimal_ordering=True)
    monkeypatch.setattr(job, "free_memory", lambda: 100_000)
    with pytest.raises(sb.MemoryLimitError, match=r"needs 159 kB .* use metric='euclidean'"):
        sb.leaf_order(Z, POINTS, metric="cityblock")
    assert len(sb.leaf_order(Z, POINTS)) == 200
    monkeypatch.setattr(job, "free_memory", lambda: 10**9)
    with caplog.at_level(logging.INFO, "silverbirch"):
        sb.leaf_order(Z, POINTS, exact=True, metric="cityblock")
    assert "the optimal order of 200 leaves: 479 kB" in caplog.text


@pytest.mark.parametrize(
    ("Z", "y", "message"),
    [
        (Z, POINTS[1:], "200 leaves but y has 199 rows"),
        (Z, pdist(POINTS[1:]), "200 leaves but y has 199"),
        (Z, sb.ClusterFeatures(1, POINTS[1:], 0), "200 leaves but y has 199 features"),
        (Z, np.ones(7), "7 distances: a condensed vector"),
        (Z, np.full(200 * 199 // 2, np.nan), "distance nan at position 0"),
        (Z, np.full((200, 3), np.nan), "row 0, column 0"),
        (Z[:-1], POINTS, "not a linkage matrix"),
        (Z[:, :3], POINTS, "four columns"),
    ],
)
def test_bad_data_is_refused(Z, y, message):
    with pytest.raises(ValueError, match=message):
        sb.leaf_order(Z, y)


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match="a linkage matrix is expected, not a Dendrogram: give its Z"):
        sb.leaf_order(sb.Dendrogram(Z), POINTS)
    with pytest.raises(TypeError, match="exact='yes'"):
        sb.leaf_order(Z, POINTS, "yes")
    with pytest.raises(ValueError, match="metric='nearness'"):
        sb.leaf_order(Z, POINTS, metric="nearness")
    with pytest.raises(ValueError, match="metric='cityblock' with cluster features"):
        sb.leaf_order(Z, sb.ClusterFeatures(1, POINTS, 0), metric="cityblock")
    with pytest.raises(ValueError, match="row 3 is zero in every column"):
        sb.leaf_order(Z, np.where(np.arange(200)[:, None] == 3, 0, POINTS), metric="cosine")
    with pytest.raises(ValueError, match="the metric gave distance nan"):
        sb.leaf_order(Z, POINTS, metric=lambda x, y: np.nan)


@pytest.mark.parametrize("exact", [True, False])
def test_an_order_can_be_interrupted(exact):
    reports = []

    def stop(done, total):
        reports.append(done / total)
        if len(reports) == 5:
            raise KeyboardInterrupt

    _core.set_report_interval(0)
    try:
        with pytest.raises(KeyboardInterrupt):
            sb.leaf_order(Z, POINTS, exact, progress=stop)
    finally:
        _core.set_report_interval(50)
    assert reports == sorted(reports)
    assert len(reports) == 5
    assert reports[-1] < 1


def test_progress_is_shown(capsys):
    sb.leaf_order(Z, POINTS, metric="cityblock", progress=True)
    shown = capsys.readouterr().err
    assert "distances: 100%" in shown
    assert "leaf order: 100%" in shown


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_features_that_are_not_of_unit_rows_are_refused_as_linkage_refuses_them(metric):
    features = sb.ClusterFeatures(1, POINTS, 0)
    for use in (sb.linkage, lambda y, metric: sb.leaf_order(Z, y, metric=metric)):
        with pytest.raises(ValueError, match="feature 0 is not of unit rows"):
            use(features, metric=metric)
