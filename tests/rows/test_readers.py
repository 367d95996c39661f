"""Readers: the same rows from every format, in the same chunks wherever reading begins."""

import gzip
import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from silverbirch.rows import START, Chunk, Position, source_of
from tables import FORMATS, NUMBERS, all_rows, frame, write


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_numbers_that_were_written(name, tmp_path):
    table = frame()
    source = sb.read_chunks(write(table, tmp_path / name), columns=NUMBERS)
    assert (source.names, source.n_dimensions, source.repeatable) == (tuple(NUMBERS), 3, True)
    assert source.n_rows in (len(table), None)
    rows = all_rows(source)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, table[NUMBERS].to_numpy())


@pytest.mark.parametrize("name", FORMATS)
def test_ids_stay_as_they_were_written_and_keep_their_rows(name, tmp_path):
    table = frame()
    source = sb.read_chunks(write(table, tmp_path / name), columns=["x"], id_column="name", chunk_rows=100)
    chunks = list(source.chunks(with_ids=True))
    assert pa.chunked_array([c.ids.cast(pa.string()) for c in chunks]).to_pylist() == table["name"].tolist()
    assert all(len(c.ids) == len(c.rows) for c in chunks)
    assert next(source.chunks()).ids is None


def cut_by_hand(rows, size):
    return [rows[start : start + size].tobytes() for start in range(0, len(rows), size)]


@pytest.mark.parametrize("name", [*FORMATS, "rows.npy", "frame", "table", "array"])
def test_chunks_depend_on_the_file_alone_wherever_reading_begins(name, tmp_path):
    table = frame(700)
    numbers = np.ascontiguousarray(table[NUMBERS].to_numpy())
    if name == "rows.npy":
        np.save(tmp_path / name, numbers)
        what = tmp_path / name
    elif "." in name:
        what = write(table[NUMBERS], tmp_path / name)
    else:
        what = {"frame": table[NUMBERS], "table": pa.Table.from_pandas(table[NUMBERS]), "array": numbers}[name]

    @given(size=st.integers(1, 800), which=st.integers(0, 10**6))
    @settings(deadline=None, max_examples=10)
    def check(size, which):
        source = sb.read_chunks(what, chunk_rows=size)
        chunks = list(source.chunks())
        assert [chunk.rows.tobytes() for chunk in chunks] == cut_by_hand(numbers, size)
        assert [c.begin for c in chunks] == [START, *(c.end for c in chunks[:-1])]
        assert chunks[-1].end == Position(1, 0)
        number = which % len(chunks)
        again = list(source.chunks(chunks[number].begin))
        assert [c.rows.tobytes() for c in again] == [c.rows.tobytes() for c in chunks[number:]]
        assert [(c.begin, c.end) for c in again] == [(c.begin, c.end) for c in chunks[number:]]

    check()


def test_files_follow_each_other_and_each_begins_a_chunk(tmp_path):
    tables = [frame(250, seed=0), frame(0), frame(100, seed=1)[["kind", "y", "count", "x", "name"]], frame(3, seed=2)]
    names = ["a.parquet", "b.csv", "c.csv.gz", "d.arrow"]
    paths = [write(table, tmp_path / name) for table, name in zip(tables, names, strict=True)]
    source = sb.read_chunks(paths, columns=NUMBERS, id_column="name", chunk_rows=100)
    chunks = list(source.chunks(with_ids=True))
    assert [len(c.rows) for c in chunks] == [100, 100, 50, 100, 3]
    assert [c.begin for c in chunks] == [(0, 0), (0, 100), (0, 200), (2, 0), (3, 0)]
    assert [c.end for c in chunks] == [(0, 100), (0, 200), (1, 0), (3, 0), (4, 0)]
    whole = pd.concat(tables)
    np.testing.assert_array_equal(all_rows(source), whole[NUMBERS].to_numpy())
    np.testing.assert_array_equal(all_rows(source, (1, 0)), pd.concat(tables[1:])[NUMBERS].to_numpy())
    assert [i for c in chunks for i in c.ids.to_pylist()] == whole["name"].tolist()
    assert source.place(Position(2, 7)) == f"row 7 of {paths[2]}"


def test_a_folder_is_all_files_below_that_can_be_read_in_order(tmp_path):
    for name in ["b/2.parquet", "a.csv", "b/1.csv", "_tmp/x.csv", ".hidden.csv", "_SUCCESS.csv", "notes.txt", "c.xlsx"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        write(frame(5, seed=len(name)), path) if path.suffix in (".csv", ".parquet") else path.write_text("no rows")
    source = sb.read_chunks(tmp_path, columns=["x"])
    names = [entry["name"] for entry in source.fingerprint()]
    assert names == [str(tmp_path / name) for name in ("a.csv", "b/1.csv", "b/2.parquet")]
    by_pattern = sb.read_chunks(str(tmp_path / "b" / "*"), columns=["x"])
    assert [entry["name"] for entry in by_pattern.fingerprint()] == names[1:]
    assert [entry["bytes"] for entry in by_pattern.fingerprint()] == [
        (tmp_path / name).stat().st_size for name in ("b/1.csv", "b/2.parquet")
    ]


def test_a_name_with_brackets_is_a_file_before_it_is_a_pattern(tmp_path):
    path = write(frame(5), tmp_path / "rows[1].csv")
    assert len(all_rows(sb.read_chunks(str(path), columns=["x"]))) == 5


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", "i2", "u8", "?", ">i8", "g"])
def test_npy_files_of_every_number_type_and_order(order, dtype, tmp_path):
    numbers = np.random.default_rng(0).normal(size=(300, 4)) * 100
    numbers = np.asarray(np.abs(numbers) if dtype in ("u8", "?") else numbers, dtype=dtype, order=order)
    np.save(tmp_path / "rows.npy", numbers)
    source = sb.read_chunks(tmp_path / "rows.npy", chunk_rows=128)
    rows = all_rows(source)
    assert rows.dtype == (np.float32 if dtype in ("f2", "f4", ">f4") else np.float64)
    np.testing.assert_array_equal(rows, numbers.astype(rows.dtype))
    assert (source.names, source.n_rows) == (None, 300)
    chosen = sb.read_chunks(tmp_path / "rows.npy", columns=[2, "0"], id_column=1)
    np.testing.assert_array_equal(all_rows(chosen), rows[:, [2, 0]])
    assert np.array_equal(next(chosen.chunks(with_ids=True)).ids.to_numpy(False), numbers[:, 1])


NUMBER_TYPES = {
    "int8": pa.int8(), "uint64": pa.uint64(), "int64": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "half": pa.float16(), "decimal": pa.decimal128(12, 3), "bool": pa.bool_(),
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBER_TYPES)
@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow", "rows.arrows", "table"])
def test_every_number_type_of_arrow_is_read_and_nulls_are_missing(kind, name, tmp_path):
    values = [None, True, False, None] if kind == "bool" else [1, None, 0, 100]
    values = [np.float16(v) if kind == "half" and v is not None else v for v in values]
    table = pa.table({"v": pa.array(values, type=NUMBER_TYPES[kind]), "none": pa.nulls(4)})
    what = table if name == "table" else write(table, tmp_path / name)
    rows = all_rows(sb.read_chunks(what))
    np.testing.assert_array_equal(rows[:, 0], [np.nan if v is None else float(v) for v in values])
    assert np.isnan(rows[:, 1]).all()
    alone = all_rows(sb.read_chunks(what, columns="v"))
    assert alone.dtype == (np.float32 if kind in ("float", "half") else np.float64)


@pytest.mark.parametrize("kinds", [("f4", "f4"), ("f4", "f8"), ("f2", "f4"), ("i4", "f4")])
def test_all_files_of_an_input_have_one_precision(kinds, tmp_path):
    for number, kind in enumerate(kinds):
        pq.write_table(pa.table({"x": np.ones(3, dtype=kind)}), tmp_path / f"{number}.parquet")
    expected = np.float32 if set(kinds) <= {"f2", "f4"} else np.float64
    assert {rows.dtype.type for rows in sb.read_chunks(tmp_path)} == {expected}


def test_contiguous_rows_of_an_array_are_passed_on_without_a_copy():
    for dtype in (np.float32, np.float64):
        X = np.ones((1000, 3), dtype=dtype)
        assert all(np.shares_memory(rows, X) for rows in sb.read_chunks(X, chunk_rows=300))


def test_the_usual_chunk_is_some_megabytes_in_a_power_of_two_of_rows():
    for columns, rows in [(1, 65_536), (8, 65_536), (10, 32_768), (384, 1024), (10_000, 32)]:
        assert sb.rows.source.usual_chunk_rows(columns) == rows


# -- CSV


def from_text(tmp_path, text, name="rows.csv", **options):
    (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return sb.read_chunks(tmp_path / name, **options)


def test_a_csv_column_that_begins_with_whole_numbers_may_go_on_with_fractions(tmp_path):
    text = "x\n" + "1\n" * 1_000_000 + "1.5\n"
    assert all_rows(from_text(tmp_path, text))[-1] == 1.5


def test_text_in_a_csv_column_of_numbers_is_refused_with_column_line_and_value(tmp_path):
    text = "name,x\n" + "a,1\n" * 1_000_000 + "b,so'so\n"
    source = from_text(tmp_path, text, numeric_only=True)
    with pytest.raises(
        ValueError, match=r"rows.csv, line 1000002: column 'x' holds \"so'so\" where numbers came before"
    ):
        all_rows(source)


def test_what_csv_readers_call_missing_is_missing(tmp_path):
    rows = all_rows(from_text(tmp_path, "x,y\n1,\nNA,2\nNaN,null\nN/A,3\n"))
    np.testing.assert_array_equal(rows, [[1, np.nan], [np.nan, 2], [np.nan, np.nan], [np.nan, 3]])


def test_quotes_newlines_windows_lines_and_byte_order_marks_are_read(tmp_path):
    text = '\ufeff"x",note\r\n"1.5","a ""b"",\r\nc"\r\n2,d\r\n'
    source = from_text(tmp_path, text, columns=["x"], id_column="note")
    (chunk,) = source.chunks(with_ids=True)
    assert (chunk.rows.ravel().tolist(), chunk.ids.to_pylist()) == ([1.5, 2.0], ['a "b",\r\nc', "d"])


def test_ids_of_a_csv_are_text_even_if_empty_or_numbers(tmp_path):
    source = from_text(tmp_path, "id,x\n007,1\n,2\nNA,3\n1e3,4\n", id_column="id")
    assert next(source.chunks(with_ids=True)).ids.to_pylist() == ["007", "", "NA", "1e3"]


def test_csv_lines_longer_than_a_block_are_read(tmp_path):
    long = "z" * 3_000_000
    source = from_text(
        tmp_path, f"x,note\n1,a\n2,{long}\n3,b\n" + "4,c\n" * 400_000 + f"5,{long}{long}\n", columns=["x"]
    )
    values = all_rows(source).ravel()
    assert (len(values), values[:3].tolist(), values[-1], values.sum()) == (400_004, [1, 2, 3], 5, 1_600_011)


def test_truth_values_of_a_csv_are_numbers(tmp_path):
    assert all_rows(from_text(tmp_path, "x,y\ntrue,1\nfalse,2\n,3\n"))[:2].tolist() == [[1, 1], [0, 2]]


def test_a_csv_without_names_is_refused_instead_of_losing_a_row(tmp_path):
    with pytest.raises(ValueError, match=r"begins with numbers where the names .* \(1.5, 2, 7\): add a first line"):
        from_text(tmp_path, "1.5,2,7\n2,3,4\n")
    assert from_text(tmp_path, "0,1\n5,6\n").names == ("0", "1")  # as pandas names columns without names


def test_gzip_of_several_parts_is_read_to_the_end(tmp_path):
    parts = gzip.compress(b"x\n1\n2\n") + gzip.compress(b"3\n")
    assert all_rows(from_text(tmp_path, parts, "rows.csv.gz")).ravel().tolist() == [1, 2, 3]


# -- how far, and what is known beforehand


# Arrow reads compressed text ahead, in a thread: how far it is beyond the rows depends on the speed of the machine.
COMPRESSED = ("gz", "zst", "bz2", "xz")


@pytest.mark.parametrize("name", [name for name in [*FORMATS, "frame"] if not name.endswith(COMPRESSED)])
def test_the_fraction_grows_from_none_to_all(name, tmp_path):
    table = frame(100_000)
    what = [write(table, tmp_path / f"{i}-{name}") for i in range(2)] if "." in name else table
    source = sb.read_chunks(what, columns=["x"], chunk_rows=10_000)
    fractions = [source.fraction(START), *(source.fraction(chunk.end) for chunk in source.chunks())]
    assert fractions[0] == 0
    assert fractions[-1] == 1
    assert all(a < b for a, b in itertools.pairwise(fractions))
    assert abs(fractions[len(fractions) // 2] - 0.5) < 0.1


@pytest.mark.parametrize("name", [name for name in FORMATS if name.endswith(COMPRESSED)])
def test_the_fraction_of_a_compressed_file_is_one_at_the_end_and_never_more(name, tmp_path):
    source = sb.read_chunks(write(frame(50_000), tmp_path / name), columns=["x"], chunk_rows=10_000)
    fractions = [source.fraction(chunk.end) for chunk in source.chunks()]
    assert all(0 < fraction <= 1 for fraction in fractions)
    assert fractions[-1] == 1


def test_extremes_are_those_of_the_rows_where_parquet_says_them(tmp_path):
    table = frame()
    table["one"] = np.float32(3)
    table["flag"] = table["x"] > 0
    names = [*NUMBERS, "one", "flag"]
    paths = [write(table[:600], tmp_path / "a.parquet"), write(table[600:], tmp_path / "b.parquet")]
    low, high = sb.read_chunks(paths, columns=names).extremes()
    numbers = table[names].astype(float)
    np.testing.assert_array_equal(low, numbers.min())
    np.testing.assert_array_equal(high, numbers.max())
    assert sb.read_chunks(write(table, tmp_path / "c.csv"), columns=names).extremes() is None
    assert sb.read_chunks([paths[0], tmp_path / "c.csv"], columns=names).extremes() is None


@pytest.mark.parametrize(
    "values", [pa.array([np.nan, np.nan]), pa.array([None, None], pa.float64()), pa.array([1.0, np.inf])]
)
def test_extremes_that_are_no_numbers_are_not_given(values, tmp_path):
    pq.write_table(pa.table({"x": values}), tmp_path / "rows.parquet")
    assert sb.read_chunks(tmp_path / "rows.parquet").extremes() is None


def test_a_group_of_rows_without_values_does_not_hide_the_extremes_of_the_others(tmp_path):
    pq.write_table(pa.table({"x": pa.array([None, None, 1.0, 2.0])}), tmp_path / "rows.parquet", row_group_size=2)
    assert sb.read_chunks(tmp_path / "rows.parquet").extremes() == (1.0, 2.0)
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "none.parquet")
    assert sb.read_chunks(tmp_path).extremes() == (1.0, 2.0)


@pytest.mark.parametrize("kind", ["array", "list", "frame", "Arrow table", "generator", "path", "paths", "chunk"])
def test_whatever_holds_the_rows_the_source_gives_them_in_chunks(kind, tmp_path):
    X = np.random.default_rng(0).normal(size=(70_000, 3))
    table = pd.DataFrame(X, columns=["x", "y", "z"])
    what = {
        "array": lambda: X,
        "list": X.tolist,
        "frame": lambda: table,
        "Arrow table": lambda: pa.Table.from_pandas(table),
        "generator": lambda: iter(np.array_split(X, 7)),
        "path": lambda: write(table, tmp_path / "rows.parquet"),
        "paths": lambda: [write(table, tmp_path / "rows.parquet")],
        "chunk": lambda: Chunk(X, Position(3, 50), Position(4, 0)),
    }[kind]()
    source = source_of(what)
    chunks = list(source.chunks())
    np.testing.assert_array_equal(np.concatenate([chunk.rows for chunk in chunks]), X)
    assert (source.n_rows or len(X), source.n_dimensions) == X.shape
    if kind in ("array", "list", "chunk"):
        assert len(chunks) == 1
    else:
        assert len(chunks) > 1
    assert np.shares_memory(chunks[0].rows, X) == (kind in ("array", "chunk", "generator"))
    assert not any(chunk.checked for chunk in chunks)
    assert all(before.end == after.begin for before, after in itertools.pairwise(chunks))


def test_weights_go_with_the_rows_of_their_chunk():
    X, weight = np.ones((70_000, 3)), np.arange(70_000.0)
    for what in (X, pd.DataFrame(X), pa.table({"x": X[:, 0]})):
        chunks = list(source_of(what, weight).chunks())
        np.testing.assert_array_equal(np.concatenate([chunk.weight for chunk in chunks]), weight)
        assert all(len(chunk.weight) == len(chunk) for chunk in chunks)


@pytest.mark.parametrize(("value", "why"), [(np.nan, "finite"), (-np.inf, "finite"), (2e100, "overflow")])
def test_a_bad_value_is_refused_once_with_its_place(value, why):
    X = np.ones((70_000, 3))
    X[69_999, 2] = value
    source = source_of(pd.DataFrame(X, columns=["x", "y", "z"]))
    *good, bad = source.chunks()
    assert all(source.checked(chunk).checked for chunk in good)
    with pytest.raises(ValueError, match=rf"^X: row 69999, column 'z' is {re.escape(f'{value:g}')}: .*{why}"):
        source.checked(bad)
    assert source.checked(replace(bad, checked=True)).rows is bad.rows


@pytest.mark.parametrize("end", ["", "\n"])
def test_an_empty_line_in_a_csv_of_one_column_is_a_missing_value_as_pyarrow_writes_it(end, tmp_path):
    pa.csv.write_csv(pa.table({"x": [1.0, None, 3.0]}), tmp_path / "rows.csv")
    content = (tmp_path / "rows.csv").read_bytes().rstrip(b"\n")
    (tmp_path / "rows.csv").write_bytes(content + end.encode())
    (chunk,) = sb.read_chunks(tmp_path / "rows.csv").chunks()
    np.testing.assert_array_equal(chunk.rows, [[1.0], [np.nan], [3.0]])


def test_a_csv_file_is_not_closed_while_arrow_may_still_read_ahead(tmp_path, monkeypatch):
    """Its descriptor would be reused for the next file, and Arrow would read a block of that file instead."""
    opened = []

    def noting(path):
        opened.append(os_file(path))
        return opened[-1]

    os_file = pa.OSFile
    monkeypatch.setattr(pa, "OSFile", noting)
    pd.DataFrame({"x": np.arange(300_000.0)}).to_csv(tmp_path / "rows.csv", index=False)
    next(sb.read_chunks(tmp_path / "rows.csv").chunks())
    assert len(opened) > 1  # to look at, for the columns, for the rows
    assert not any(file.closed for file in opened)
    opened.clear()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files as Linux does")
def test_files_that_were_not_read_to_their_end_do_not_stay_open(tmp_path):
    pd.DataFrame({"x": np.arange(300_000.0)}).to_csv(tmp_path / "rows.csv", index=False)
    for _ in range(50):
        next(sb.read_chunks(tmp_path / "rows.csv").chunks())
    assert len(list(Path("/proc/self/fd").iterdir())) < 50
