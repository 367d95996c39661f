"""`linkage` on a GPU gives the dendrogram of the CPU, whatever the rows are and wherever they are."""

import logging
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import ClusterWarning

pytest.importorskip("torch", reason="torch is not installed")

import silverbirch as sb
from silverbirch.gpu import memory

METHODS = ["single", "complete", "average", "weighted", "centroid", "median", "ward"]
POINTS = np.random.default_rng(0).normal(size=(150, 6)) + 4 * np.eye(6)[np.arange(150) % 3]


def assert_same(Z, expected):
    np.testing.assert_array_equal(Z[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_points_on_a_gpu_have_the_dendrogram_of_the_cpu(gpu, method):
    expected = sb.linkage(POINTS, method)
    Z = sb.linkage(gpu(POINTS), method)
    assert type(Z) is np.ndarray
    assert_same(Z, expected)
    assert_same(sb.linkage(POINTS, method, device="cuda"), expected)


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted"])
@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "correlation"])
def test_metrics_of_squares_and_directions_have_the_heights_of_the_cpu(gpu, method, metric):
    assert_same(sb.linkage(gpu(POINTS), method, metric), sb.linkage(POINTS, method, metric))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mode", ["linkage", "centers"])
def test_weights_count_and_rows_of_weight_zero_are_left_out(gpu, method, mode):
    weights = np.random.default_rng(1).integers(0, 4, size=len(POINTS)) * 1e3
    expected = sb.linkage(POINTS, method, weights=weights, mode=mode)
    assert len(expected) == np.count_nonzero(weights) - 1
    assert_same(sb.linkage(gpu(POINTS), method, weights=gpu(weights), mode=mode), expected)
    assert_same(sb.linkage(POINTS, method, weights=weights, mode=mode, device="cuda"), expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mode", ["linkage", "centers"])
def test_cluster_features_have_the_dendrogram_of_the_cpu(gpu, method, mode):
    features = sb.CFTree(threshold=0.7).insert(np.concatenate([POINTS, POINTS + 0.3])).features
    assert features.sse.any()
    assert_same(sb.linkage(features, method, mode=mode, device="cuda"), sb.linkage(features, method, mode=mode))


@pytest.mark.parametrize("method", ["average", "weighted", "single", "complete"])
def test_cluster_features_of_unit_rows_have_cosine_heights(gpu, method):
    rows = np.concatenate([POINTS, POINTS + 0.1 * np.random.default_rng(1).normal(size=POINTS.shape)])
    features = sb.CFTree(threshold=0.1).insert(rows / np.linalg.norm(rows, axis=1, keepdims=True)).features
    assert features.sse.any()
    assert_same(
        sb.linkage(features, method, "cosine", device="cuda"), sb.linkage(features, method, "cosine", device="cpu")
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int32", "uint8", "bool"])
def test_all_numbers_are_taken(gpu, dtype):
    import torch

    numbers = torch.tensor([[0], [1], [3], [7], [20], [50], [120]]).to(getattr(torch, dtype))
    Z, expected = (sb.linkage(rows, "average", "sqeuclidean") for rows in (gpu(numbers), numbers))
    np.testing.assert_allclose(Z[:, 2:], expected[:, 2:], rtol=1e-9)


def test_other_kinds_of_input_are_moved_to_the_gpu(gpu):
    expected = sb.linkage(POINTS, "ward")
    read_only = POINTS.copy()
    read_only.flags.writeable = False
    for rows in (read_only, POINTS[::-1][::-1], POINTS.tolist(), sb.read_chunks(POINTS)):
        assert_same(sb.linkage(rows, "ward", device="cuda"), expected)
    assert_same(sb.linkage(gpu(POINTS).requires_grad_(), "ward"), expected)


def test_device_cpu_copies_to_main_memory(gpu):
    assert sb.linkage(gpu(POINTS), "ward", device="cpu").tobytes() == sb.linkage(POINTS, "ward").tobytes()
    assert sb.linkage(gpu(POINTS), "minimax", "cityblock", device="cpu").tobytes() == (
        sb.linkage(POINTS, "minimax", "cityblock").tobytes()
    )


@pytest.mark.parametrize("method", METHODS)
def test_one_row_and_equal_rows(gpu, method):
    assert sb.linkage(gpu(POINTS[:1]), method).shape == (0, 4)
    np.testing.assert_array_equal(sb.linkage(gpu(np.ones((4, 2))), method)[:, 2:], [[0, 2], [0, 3], [0, 4]])


def test_rows_that_do_not_fit_beside_their_means_are_read_in_pieces(gpu, monkeypatch):
    monkeypatch.setattr(sys.modules["silverbirch.linkage.on_gpu"], "uploaded", lambda array, device: array)
    for metric in ("sqeuclidean", "correlation"):
        assert_same(sb.linkage(POINTS, "average", metric, device="cuda"), sb.linkage(POINTS, "average", metric))


# -- errors are those of the CPU


@pytest.mark.parametrize(
    ("rows", "method", "metric", "weights"),
    [
        (np.where(np.arange(300).reshape(50, 6) == 100, np.nan, POINTS[:50]), "ward", "euclidean", None),
        (np.where(np.arange(300).reshape(50, 6) == 100, -np.inf, POINTS[:50]).astype("f"), "ward", "euclidean", None),
        (np.where(np.arange(300).reshape(50, 6) >= 100, 1e101, POINTS[:50]), "single", "euclidean", None),
        (np.where(np.arange(50)[:, None] == 17, 0.0, POINTS[:50]), "average", "cosine", None),
        (np.where(np.arange(50)[:, None] == 17, 3.0, POINTS[:50]), "average", "correlation", np.arange(50) % 17 != 1),
        (np.empty((0, 3)), "ward", "euclidean", None),
        (np.empty((3, 0)), "ward", "euclidean", None),
        (np.empty((3, 2, 2)), "ward", "euclidean", None),
        (POINTS, "ward", "cosine", None),
        (POINTS, "median", "sqeuclidean", None),
        (POINTS, "ward", "euclidean", np.zeros(150)),
        (POINTS, "ward", "euclidean", np.ones(149)),
        (POINTS, "ward", "euclidean", -np.ones(150)),
    ],
)
def test_errors_are_those_of_the_cpu(gpu, rows, method, metric, weights):
    with pytest.raises(ValueError) as of_cpu:
        sb.linkage(rows, method, metric, weights=weights)
    for given, device in ((gpu(rows), None), (rows, "cuda")):
        with pytest.raises(ValueError) as of_gpu:
            sb.linkage(given, method, metric, weights=weights, device=device)
        assert str(of_gpu.value) == str(of_cpu.value)


def test_complex_numbers_are_refused(gpu):
    with pytest.raises(TypeError, match="y holds complex numbers: only real numbers"):
        sb.linkage(gpu(POINTS * 1j))


def test_points_that_look_like_distances_warn(gpu):
    square = np.abs(POINTS[:20, :1] - POINTS[:20, 0])
    with pytest.warns(ClusterWarning, match="looks like a square distance matrix") as warned:
        sb.linkage(gpu(square), "ward")
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (POINTS, {"method": "minimax"}, r"method='minimax' is computed on the CPU only: use device='cpu', or one of"),
        (POINTS, {"method": "medoid"}, r"method='medoid' is computed on the CPU only"),
        (POINTS, {"mode": "aggregation", "method": "radius"}, r"mode='aggregation' is computed on the CPU only"),
        (POINTS, {"metric": "cityblock"}, r"metric='cityblock' is computed on the CPU only: .* or one of 'euclidean'"),
        (POINTS, {"metric": min}, r"metric=<built-in function min> is computed on the CPU only"),
        (POINTS, {"algorithm": "rounds"}, r"algorithm='rounds' is computed on the CPU only: .* algorithm='auto'"),
        (POINTS, {"optimal_ordering": True}, r"optimal_ordering is computed on the CPU only: .*leaf_order\(Z, y\)"),
        (POINTS[:, 0], {}, r"y is a vector of distances, whose linkage is computed on the CPU only"),
        (sparse.csr_array(POINTS), {}, r"y is a sparse matrix, whose linkage is computed on the CPU only"),
    ],
)
def test_what_is_computed_on_the_cpu_only_says_so(gpu, rows, options, message):
    with pytest.raises(ValueError, match=message):
        sb.linkage(rows, **options, device="cuda")


# -- memory, progress, counts


def test_too_little_memory_is_refused_with_the_numbers_before_it_is_taken(gpu, monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 20_000)
    with pytest.raises(
        sb.MemoryLimitError, match=r"ward linkage of 150 objects of 6 columns needs \d+ kB .* and 20 kB"
    ):
        sb.linkage(POINTS, "ward", device="cuda")


def test_memory_and_counts_are_logged(gpu, caplog):
    with caplog.at_level(logging.INFO, logger="silverbirch"):
        sb.linkage(gpu(POINTS), "ward")
    taken, counts = caplog.messages
    assert taken.startswith("ward linkage of 150 objects of 6 columns: ")
    assert "of memory on" in taken
    assert counts.startswith("ward linkage of 150 objects of 6 columns: rounds ")


def test_progress_ends_with_all_merges(gpu, monkeypatch):
    calls = []
    monkeypatch.setattr("silverbirch.progress._Bar.report", lambda self, done, total: calls.append((done, total)))
    sb.linkage(np.repeat(POINTS, 2, axis=0), "ward", device="cuda", progress=True)
    assert calls[-1] == (299, 299)
    assert sorted(calls) == calls


def test_cosine_of_a_far_offset_is_that_of_exact_fractions(gpu):
    rows = np.array([[1e8 + 1, 1e8 + 2, 1e8 + 4], [1e8 + 3, 1e8 + 1, 1e8]])
    centred = [[Fraction(v) - sum(map(Fraction, row)) / 3 for v in row] for row in rows]
    dot, a, b = (sum(x * y for x, y in zip(*pair)) for pair in (centred, centred[:1] * 2, centred[1:] * 2))  # noqa: B905
    expected = 1 - float(dot) / float(a * b) ** 0.5
    assert sb.linkage(gpu(rows), "average", "correlation")[0, 2] == pytest.approx(expected, rel=1e-9)
