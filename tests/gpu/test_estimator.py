"""`Betula` with a GPU: the tree and the labels of the CPU, clustered and labelled on the GPU."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

pytest.importorskip("torch", reason="torch is not installed")

import silverbirch as sb
from models import points
from silverbirch.gpu.nearest import NearestOnDevice


@pytest.fixture
def searched(monkeypatch):
    """The numbers of rows whose nearest leaf was found on the GPU."""
    rows = []
    find = NearestOnDevice.nearest
    monkeypatch.setattr(
        NearestOnDevice, "nearest", lambda self, X, report=None: rows.append(len(X)) or find(self, X, report)
    )
    return rows


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"linkage": "average"},
        {"linkage": "average", "metric": "cosine"},
        {"linkage": "complete", "metric": "correlation"},
        {"linkage": "centroid", "mode": "centers"},
        {"projection": 2},
        {"refine": 1},
        {"n_clusters": None, "distance_threshold": 5.0, "progress": True},
    ],
)
def test_labels_and_heights_are_those_of_the_cpu(gpu, searched, options):
    X, more = points(), points(300, seed=1)
    given = {"n_clusters": 5, "max_leaves": 60} | options
    expected = sb.Betula(**given).fit(X)
    model = sb.Betula(**given, device="cuda").fit(X)
    assert model.features_ == expected.features_
    np.testing.assert_allclose(model.linkage_matrix_[:, 2], expected.linkage_matrix_[:, 2], rtol=1e-9)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert searched == [len(X)]
    for rows in (more, gpu(more)):
        labels = model.predict(rows)
        assert type(labels) is np.ndarray
        assert labels.dtype == np.int64
        np.testing.assert_array_equal(labels, expected.predict(more))
    assert sum(searched) == len(X) + 2 * len(more)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_on_a_gpu_are_labelled_there(gpu, searched, dtype):
    X = points().astype(dtype)
    expected = sb.Betula(5, max_leaves=60).fit(X)
    model = sb.Betula(5, max_leaves=60).fit(gpu(X))
    assert model.features_ == expected.features_
    assert model.linkage_matrix_.tobytes() == expected.linkage_matrix_.tobytes()  # of the CPU: the leaves are there
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(gpu(X)), expected.labels_)
    assert searched == [len(X)] * 2
    np.testing.assert_array_equal(model.predict(X), expected.labels_)
    np.testing.assert_array_equal(model.transform(gpu(X)), expected.transform(X))
    assert model.score(gpu(X)) == expected.score(X)


def test_device_cpu_labels_rows_on_a_gpu_in_main_memory(gpu, searched):
    X = points()
    model = sb.Betula(5, max_leaves=60, device="cpu").fit(gpu(X))
    np.testing.assert_array_equal(model.labels_, sb.Betula(5, max_leaves=60).fit_predict(X))
    assert not searched


def test_batches_on_a_gpu_make_the_tree_of_the_cpu(gpu, searched):
    X = points()
    expected, model = sb.Betula(5, max_leaves=60), sb.Betula(5, max_leaves=60)
    for batch in np.array_split(X, 3):
        expected.partial_fit(batch, sample_weight=np.full(len(batch), 2.0))
        model.partial_fit(gpu(batch), sample_weight=gpu(np.full(len(batch), 2.0)))
    assert model.features_ == expected.features_
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert searched == [len(batch)]


def test_a_tree_takes_rows_on_a_gpu_in_chunks(gpu, monkeypatch):
    monkeypatch.setattr("silverbirch.rows.gpu_source.usual_chunk_rows", lambda columns: 5)
    X = points(1000)
    tree = sb.CFTree(max_leaves=50).insert(gpu(X))
    assert tree.features == sb.CFTree(max_leaves=50).insert(X).features
    np.testing.assert_array_equal(tree.assign(gpu(X)), tree.assign(X))
    X[333, 1] = np.nan
    with pytest.raises(ValueError, match="X: row 333, column 1 is nan"):
        tree.insert(gpu(X))
    assert tree.n_points == 1000


def test_wrong_rows_on_a_gpu_are_refused(gpu):
    model = sb.Betula(5, max_leaves=60).fit(gpu(points()))
    with pytest.raises(ValueError, match="X has 2 features, but Betula is expecting 3 features"):
        model.predict(gpu(points()[:, :2]))
    with pytest.raises(ValueError, match="X is 1-D: rows need a 2-D array"):
        model.predict(gpu(points()[0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"linkage": "minimax"}, "linkage='minimax' is computed on the CPU only: use device='cpu', or one of 'ward'"),
        ({"mode": "aggregation"}, "mode='aggregation' is computed on the CPU only"),
        ({"algorithm": "heap"}, "algorithm='heap' is computed on the CPU only"),
    ],
)
def test_what_is_computed_on_the_cpu_only_says_so_before_it_reads(gpu, options, message):
    with pytest.raises(ValueError, match=message):
        sb.Betula(5, device="cuda", **options).fit(iter([]))


def test_the_parameter_is_kept_by_scikit_learn_and_pickle_and_not_in_files(gpu, tmp_path, monkeypatch):
    X = points()
    model = sb.Betula(5, max_leaves=60, device="cuda").fit(X)
    assert clone(model).device == pickle.loads(pickle.dumps(model)).device == "cuda"
    model.save(tmp_path / "model.sb")
    monkeypatch.undo()  # what says that there is a GPU
    loaded = sb.load(tmp_path / "model.sb")
    assert loaded.device is None
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)
    loaded.set_params(device="gpu")
    with pytest.raises(ValueError, match="device='gpu': must be None"):
        loaded.predict(X)
