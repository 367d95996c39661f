"""Kept columns: any column of the input beside the rows, as it was written, in the order of the rows."""

import datetime
import itertools
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import silverbirch as sb
from carriers import CARRIERS
from tables import FORMATS, frame, write


def kept_of(source):
    chunks = list(source.chunks(with_ids=True))
    assert all(chunk.kept.num_rows == len(chunk) for chunk in chunks)
    return pa.Table.from_batches([chunk.kept for chunk in chunks])


def table_of_all_types(n):
    return pa.table(
        {
            "text": [None if i % 5 == 3 else f"t{i}" for i in range(n)],
            "x": np.arange(n) / 4,
            "when": [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=i) for i in range(n)],
            "lists": pa.array([list(range(i % 3)) for i in range(n)], pa.list_(pa.int32())),
            "city": pa.array([f"city {i % 3}" for i in range(n)]).dictionary_encode(),
            "whole": pa.array(np.arange(n), pa.int16()),
        }
    )


@pytest.mark.parametrize("carrier", CARRIERS)
@given(
    keep=st.lists(st.sampled_from(table_of_all_types(1).column_names), unique=True, min_size=1),
    id_column=st.sampled_from([None, "text", "whole"]),
    batch=st.integers(1, 6),
    chunk_rows=st.integers(1, 15),
)
def test_columns_of_any_type_are_kept_in_the_order_asked_for(carrier, keep, id_column, batch, chunk_rows):
    table = table_of_all_types(13)
    with tempfile.TemporaryDirectory() as folder:
        read = CARRIERS[carrier](table, folder, batch)
        source = sb.read_chunks(read, columns="x", keep=keep, id_column=id_column, chunk_rows=chunk_rows)
        assert source.names == ("x",)
        kept = kept_of(source)
    names = list(dict.fromkeys([*([] if id_column is None else [id_column]), *keep]))
    expected = table.select(names)
    assert kept.column_names == names
    assert kept.to_pylist() == expected.to_pylist()
    plain = [column.type.value_type if pa.types.is_dictionary(column.type) else column.type for column in expected]
    assert kept.schema.types == plain


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_keeps_columns_as_they_were_written(name, tmp_path):
    table = frame()
    source = sb.read_chunks(write(table, tmp_path / name), columns="x", keep=["name", "count"], chunk_rows=100)
    kept = kept_of(source)
    assert kept["name"].cast("string").to_pylist() == table["name"].tolist()
    assert list(map(int, kept["count"].to_pylist())) == table["count"].tolist()


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame])
def test_data_frames_keep_columns(frame_of):
    source = sb.read_chunks(frame_of({"x": [1.0, 2.0, 3.0], "city": ["a", "b", "c"]}), keep="city", chunk_rows=2)
    assert source.names == ("x",)
    assert kept_of(source)["city"].to_pylist() == ["a", "b", "c"]


def test_columns_of_arrays_are_kept_by_their_numbers():
    rows = np.arange(12.0).reshape(4, 3)
    source = sb.read_chunks(rows, keep=1, id_column=2, chunk_rows=3)
    np.testing.assert_array_equal(np.concatenate(list(source)), rows[:, :1])
    assert kept_of(source).to_pydict() == {"2": rows[:, 2].tolist(), "1": rows[:, 1].tolist()}


def test_a_kept_column_is_clustered_only_if_columns_names_it():
    table = pa.table({"x": [1.0, 2.0], "y": [3.0, 4.0], "city": ["a", "b"]})
    assert sb.read_chunks(table, keep=["city", "y"]).names == ("x",)
    both = sb.read_chunks(table, columns=["x", "y"], keep="y")
    assert both.names == ("x", "y")
    assert kept_of(both).to_pydict() == {"y": [3.0, 4.0]}


def test_ids_are_the_id_column_and_not_the_first_kept_column():
    table = pa.table({"x": [1.0, 2.0], "city": ["a", "b"], "id": [7, 8]})
    (chunk,) = sb.read_chunks(table, columns="x", keep="city").chunks(with_ids=True)
    assert chunk.ids is None
    (chunk,) = sb.read_chunks(table, keep=["city", "id"], id_column="id").chunks(with_ids=True)
    assert chunk.ids.to_pylist() == [7, 8]
    assert chunk.kept.schema.names == ["id", "city"]
    (chunk,) = sb.read_chunks(table, keep="city", id_column="id").chunks()
    assert chunk.kept is None
    assert chunk.ids is None


def test_a_csv_file_keeps_text_exactly_as_written(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,zip,day\n1,007,2024-01-02\n2,NA,\n3,1e3,x\n")
    kept = kept_of(sb.read_chunks(path, keep=["zip", "day"]))
    assert kept.to_pydict() == {"zip": ["007", "NA", "1e3"], "day": ["2024-01-02", "", "x"]}


def test_a_kept_column_with_another_type_in_another_file_is_text(tmp_path):
    for name, number in (("a", pa.array([1, 2])), ("b", pa.array(["x", "y"]))):
        pq.write_table(pa.table({"x": [1.0, 2.0], "k": number, "same": [1, 2]}), tmp_path / f"{name}.parquet")
    kept = kept_of(sb.read_chunks(tmp_path, keep=["k", "same"]))
    assert kept.to_pydict() == {"k": ["1", "2", "x", "y"], "same": [1, 2, 1, 2]}


def test_lists_that_are_text_elsewhere_cannot_be_kept(tmp_path):
    pq.write_table(pa.table({"x": [1.0], "k": ["a"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [1.0], "k": [[1]]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"'k' of .*b\.parquet holds list<.*>, and another type in other files"):
        kept_of(sb.read_chunks(tmp_path, keep="k"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": "z"}, "has no column 'z'; it has 'x', 'y'"),
        ({"keep": ["y", "y"]}, "keep names 'y' twice"),
        ({"keep": ["x", "y"]}, "has no column of numbers to read"),
    ],
)
def test_what_cannot_be_kept_is_refused(options, message, tmp_path):
    pd.DataFrame({"x": [1.0], "y": [2.0]}).to_parquet(Path(tmp_path, "rows.parquet"))
    with pytest.raises(ValueError, match=message):
        sb.read_chunks(tmp_path / "rows.parquet", **options)


def test_chunks_continue_with_their_kept_columns_wherever_reading_begins(tmp_path):
    pq.write_table(table_of_all_types(20), tmp_path / "rows.parquet", row_group_size=7)
    source = sb.read_chunks(tmp_path / "rows.parquet", columns="x", keep=["city", "text"], chunk_rows=3)
    chunks = list(source.chunks(with_ids=True))
    for before, chunk in itertools.pairwise(chunks):
        assert next(source.chunks(before.end, with_ids=True)).kept == chunk.kept


def test_projected_rows_keep_their_columns():
    from silverbirch.rows.projected_source import ProjectedSource, Projection

    table = pa.table({f"c{i}": np.arange(3000.0) + i for i in range(300)} | {"name": [f"r{i}" for i in range(3000)]})
    source = ProjectedSource(sb.read_chunks(table, id_column="name", chunk_rows=3000), Projection(2))
    chunks = list(source.chunks(with_ids=True))
    assert len(chunks) > 1
    assert [i for chunk in chunks for i in chunk.ids.to_pylist()] == table["name"].to_pylist()
