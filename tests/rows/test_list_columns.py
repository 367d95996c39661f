"""Columns of lists: as many columns of the rows as the lists are long, in every file and table that can hold them."""

import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import silverbirch as sb
from carriers import CARRIERS
from tables import all_rows

KINDS = {
    "list": lambda X: pa.array(list(X), pa.list_(pa.from_numpy_dtype(X.dtype))),
    "large list": lambda X: pa.array(list(X), pa.large_list(pa.from_numpy_dtype(X.dtype))),
    "fixed-size list": lambda X: pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1]),
    "tensor": lambda X: pa.FixedShapeTensorArray.from_numpy_ndarray(np.ascontiguousarray(X)),
}


matrices = st.sampled_from([np.float64, np.float32, np.float16, np.int64]).flatmap(
    lambda dtype: arrays(
        dtype,
        array_shapes(min_dims=2, max_dims=2, max_side=9),
        elements=st.integers(-50, 50) if dtype is np.int64 else st.floats(-50, 50, width=16),
    )
)


@pytest.mark.parametrize("carrier", CARRIERS)
@given(X=matrices, kind=st.sampled_from(list(KINDS)), batch=st.integers(1, 5), chunk_rows=st.integers(1, 10))
def test_a_matrix_comes_back_from_every_carrier_however_it_is_cut(carrier, X, kind, batch, chunk_rows):
    table = pa.table({"id": [f"n{i}" for i in range(len(X))], "e": KINDS[kind](X), "x": X[:, 0].astype(np.float64)})
    with tempfile.TemporaryDirectory() as folder:
        read = CARRIERS[carrier](table, folder, batch)
        source = sb.read_chunks(read, columns="e", id_column="id", chunk_rows=chunk_rows)
        assert source.names == tuple(f"e[{i}]" for i in range(X.shape[1]))
        assert source.n_dimensions == X.shape[1]
        chunks = list(source.chunks(with_ids=True))
    rows = np.concatenate([chunk.rows for chunk in chunks])
    np.testing.assert_array_equal(rows, X)
    assert rows.dtype == (np.float64 if X.dtype in (np.float64, np.int64) else np.float32)
    assert [i for chunk in chunks for i in chunk.ids.to_pylist()] == table["id"].to_pylist()


FRAMES = {
    "pandas arrays": lambda X: pd.DataFrame({"e": list(X), "x": X[:, 0]}),
    "pandas lists": lambda X: pd.DataFrame({"e": X.tolist(), "x": X[:, 0]}),
    "pandas Arrow": lambda X: pd.DataFrame(
        {"e": pd.Series(X.tolist(), dtype=pd.ArrowDtype(pa.list_(pa.float64()))), "x": X[:, 0]}
    ),
    "polars Array": lambda X: pl.DataFrame({"e": X, "x": X[:, 0]}),
    "polars List": lambda X: pl.DataFrame({"e": X.tolist(), "x": X[:, 0]}),
    "Arrow": lambda X: pa.table({"e": KINDS["list"](X), "x": X[:, 0]}),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_with_lists_and_numbers_is_clustered_as_its_matrix(frame):
    X = np.random.default_rng(0).normal(size=(300, 4))
    table, beside = FRAMES[frame](X), np.column_stack([X, X[:, 0]])
    expected = sb.Betula(3).fit(beside)
    model = sb.Betula(3).fit(table)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(table), expected.labels_)
    np.testing.assert_array_equal(model.transform(table), expected.transform(beside))
    assert model.feature_names_in_.tolist() == ["e[0]", "e[1]", "e[2]", "e[3]", "x"]
    assert sb.CFTree().insert(table).features == sb.CFTree().insert(beside).features
    np.testing.assert_array_equal(sb.linkage(table, "average", "cosine"), sb.linkage(beside, "average", "cosine"))
    exact = sb.AgglomerativeClustering(3).fit(table)
    np.testing.assert_array_equal(exact.labels_, sb.AgglomerativeClustering(3).fit_predict(beside))
    assert exact.feature_names_in_.tolist() == model.feature_names_in_.tolist()


def array_of_arrays(rows):
    return pd.Series(rows).to_numpy()


@pytest.mark.parametrize("series", [pd.Series, pl.Series, array_of_arrays], ids=["pandas", "polars", "numpy"])
def test_a_single_column_of_lists_is_a_matrix(series):
    X = np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_array_equal(sb.Betula(3).fit_predict(series(list(X))), sb.Betula(3).fit_predict(X))
    np.testing.assert_array_equal(sb.linkage(series(list(X)), "ward"), sb.linkage(X, "ward"))


def test_linkage_takes_columns_of_files_and_frames_by_name(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 4))
    table = pd.DataFrame({"name": ["text"] * 50, "e": list(X)})
    table.to_parquet(tmp_path / "rows.parquet")
    for source in (table, tmp_path / "rows.parquet"):
        chosen = sb.read_chunks(source, columns="e", chunk_rows=7)
        np.testing.assert_array_equal(sb.linkage(chosen, "ward"), sb.linkage(X, "ward"))
        assert sb.AgglomerativeClustering(3).fit(chosen).feature_names_in_.tolist() == ["e[0]", "e[1]", "e[2]", "e[3]"]


@pytest.mark.parametrize("kind", ["list", "large list", "fixed-size list"])
def test_missing_lists_and_missing_elements_are_missing_values(kind, tmp_path):
    whole = KINDS[kind](np.ones((3, 2)))
    values = pa.array([None, [1.0, None], [2.0, 3.0]], whole.type)
    pq.write_table(pa.table({"e": values}), tmp_path / "rows.parquet")
    for read in (tmp_path / "rows.parquet", pa.table({"e": values}), pa.table({"e": values}).to_reader()):
        np.testing.assert_array_equal(all_rows(sb.read_chunks(read)), [[np.nan] * 2, [1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(ValueError, match=r"row 0 of .*rows.parquet, column 'e\[0\]' is nan: .*drop or fill"):
        sb.CFTree().insert(tmp_path / "rows.parquet")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_first_list_of_a_frame_may_be_missing(frame):
    table = frame({"e": [None, None, [1.0, 2.0]], "x": [1.0, 2.0, 3.0]})
    rows = all_rows(sb.read_chunks(table, columns=["x", "e"], chunk_rows=2))
    np.testing.assert_array_equal(rows, [[1, np.nan, np.nan], [2, np.nan, np.nan], [3, 1, 2]])


def test_lists_of_booleans_and_decimals_are_numbers():
    flags, money = pa.array([[True, False]]), pa.array([["1.50"]]).cast(pa.list_(pa.decimal128(5, 2)))
    assert all_rows(sb.read_chunks(pa.table({"f": flags, "m": money}))).tolist() == [[1.0, 0.0, 1.5]]


def test_rows_of_one_column_of_lists_are_not_copied():
    X = np.random.default_rng(0).normal(size=(100, 8))
    (chunk,) = sb.read_chunks(pa.table({"e": KINDS["fixed-size list"](X)})).chunks()
    assert np.shares_memory(chunk.rows, X)


def write_lists(path, *lists, kind=None):
    pq.write_table(pa.table({"e": pa.array(list(lists), kind or pa.list_(pa.float64()))}), path)
    return path


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[1.0, 2.0], [3.0]], r"row 1 of .*a.parquet, column 'e' has a list of 1 numbers where 2 came before"),
        ([None, [1.0], [], [2.0]], r"row 2 of .*a.parquet, column 'e' has a list of 0 numbers where 1 came before"),
        ([[], [1.0]], r"column 'e' of .*a.parquet begins with an empty list"),
        ([None, None], r"column 'e' of .*a.parquet has no list in any row"),
    ],
)
def test_lists_of_other_lengths_are_refused_with_their_place(lists, message, tmp_path):
    path = write_lists(tmp_path / "a.parquet", *lists)
    with pytest.raises(ValueError, match=message):
        sb.CFTree().insert(path)


def test_all_files_need_lists_of_the_same_length(tmp_path):
    write_lists(tmp_path / "a.parquet", [1.0, 2.0])
    write_lists(tmp_path / "b.parquet", None, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"'e' has lists of 2 numbers in .*a.parquet but of 3 in .*b.parquet"):
        sb.read_chunks(tmp_path)
    pq.write_table(pa.table({"e": [1.0]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"'e' of .*b.parquet holds double, but lists in other files"):
        sb.read_chunks(tmp_path)
    write_lists(tmp_path / "b.parquet", None)
    assert sb.read_chunks(tmp_path).n_dimensions == 2


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.null()])
def test_the_columns_asked_for_tell_the_length_where_no_row_has_a_list(kind):
    table = pa.table({"x": [1.0, 2.0], "e": pa.nulls(2, kind)})
    rows = all_rows(sb.read_chunks(table, columns=["x", "e[0]", "e[1]"]))
    np.testing.assert_array_equal(rows, [[1, np.nan, np.nan], [2, np.nan, np.nan]])
    with pytest.raises(ValueError, match="a column of lists is read as a whole"):
        sb.read_chunks(table, columns=["e[0]", "e[2]"])


def test_a_stream_whose_lists_change_their_length_is_refused_and_the_tree_stays():
    tree = sb.CFTree().insert(np.ones((3, 2)))
    chunks = (pa.table({"e": [[1.0] * width]}) for width in (2, 2, 3))
    with pytest.raises(ValueError, match=r"row 0 of chunk 2 of the stream, column 'e' has a list of 3 numbers where 2"):
        tree.insert(chunks)
    assert tree.n_points == 3


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.list_(pa.list_(pa.float64()))])
def test_lists_of_anything_else_are_not_numbers(kind):
    table = pa.table({"x": [1.0], "t": pa.nulls(1, kind)})
    with pytest.raises(ValueError, match=r"not numbers: 't' \(list"):
        sb.read_chunks(table)
    assert sb.read_chunks(table, numeric_only=True).names == ("x",)


def test_numeric_only_keeps_lists_of_numbers_and_text_is_named_without_it():
    table = pa.table({"name": ["a"], "e": [[1.0, 2.0]]})
    assert sb.read_chunks(table, numeric_only=True).names == ("e[0]", "e[1]")
    with pytest.raises(ValueError, match=r"columns that are not numbers: 'name' \(string\)\. Choose"):
        sb.read_chunks(table)


def test_the_names_of_a_model_choose_its_columns_again(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"name": ["a"] * 40, "e": KINDS["list"](X), "x": X[:, 0]}), path)
    model = sb.Betula(2).fit(sb.read_chunks(path, columns=["x", "e"]))
    again = sb.read_chunks(path, columns=model.feature_names_in_)
    np.testing.assert_array_equal(model.predict(again), model.labels_)
    with pytest.raises(
        ValueError, match=r"'e' has lists of 3 numbers, but the columns asked for are 'e\[0\]' to 'e\[1\]"
    ):
        sb.read_chunks(path, columns=["e[0]", "e[1]"])


def test_a_plain_column_may_have_brackets_in_its_name():
    table = pa.table({"e[0]": [1.0], "e": [[2.0]]})
    assert all_rows(sb.read_chunks(table, columns="e[0]")).tolist() == [[1.0]]
    with pytest.raises(ValueError, match=r"both become 'e\[0\]': rename"):
        sb.read_chunks(table)


def test_metadata_hold_no_extremes_of_lists(tmp_path):
    assert sb.read_chunks(write_lists(tmp_path / "a.parquet", [1.0, 2.0])).extremes() is None
