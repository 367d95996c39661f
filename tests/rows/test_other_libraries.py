"""Arrays, tensors and annotated data of other libraries, recognised without importing them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import silverbirch as sb
from models import points
from tables import all_rows


class Exported:
    """An array with DLPack alone."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class Converted:
    """An array with `__array__` alone."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype=dtype)


class Tensor(Exported):
    """What torch does: no conversion of gradients, of bfloat16 or from a GPU."""

    def __init__(self, array, *, dtype="torch.float64", requires_grad=False, device="cpu", kind=2):
        super().__init__(array)
        self._kind = kind
        self.dtype, self.requires_grad, self.device, self.shape = dtype, requires_grad, device, array.shape

    def detach(self):
        return type(self)(self._array, dtype=self.dtype, device=self.device, kind=self._kind)

    def cpu(self):
        return Tensor(self._array, dtype=self.dtype)

    def __getitem__(self, at):
        return Tensor(self._array[at], dtype=self.dtype, device=self.device)

    def float(self):
        return Tensor(self._array.astype(np.float32), dtype="torch.float32", device=self.device)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()")
        return np.asarray(self._array, dtype=dtype)

    def __dlpack_device__(self):
        return (1, 0) if self.device == "cpu" else (self._kind, 0)


ARRAYS = {
    "DLPack": Exported,
    "__array__": Converted,
    "tensor": Tensor,
    "tensor with gradients": lambda X: Tensor(X, requires_grad=True),
    "tensor of bfloat16": lambda X: Tensor(X, dtype="torch.bfloat16"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_other_libraries_are_rows_everywhere(kind):
    X = np.round(points() * 8)  # whole numbers, which float32 holds
    other = ARRAYS[kind](X)
    expected = sb.Betula(4, max_leaves=40).fit(X)
    model = sb.Betula(4, max_leaves=40).fit(other)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(other), expected.labels_)
    np.testing.assert_allclose(model.transform(other), expected.transform(X), rtol=1e-5)
    assert sb.CFTree().insert(other).features == sb.CFTree().insert(X).features
    np.testing.assert_array_equal(all_rows(sb.read_chunks(other, columns=[2, 0])), X[:, [2, 0]])
    np.testing.assert_array_equal(all_rows(sb.read_chunks(iter([other, other]))), np.concatenate([X, X]))


def test_an_exported_array_is_not_copied():
    X = points()
    (chunk,) = sb.read_chunks(Exported(X)).chunks()
    assert np.shares_memory(chunk.rows, X)


def test_rows_on_a_gpu_are_copied_to_main_memory_for_a_tree():
    X, rows = points(), Tensor(points(), device="cuda:0")
    assert sb.CFTree(max_leaves=40).insert(rows).features == sb.CFTree(max_leaves=40).insert(X).features
    expected, model = sb.Betula(4, max_leaves=40).fit(X), sb.Betula(4, max_leaves=40, device="cpu").fit(rows)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(rows), expected.labels_)
    np.testing.assert_array_equal(model.transform(rows), expected.transform(X))


@pytest.mark.parametrize(("kind", "device"), [(2, "cuda:0"), (8, "mps:0")])
def test_rows_of_chunks_and_of_other_devices_say_how_to_bring_them_to_main_memory(kind, device):
    rows = Tensor(points(), device=device, kind=kind)
    with pytest.raises(TypeError, match=rf"X is a Tensor on {device}: .*main memory; pass X.cpu\(\)"):
        sb.read_chunks(rows)
    if kind != 2:
        with pytest.raises(TypeError, match=rf"X is a Tensor on {device}: .*main memory; pass X.cpu\(\)"):
            sb.CFTree().insert(rows)


def test_other_errors_of_a_library_stay_as_they_are():
    class Broken(Tensor):
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("the storage was freed")

    with pytest.raises(RuntimeError, match="the storage was freed"):
        sb.CFTree().insert(Broken(points()))


# -- AnnData


class AnnData:
    """What anndata has: X, var_names and obsm."""

    def __init__(self, X, names, **obsm):
        self.X, self.var_names, self.obsm, self.shape = X, pd.Index(names), obsm, X.shape


def test_annotated_data_are_clustered_by_their_variables():
    X = points()
    data = AnnData(X, ["CD3E", "MS4A1", "NKG7"])
    model = sb.Betula(4).fit(data)
    np.testing.assert_array_equal(model.labels_, sb.Betula(4).fit(X).labels_)
    assert model.feature_names_in_.tolist() == ["CD3E", "MS4A1", "NKG7"]
    np.testing.assert_array_equal(all_rows(sb.read_chunks(data, columns=["NKG7", "CD3E"])), X[:, [2, 0]])


def test_matrices_of_annotated_data_are_chosen_by_name():
    X, components, tensor = points(), points(d=2, seed=1), points(d=1, seed=2)
    data = AnnData(X, list("abc"), X_pca=components, X_umap=tensor)
    source = sb.read_chunks(data, columns="X_pca")
    assert source.names == ("X_pca[0]", "X_pca[1]")
    np.testing.assert_array_equal(all_rows(source), components)
    both = sb.read_chunks(data, columns=["X_umap", "X_pca"])
    np.testing.assert_array_equal(all_rows(both), np.hstack([tensor, components]))
    with pytest.raises(
        ValueError, match=r"X has no variable 'X_tsne' and no such matrix in obsm, which has 'X_pca', 'X_umap'"
    ):
        sb.read_chunks(data, columns="X_tsne")


def test_sparse_annotated_data_are_projected_or_refused_with_the_numbers():
    X = sparse.random_array((60, 300), density=0.1, rng=0, format="csr")
    data = AnnData(X, [f"gene {i}" for i in range(300)])
    with pytest.raises(TypeError, match=r"sparse matrix of 60 × 300: .*144 kB.*projection=256"):
        sb.Betula(3).fit(data)
    labels = sb.Betula(3, projection=20).fit_predict(data)
    np.testing.assert_array_equal(labels, sb.Betula(3, projection=20).fit_predict(X))


def test_something_else_of_that_name_is_not_taken_for_annotated_data():
    other = type("AnnData", (SimpleNamespace,), {})()
    with pytest.raises(TypeError, match="AnnData"):
        sb.read_chunks(other)


# -- datasets of pyarrow


@pytest.fixture
def folder(tmp_path):
    """Two files with a column of text and a dot in a name."""
    X = points(100)
    for number, part in enumerate(np.split(X, [70])):
        table = pa.table({"text": ["a"] * len(part), "x.y": part[:, 0], "z": part[:, 1]})
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=30)
    return tmp_path, X[:, :2]


def test_a_dataset_is_read_as_often_as_needed_and_only_in_the_columns_asked_for(folder):
    path, X = folder
    source = sb.read_chunks(ds.dataset(path), columns=["z", "x.y"], chunk_rows=17)
    np.testing.assert_array_equal(all_rows(source), X[:, ::-1])
    np.testing.assert_array_equal(all_rows(source), X[:, ::-1])
    first, *_, last = source.chunks()
    np.testing.assert_array_equal(next(source.chunks(first.end)).rows, X[17:34, ::-1])
    assert len(last) == 100 % 17
    model = sb.Betula(4).fit(source)
    np.testing.assert_array_equal(model.labels_, sb.Betula(4).fit(X[:, ::-1]).labels_)
    with pytest.raises(ValueError, match=r"the dataset has columns that are not numbers: 'text' \(string\)"):
        sb.Betula(4).fit(ds.dataset(path))


def test_a_scanner_is_read_once_with_its_filter(folder):
    path, X = folder
    data = ds.dataset(path)
    source = sb.read_chunks(data.scanner(columns=["z"], filter=ds.field("z") > 0))
    np.testing.assert_array_equal(all_rows(source).ravel(), X[X[:, 1] > 0, 1])
    with pytest.raises(ValueError, match="was read already"):
        next(source.chunks())
    assert all_rows(sb.read_chunks(data.filter(ds.field("z") > 0), columns="z")).min() > 0
