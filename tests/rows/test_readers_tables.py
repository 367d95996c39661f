"""Readers of tables in memory and of streams: the same rows, nothing converted as a whole, nothing read twice."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import silverbirch as sb
from silverbirch.rows import Position, source_of
from silverbirch.rows.memory_source import MemorySource
from tables import NUMBERS, all_rows, frame


class OnlyAStream:
    """An object with nothing but an Arrow C stream, as duckdb and others return."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def arrow(table):
    return pa.Table.from_pandas(table, preserve_index=False)


KINDS = {
    "pandas": lambda table: table,
    "pandas, other index": lambda table: table.set_index(np.arange(len(table))[::-1]),
    "pandas of arrow": lambda table: table.convert_dtypes(dtype_backend="pyarrow"),
    "pandas nullable": lambda table: table.convert_dtypes(),
    "polars": pl.from_pandas,
    "pyarrow": arrow,
    "record batch": lambda table: arrow(table).combine_chunks().to_batches()[0],
    "reader": lambda table: arrow(table).to_reader(max_chunksize=77),
    "Arrow C stream": lambda table: OnlyAStream(arrow(table)),
}
ONCE = ("reader", "Arrow C stream")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_its_numbers_and_ids_in_equal_chunks(kind):
    table = frame(450)
    source = sb.read_chunks(KINDS[kind](table), columns=["y", "count"], id_column="name", chunk_rows=100)
    assert source.names == ("y", "count")
    assert source.repeatable == (kind not in ONCE)
    assert source.n_rows == (None if kind in ONCE else 450)
    assert source.fingerprint() is None
    chunks = list(source.chunks(with_ids=True))
    assert [len(chunk.rows) for chunk in chunks] == [100, 100, 100, 100, 50]
    np.testing.assert_array_equal(np.concatenate([c.rows for c in chunks]), table[["y", "count"]].to_numpy())
    assert [i for c in chunks for i in c.ids.to_pylist()] == table["name"].tolist()
    assert chunks[-1].end == Position(1, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_numeric_only_finds_the_numbers_of_every_kind_of_table(kind):
    assert sb.read_chunks(KINDS[kind](frame()), numeric_only=True, id_column="name").names == tuple(NUMBERS)


@pytest.mark.parametrize("kind", [*ONCE, "generator"])
def test_a_stream_is_read_once(kind):
    source = sb.read_chunks(iter([np.ones((3, 2))]) if kind == "generator" else KINDS[kind](frame()[["x"]]))
    assert list(source)
    with pytest.raises(ValueError, match="was read already and cannot be read again"):
        next(source.chunks())


def test_columns_of_a_table_that_are_numbers_are_chosen_by_number():
    table = pd.DataFrame(np.arange(12.0).reshape(4, 3))
    assert all_rows(sb.read_chunks(table, columns=[2, 0])).tolist() == table[[2, 0]].to_numpy().tolist()


def test_float32_tables_stay_float32():
    for kind in ("pandas", "polars", "pyarrow", "reader"):
        source = sb.read_chunks(KINDS[kind](frame()[["x", "y"]].astype(np.float32)))
        assert all_rows(source).dtype == np.float32


GENERATED = {
    "arrays": lambda parts: [part.to_numpy() for part in parts],
    "lists": lambda parts: [part.to_numpy().tolist() for part in parts],
    "pandas": list,
    "polars": lambda parts: [pl.from_pandas(part) for part in parts],
    "batches": lambda parts: [arrow(part).combine_chunks().to_batches()[0] for part in parts],
    "tables": lambda parts: [arrow(part) for part in parts],
    "all kinds": lambda parts: [parts[0], pl.from_pandas(parts[1]), arrow(parts[2])],
}


@pytest.mark.parametrize("kind", GENERATED)
def test_chunks_of_a_generator_are_kept_as_they_come(kind):
    table = frame(300)[NUMBERS].astype(float)
    parts = [table[:7], table[7:8], table[8:]]
    source = sb.read_chunks(chunk for chunk in GENERATED[kind](parts))
    assert (source.n_rows, source.n_dimensions, source.repeatable) == (None, 3, False)
    chunks = list(source.chunks())
    assert [(c.begin, c.end) for c in chunks] == [((i, 0), (i + 1, 0)) for i in range(3)]
    for chunk, part in zip(chunks, parts, strict=True):
        np.testing.assert_array_equal(chunk.rows, part.to_numpy())


def test_empty_chunks_are_passed_over_and_places_count_them():
    X = np.ones((4, 2))
    X[3, 0] = np.nan
    source = sb.read_chunks(iter([X[:0], X[:3], X[:0], X]))
    assert source.n_dimensions == 2
    with pytest.raises(ValueError, match=r"^row 3 of chunk 3, column 0 is nan"):
        list(source)


def test_tables_of_a_generator_are_read_by_the_names_of_the_first():
    parts = [pd.DataFrame({"a": [1.0], "b": [2.0]}), pd.DataFrame({"b": [4.0], "a": [3.0], "c": [0.0]})]
    source = sb.read_chunks(iter(parts))
    assert source.names == ("a", "b")
    assert np.concatenate(list(source)).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (np.ones((3, 3)), "chunk 1 of the stream has 3 columns, not those of the first chunk"),
        (np.ones((3, 1)), "chunk 1 of the stream has 1 columns, not those of the first chunk"),
        (np.ones(3), "chunk 1 of the stream is 1-D"),
        (pd.DataFrame({"0": [1.0], "1": [1.0]}), "chunk 1 of the stream .*not those of the first chunk"),
        (np.array([["a", "b"]]), "chunk 1 of the stream holds <U1"),
        (None, "chunk 1 of the stream is a NoneType"),
    ],
)
def test_a_chunk_that_does_not_fit_is_refused_by_number(second, message):
    with pytest.raises((ValueError, TypeError), match=message):
        list(sb.read_chunks(iter([np.ones((2, 2)), second])))


def test_a_generator_that_fails_says_so_itself():
    def rows():
        yield np.ones((2, 2))
        raise ConnectionError("the line is down")

    with pytest.raises(ConnectionError, match="the line is down"):
        list(sb.read_chunks(rows()))


def test_reading_can_begin_at_a_later_chunk_of_a_generator():
    parts = [np.full((2, 1), number) for number in range(5)]
    assert [c.rows[0, 0] for c in sb.read_chunks(iter(parts)).chunks(Position(3, 0))] == [3, 4]


def test_a_mapped_file_is_converted_chunk_by_chunk(tmp_path):
    half = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float16, (300, 3), fortran_order=True)
    half[:] = np.random.default_rng(0).normal(size=half.shape)
    assert not isinstance(source_of(half), MemorySource)
    np.testing.assert_array_equal(all_rows(sb.read_chunks(half, chunk_rows=64)), np.asarray(half, np.float32))
