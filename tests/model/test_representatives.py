"""The rows that stand for a cluster, against brute force."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import silverbirch as sb
from models import points, seeds, some
from silverbirch.model.representatives import NearestRows


def by_hand(X, labels, centers, n):
    """(index, distance), -1 and NaN where a cluster has fewer than n rows."""
    index, distance = np.full((len(centers), n), -1), np.full((len(centers), n), np.nan)
    for cluster, center in enumerate(centers):
        own = np.flatnonzero(labels == cluster)
        squared = ((X[own] - center) ** 2).sum(axis=1)
        best = np.argsort(squared, kind="stable")[:n]
        index[cluster, : len(best)], distance[cluster, : len(best)] = own[best], np.sqrt(squared[best])
    return index, distance


@some
@given(seed=seeds, k=st.integers(1, 30), n=st.integers(1, 5), d=st.integers(1, 4), rounded=st.booleans())
def test_they_are_the_nearest_rows_of_each_cluster(seed, k, n, d, rounded):
    X = points(120, d, seed)
    X = X.round() if rounded else X  # many ties: the lowest row wins
    leaves = len(np.unique(X, axis=0))
    model = sb.Betula(min(k, leaves), max_leaves=None).fit(X)
    found = model.representatives(X, n)
    index, distance = by_hand(X, model.labels_, model.cluster_centers_, n)
    np.testing.assert_array_equal(found.index, index)
    np.testing.assert_allclose(found.distance, distance, rtol=1e-12)
    there = index >= 0
    np.testing.assert_array_equal(found.rows[there], X[index[there]])
    assert np.isnan(found.rows[~there]).all()


@some
@given(seed=seeds, n=st.integers(1, 4), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_any_chunks_give_the_same(seed, n, cuts):
    X = points(200, 2, seed).round(1)
    model = sb.Betula(6, max_leaves=30).fit(X)
    whole = model.representatives(X, n)
    parts = [part for part in np.split(X, sorted(cuts)) if len(part)]
    for source in (iter(parts), sb.read_chunks(X, chunk_rows=7), pd.DataFrame(X)):
        found = model.representatives(source, n)
        for name in ("index", "distance", "rows"):
            np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))


def test_pieces_of_a_large_chunk_give_the_same(monkeypatch):
    X = points(1000, 2).round(1)
    model = sb.Betula(6, max_leaves=30).fit(X)
    whole = model.representatives(X)
    monkeypatch.setattr("silverbirch.model.representatives.usual_chunk_rows", lambda columns: 13)
    np.testing.assert_array_equal(model.representatives(X).index, whole.index)


def test_rows_that_are_noise_stand_for_no_cluster():
    nearest = NearestRows(np.array([[0.0], [10.0]]), 2)
    nearest.add(np.array([[0.0], [10.0], [9.0], [3.0]]), np.array([-1, 1, -1, 0]))
    assert nearest.result().index.tolist() == [[3, -1], [1, -1]]
    none = NearestRows(np.empty((0, 1)), 2)
    none.add(np.array([[0.0]]), np.array([-1]))
    assert none.result().index.shape == (0, 2)


def test_of_directions_they_are_the_nearest_unit_rows():
    X = points() + 1
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = sb.Betula(5, metric="cosine").fit(X)
    found = model.representatives(X)
    index, distance = by_hand(unit, model.labels_, model.cluster_centers_, 3)
    np.testing.assert_array_equal(found.index, index)
    np.testing.assert_allclose(found.distance, distance, atol=1e-12)


def test_sparse_rows_have_them_after_a_projection():
    X = scipy.sparse.random_array((200, 60), density=0.1, random_state=0, format="csr")
    model = sb.Betula(5, projection=8).fit(X)
    found = model.representatives(X)
    np.testing.assert_array_equal(model.labels_[found.index[:, 0]], np.arange(5))
    assert found.rows.shape == (5, 3, 8)


def test_texts_are_looked_up_by_the_index():
    X = np.array([[0.0], [0.2], [0.3], [9.0], [9.2]])
    texts = np.array(["a", "b", "c", "d", "e"])
    found = sb.Betula(2).fit(X).representatives(X, 1)
    assert texts[found.index].tolist() == [["b"], ["d"]]
    assert len(found) == 2
    assert repr(found) == "Representatives(2 clusters, up to 1 rows of each)"


def test_they_are_frozen():
    found = sb.Betula(2).fit([[0.0], [1.0]]).representatives([[0.0], [1.0]])
    with pytest.raises(ValueError, match="read-only"):
        found.index[0] = 1
    with pytest.raises(AttributeError):
        found.rows = None


@pytest.mark.parametrize(("n", "error"), [(0, ValueError), (1.5, TypeError), ("two", TypeError)])
def test_a_number_of_rows_that_cannot_be_is_refused(n, error):
    with pytest.raises(error, match="n="):
        sb.Betula(2).fit(points()).representatives(points(), n)


def test_bad_rows_are_refused():
    model = sb.Betula(2).fit(points())
    with pytest.raises(ValueError, match="NaN"):
        model.representatives(np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match="2 features"):
        model.representatives(points(d=2))


def test_more_rows_than_fit_into_memory_are_refused_before_they_are_allocated():
    X = points(60)
    model = sb.Betula(3).fit(X)
    with pytest.raises(sb.MemoryLimitError, match=r"1,000,000,000,000 rows of 3 columns .* lower n"):
        model.representatives(X, n=10**12)
