"""Sparse rows: the heights of the dense rows, without making them dense."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

import leaf_orders
import silverbirch as sb
from brute_force import METHODS, few
from silverbirch.directions import directions
from silverbirch.linkage import job as linkage_job
from silverbirch.linkage import sparse_rows
from silverbirch.linkage.sparse_rows import SPARSE_METRICS, SparseRows, as_csr

SQUARED = ("ward", "centroid", "median")
METRIC = pytest.mark.parametrize("metric", SPARSE_METRICS)
PAIRS = [(method, metric) for metric in SPARSE_METRICS for method in (*METHODS, "minimax", "medoid")]
ALLOWED = [(method, metric) for method, metric in PAIRS if metric == "euclidean" or method not in SQUARED]
rng = np.random.default_rng(0)


def text_like(rows, columns, seed=0, density=0.2):
    """Rows with few values, none without any, as CSR."""
    made = scipy.sparse.random_array((rows, columns), density=density, rng=np.random.default_rng(seed), format="lil")
    made[np.arange(rows), np.arange(rows) % columns] = np.random.default_rng(seed).uniform(0.1, 1, rows)
    return made.tocsr()


ROWS = text_like(120, 300)


def distances(matrix, metric):
    return SparseRows.under(metric, as_csr(matrix), np.arange(matrix.shape[0])).pairwise_distances()


@pytest.mark.parametrize(("method", "metric"), ALLOWED)
def test_the_tree_is_that_of_the_dense_rows(method, metric):
    Z, dense = sb.linkage(ROWS, method, metric), sb.linkage(ROWS.toarray(), method, metric)
    assert_array_equal(Z[:, [0, 1, 3]], dense[:, [0, 1, 3]])
    assert_allclose(Z[:, 2], dense[:, 2], rtol=1e-9)
    if method in METHODS:
        expected = hierarchy.linkage(ROWS.toarray(), method, metric)
        assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9, atol=1e-12 if metric in ("cosine", "correlation") else 0)
    else:
        assert_array_equal(Z.prototypes, dense.prototypes)


@METRIC
@few
@given(
    seed=st.integers(0, 2**32),
    shape=st.tuples(st.integers(2, 30), st.integers(2, 40)),
    density=st.floats(0, 1),
    scale=st.sampled_from([1e-3, 1.0, 1e6]),
)
def test_distances_are_those_of_the_dense_rows(metric, seed, shape, density, scale):
    matrix = scipy.sparse.random_array(shape, density=density, rng=np.random.default_rng(seed), format="csr") * scale
    dense = matrix.toarray()
    if metric in ("cosine", "correlation"):
        assume(not directions(dense, metric)[1].any())
    unit = directions(dense, metric)[0] if metric in ("cosine", "correlation") else dense
    half = 2 if metric in ("cosine", "correlation") else 1
    expected = pdist(unit, "euclidean" if metric == "euclidean" else "sqeuclidean") / half
    assert_allclose(distances(matrix, metric), expected, rtol=1e-9, atol=1e-27)  # the rounding of unit rows, squared


@METRIC
def test_near_duplicates_keep_their_digits_and_equal_rows_are_at_zero(metric):
    copies = [ROWS[:20]]
    for gap in (0, 1e-3, 1e-6, 1e-9):
        moved = ROWS[:20].copy()
        moved.data = moved.data * (1 + gap * rng.normal(size=moved.nnz))
        copies.append(moved)
    matrix = scipy.sparse.vstack(copies).tocsr()
    dense = matrix.toarray()
    unit = directions(dense.astype(np.float64), metric)[0] if metric in ("cosine", "correlation") else dense
    found = distances(matrix, metric)
    expected = pdist(unit, "sqeuclidean") / (2 if metric in ("cosine", "correlation") else 1)
    squared = found**2 if metric == "euclidean" else found
    # Unit rows are rounded, so their distance is known to 1e-16 of the length: relevant for gaps of 1e-9.
    assert_allclose(np.sqrt(squared), np.sqrt(expected), rtol=1e-9, atol=3e-16)
    assert (sb.linkage(matrix, "complete", metric)[:20, 2] == 0).all()
    assert (sb.linkage(matrix, "single", metric)[:20, 2] == 0).all()


@METRIC
def test_rows_far_from_the_origin_keep_their_digits(metric):
    matrix = scipy.sparse.csr_array(rng.normal(size=(30, 20)) + 1e7)
    dense = matrix.toarray()
    unit = directions(dense, metric)[0] if metric in ("cosine", "correlation") else dense
    expected = pdist(unit, "sqeuclidean") / (2 if metric in ("cosine", "correlation") else 1)
    found = distances(matrix, metric)
    assert_allclose(found**2 if metric == "euclidean" else found, expected, rtol=1e-7)
    if metric != "cosine":  # unit rows of that cosine agree in fourteen digits
        assert_allclose(found**2 if metric == "euclidean" else found, expected, rtol=1e-9)


@METRIC
def test_blocks_do_not_change_the_distances(metric, monkeypatch):
    whole = distances(ROWS, metric)
    monkeypatch.setattr(sparse_rows, "_BLOCK_DISTANCES", 500)
    monkeypatch.setattr(sparse_rows, "_BLOCK_VALUES", 10)
    assert_array_equal(distances(ROWS, metric), whole)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_every_sparse_format_is_taken(kind, make):
    expected = sb.linkage(ROWS[:20, :30], "average", "cosine")
    assert_array_equal(sb.linkage(make(ROWS[:20, :30]).asformat(kind), "average", "cosine"), expected)


@pytest.mark.parametrize("method", ["single", "average"])
def test_duplicate_unsorted_and_zero_entries_count_as_what_they_say_and_stay(method):
    data, columns, ends = [2.0, 1.0, 1.0, 0.0, 5.0], [3, 0, 0, 1, 2], [0, 3, 4, 5]
    matrix = scipy.sparse.csr_matrix((data, columns, ends), shape=(3, 4))
    expected = sb.linkage(matrix.toarray(), method)
    assert_allclose(sb.linkage(matrix, method), expected, rtol=1e-12)
    assert (matrix.data.tolist(), matrix.indices.tolist(), matrix.indptr.tolist()) == (data, columns, ends)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool])
def test_numbers_of_any_type_are_taken(dtype):
    matrix = (ROWS * 9).astype(dtype)
    expected = pdist(matrix.toarray().astype(np.float64))
    assert_allclose(distances(matrix, "euclidean"), expected, rtol=1e-9)


@pytest.mark.parametrize(("method", "metric"), ALLOWED)
def test_weights_are_those_of_dense_rows(method, metric):
    weight = rng.uniform(0.1, 3, 120) * (rng.random(120) < 0.8)
    dense = sb.linkage(ROWS.toarray(), method, metric, weights=weight)
    assert_allclose(sb.linkage(ROWS, method, metric, weights=weight), dense, rtol=1e-9)


def test_mode_centers_leaves_the_weights_out():
    weight = rng.uniform(0.1, 3, 120)
    assert_array_equal(sb.linkage(ROWS, "ward", weights=weight, mode="centers"), sb.linkage(ROWS, "ward"))


@METRIC
def test_leaves_can_be_ordered(metric):
    Z, distances = sb.linkage(ROWS[:50], "average", metric), pdist(ROWS[:50].toarray(), metric)
    ordered = hierarchy.leaves_list(sb.linkage(ROWS[:50], "average", metric, optimal_ordering=True))
    least = leaf_orders.least_cost(Z, distances)
    assert_allclose(leaf_orders.cost(ordered, distances), least, rtol=1e-12)
    assert_allclose(leaf_orders.cost(sb.leaf_order(Z, ROWS[:50], metric=metric), distances), least, rtol=1e-12)


@pytest.mark.parametrize("algorithm", ["mst", "agnes", "anderberg", "nn_chain", "generic"])
def test_single_linkage_by_every_algorithm(algorithm):
    assert_allclose(sb.linkage(ROWS, algorithm=algorithm)[:, 2], sb.linkage(ROWS)[:, 2], rtol=1e-12)


def test_progress_is_shown(capsys):
    sb.linkage(ROWS, "average", "cosine", progress=True)
    assert "distances: 100%" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "arguments", "error", "message"),
    [
        (ROWS, {"metric": "cityblock"}, ValueError, r"metric='cityblock' with sparse rows: must be one of 'euclidean'"),
        (ROWS, {"metric": max}, ValueError, "with sparse rows: must be one of"),
        (ROWS, {"method": "ward", "metric": "cosine"}, ValueError, r"only 'euclidean' .*Betula\(metric='cosine'\)"),
        (ROWS, {"method": "ward", "mode": "aggregation"}, ValueError, "mode='aggregation' with sparse rows"),
        (ROWS, {"weights": np.zeros(120)}, ValueError, "all weights are zero"),
        (ROWS, {"weights": np.ones(3)}, ValueError, "weights has shape"),
        (ROWS.astype(complex), {}, TypeError, "y is a sparse matrix of complex128: only real numbers"),
        (scipy.sparse.csr_array((0, 4)), {}, ValueError, r"y has shape \(0, 4\): at least one row"),
        (scipy.sparse.csr_array((3, 2**31)), {}, ValueError, r"y has shape \(3, 2147483648\): .*2147483647 columns"),
        (scipy.sparse.coo_array(np.ones(4)), {}, ValueError, "y is a sparse array of 1 dimensions: rows need two"),
        (scipy.sparse.csr_array([[0, 1], [0, np.nan]]), {}, ValueError, "y: row 1, column 1 is nan: .*drop or fill"),
        (scipy.sparse.csr_array([[0, 1], [np.inf, 0]]), {}, ValueError, "y: row 1, column 0 is inf"),
        (scipy.sparse.csr_array([[0, 1e101], [0, 0]]), {}, ValueError, r"y: row 0, column 1 is 1e\+101: .*rescale"),
    ],
)
def test_what_cannot_be_clustered_is_refused_with_the_reason(data, arguments, error, message):
    with pytest.raises(error, match=message):
        sb.linkage(data, **arguments)


@pytest.mark.parametrize("method", ["single", "average"])
def test_rows_without_a_direction_are_refused_with_their_number(method):
    matrix = scipy.sparse.csr_array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.1, 0.1, 0.1]])
    with pytest.raises(ValueError, match=r"y: row 1 is zero in every column: .*drop such rows"):
        sb.linkage(matrix, method, "cosine")
    with pytest.raises(ValueError, match=r"y: row 2 is constant: .*drop such rows"):
        sb.linkage(matrix, method, "correlation", weights=[1, 0, 1])
    assert len(sb.linkage(matrix, method, "cosine", weights=[1, 0, 1])) == 1


def test_more_rows_than_memory_are_refused_with_the_projection_to_use(monkeypatch):
    monkeypatch.setattr(linkage_job, "free_memory", lambda: 1000)
    message = r"of 120 objects needs 57.1 kB .* 1 kB of memory are free: .*TruncatedSVD.*Betula\(projection=.*'single'"
    with pytest.raises(sb.MemoryLimitError, match=message):
        sb.linkage(ROWS, "average", "cosine")
    for metric in SPARSE_METRICS:
        assert len(sb.linkage(ROWS, "single", metric)) == 119


def test_rows_are_not_made_dense():
    rows, columns = 300, 2**22
    matrix = scipy.sparse.csr_array(
        (np.ones(rows), rng.integers(0, columns, rows), np.arange(rows + 1)), (rows, columns)
    )
    for method in ("single", "average"):
        assert_allclose(sb.linkage(matrix, method)[:, 2], 2**0.5)
