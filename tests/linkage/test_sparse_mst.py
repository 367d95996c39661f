"""The core's single linkage of sparse rows, against scipy on the same rows as dense ones."""

from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, linkage

from silverbirch import _core

METRICS = ["euclidean", "cosine", "correlation"]


def sparse_mst(rows, metric, progress=None):
    rows = sparse.csr_matrix(rows)
    rows.sum_duplicates()
    return _core.sparse_mst(
        rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, rows.shape[1], metric, progress
    )


def random_rows(count, columns, density, seed):
    rng = np.random.default_rng(seed)
    rows = sparse.random(count, columns, density, random_state=rng, format="lil")
    rows[np.arange(count), rng.integers(0, columns, count)] = rng.uniform(1, 2, count)  # no row is zero
    return rows.tocsr()


@settings(deadline=None, max_examples=60)
@given(
    count=st.integers(2, 80),
    columns=st.integers(3, 200),
    density=st.sampled_from([0.0, 0.05, 0.3, 0.9]),
    metric=st.sampled_from(METRICS),
    seed=st.integers(0, 1000),
)
def test_every_merge_is_that_of_the_dense_rows(count, columns, density, metric, seed):
    rows = random_rows(count, columns, density, seed)
    Z, expected = sparse_mst(rows, metric), linkage(rows.toarray(), "single", metric)
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(cophenet(Z), cophenet(expected), rtol=1e-9, atol=1e-12)  # the same tree, up to ties
    np.testing.assert_array_equal(Z[:, 3], linkage_sizes(Z))


def linkage_sizes(Z):
    sizes = [1.0] * (len(Z) + 1)
    for a, b in Z[:, :2].astype(int):
        sizes.append(sizes[a] + sizes[b])
    return sizes[len(Z) + 1 :]


@pytest.mark.parametrize("metric", METRICS)
def test_distances_of_near_duplicates_keep_their_digits(metric):
    """In double precision, one minus the cosine of such rows is nothing but rounding."""
    rows = random_rows(6, 50, 0.3, 0).toarray()
    rows = np.vstack([rows, rows * (1 + 1e-10 * np.arange(50))])
    with localcontext(Context(prec=50)):
        pairs = [float(distance(a, b, metric)) for a, b in zip(rows[:6], rows[6:], strict=True)]
    np.testing.assert_allclose(sparse_mst(rows, metric)[:6, 2], np.sort(pairs), rtol=1e-5)


def distance(a, b, metric):
    """The distance of two rows in decimal numbers."""
    a, b = (np.array([Decimal(value) for value in row]) for row in (a, b))
    if metric == "correlation":
        a, b = a - a.sum() / len(a), b - b.sum() / len(b)
    if metric != "euclidean":
        a, b = a / (a @ a).sqrt(), b / (b @ b).sqrt()
    squared = (a - b) @ (a - b)
    return squared.sqrt() if metric == "euclidean" else squared / 2


@pytest.mark.parametrize("metric", METRICS)
def test_equal_rows_merge_at_exactly_zero(metric):
    rows = random_rows(40, 300, 0.1, 1)
    heights = sparse_mst(sparse.vstack([rows, rows, rows]), metric)[:, 2]
    assert (heights[:80] == 0).all()
    assert (heights[80:] > 0).all()


def test_rows_far_from_zero_correlate_as_they_do_for_scipy():
    rows = np.random.default_rng(0).normal(size=(50, 30)) + 1e6
    expected = linkage(rows, "single", "correlation")
    np.testing.assert_allclose(sparse_mst(rows, "correlation")[:, 2], expected[:, 2], rtol=0, atol=1e-12)


def test_stored_zeros_change_no_bit():
    rows = random_rows(50, 40, 0.3, 2)
    padded = rows.copy()
    padded.data[::3] = 0
    dense = padded.toarray()
    np.testing.assert_array_equal(sparse_mst(padded, "euclidean"), sparse_mst(dense, "euclidean"))


@pytest.mark.parametrize(
    ("metric", "message"), [("cosine", "row 3 is zero"), ("correlation", "row 3 is constant"), ("cityblock", "metric")]
)
def test_rows_without_a_distance_are_refused(metric, message):
    rows = random_rows(10, 40, 0.3, 3).tolil()
    rows[3] = 0
    with pytest.raises(ValueError, match=message):
        sparse_mst(rows, metric)


def test_wrong_arrays_are_refused():
    good = [np.array([0, 1, 2]), np.array([0, 1], np.int32), np.array([1.0, 2.0])]
    _core.sparse_mst(*good, 2, "euclidean", None)
    for place, array in [(0, np.array([0, 2])), (0, np.array([0])), (0, np.array([0, 3, 2])), (1, good[1][:1])]:
        wrong = [array if i == place else value for i, value in enumerate(good)]
        if place == 0 and len(array) == 2:
            wrong[1] = np.array([1, 0], np.int32)
        with pytest.raises(ValueError, match=r"indptr|row|column"):
            _core.sparse_mst(*wrong, 2, "euclidean", None)


def test_it_reports_and_stops():
    seen = []

    def report(done, total):
        seen.append((done, total))
        if done > 20:
            raise InterruptedError

    rows = random_rows(200, 40, 0.3, 4)
    _core.set_report_interval(0)
    try:
        with pytest.raises(InterruptedError):
            sparse_mst(rows, "cosine", report)
    finally:
        _core.set_report_interval(50)
    assert seen[-1] == (21, 199)
