"""Readers refuse bad input; every message names the file, the value and the remedy."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import silverbirch as sb
from tables import FORMATS, all_rows, frame, write

CHECKED = [name for name in FORMATS if name not in ("rows.csv", "rows.tsv", "rows.jsonl")]  # plain text has no end mark


def write_any(name, path, rows=400):
    if name == "rows.npy":
        np.save(path, np.ones((rows, 3)))
        return path
    return write(frame(rows)[["x", "count"]], path)


@pytest.mark.parametrize("name", [*CHECKED, "rows.npy"])
def test_a_file_cut_short_anywhere_is_refused_by_name(name, tmp_path):
    path = write_any(name, tmp_path / name)
    data = path.read_bytes()
    for length in {1, 5, 8, 9, 60, *range(0, len(data), len(data) // 40), len(data) - 9, len(data) - 8, len(data) - 1}:
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match=name) as caught:
            all_rows(sb.read_chunks(path))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [*FORMATS, "rows.npy"])
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff" * 5000, b"PK\x03\x04" + bytes(100)], ids=["empty", "noise", "zip"]
)
def test_a_file_that_is_something_else_is_refused_by_name(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=name) as caught:
        all_rows(sb.read_chunks(tmp_path / name))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [*FORMATS, "rows.npy"])
def test_a_file_without_rows_is_refused_by_name(name, tmp_path):
    path = write_any(name, tmp_path / name, rows=0)
    with pytest.raises(ValueError, match=f"{name} (has no rows: at least one|is empty: at least one row) is needed"):
        all_rows(sb.read_chunks(path))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(5), "is 1-D: rows need a 2-D array"),
        (np.ones((2, 2, 2)), "is 3-D"),
        (np.array(5.0), "is 0-D"),
        (np.ones((5, 0)), "has no columns"),
        (np.array([["a", "b"]]), "holds <U1: only real numbers"),
        (np.ones((2, 2), dtype=complex), "holds complex128: only real numbers"),
        (np.array([[1, None]], dtype=object), "pickled objects, which are never loaded"),
        (np.zeros(3, dtype=[("x", "f8"), ("y", "f8")]), "is 1-D"),
        (np.zeros((3, 1), dtype=[("ä", "f8")]), "named fields|only real numbers"),
    ],
)
def test_npy_files_that_are_not_rows_of_numbers_are_refused(array, message, tmp_path):
    np.save(tmp_path / "rows.npy", array, allow_pickle=True)
    with pytest.raises(ValueError, match=f"rows.npy.*({message})"):
        sb.read_chunks(tmp_path / "rows.npy")


@pytest.mark.parametrize("shape", ["(10**12, 3)", "(-5, 3)", "('a', 3)", "(3.0, 3)"])
def test_an_npy_header_that_claims_what_cannot_be_is_refused(shape, tmp_path):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    (tmp_path / "rows.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header.encode() + bytes(48))
    with pytest.raises(ValueError, match=r"rows\.npy"):
        sb.read_chunks(tmp_path / "rows.npy")


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        ("nowhere.csv", FileNotFoundError, "nowhere.csv: there is no such file or folder"),
        ("*.csv", FileNotFoundError, r"\*.csv: there is no such file"),
        ("folder", FileNotFoundError, r"folder: there are no files in this folder that can be read \(.parquet"),
        ("notes.txt", ValueError, "notes.txt has a suffix that is not known: the name must end in .parquet, "),
    ],
)
def test_paths_that_lead_nowhere_are_refused(what, error, message, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("x")
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(error, match=message):
        sb.read_chunks(tmp_path / what if "*" not in what else str(tmp_path / what))


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.arrow", "table", "frame", "reader"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"has columns that are not numbers: 'name' \(.*\), 'kind' .*columns=.*numeric_only=True"),
        ({"columns": ["x", "kind"]}, r"not numbers: 'kind' \(.*\)"),
        ({"columns": ["x", "z"]}, "has no column 'z'; it has 'name', 'x', 'count', 'y', 'kind'"),
        ({"columns": ["x"], "id_column": "idd"}, "has no column 'idd'; it has 'name'"),
        ({"columns": []}, "columns is empty"),
        ({"columns": ["x", "x"]}, "columns names 'x' twice"),
        ({"columns": ["x", "y"], "id_column": "y"}, "id_column='y' is also in columns: "),
        ({"chunk_rows": 0}, "chunk_rows=0: must be at least 1"),
    ],
    ids=["text", "chosen text", "no such column", "no such id", "none", "twice", "id too", "chunk_rows"],
)
def test_columns_that_cannot_be_read_are_refused(name, options, message, tmp_path):
    table = pd.DataFrame(frame(20)).assign(name=[f"n{i}" for i in range(20)])
    arrow = pa.Table.from_pandas(table)
    kinds = {"table": arrow, "frame": table, "reader": arrow.to_reader()}
    what = kinds[name] if name in kinds else write(table, tmp_path / name)
    with pytest.raises(ValueError, match=message):
        sb.read_chunks(what, **options)


def test_an_empty_name_is_not_the_folder_one_is_in(tmp_path, monkeypatch):
    write(frame(), tmp_path / "rows.csv")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="name of a file is empty"):
        sb.read_chunks("")


def test_numeric_only_leaves_out_what_is_not_a_number_in_any_file(tmp_path):
    (tmp_path / "a.csv").write_text("x,note,y\n1,,2\n")  # no text yet
    (tmp_path / "b.csv").write_text("note,y,x\nabc,4,3\n")
    source = sb.read_chunks(tmp_path, numeric_only=True)
    assert source.names == ("x", "y")
    assert all_rows(source).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("second", "options", "message"),
    [
        ("x\n1\n", {}, r"b.csv has no column 'y', which .*a.csv has"),
        ("x,y,z\n1,2,3\n", {}, r"b.csv has column 'z', which .*a.csv does not have: choose by read_chunks"),
        ("x,y\n1,abc\n", {}, r"b.csv has columns that are not numbers: 'y' \(text such as 'abc'\)"),
        ("x,y,y\n1,2,3\n", {}, r"b.csv has several columns named 'y': rename"),
        ("x,y\n1,abc\n", {"columns": "y"}, r"b.csv has columns that are not numbers"),
    ],
)
def test_files_with_other_columns_are_refused(second, options, message, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text(second)
    with pytest.raises(ValueError, match=message):
        sb.read_chunks(tmp_path, **options)


def test_files_with_and_without_names_are_not_mixed(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 1)))
    write(frame(3)[["x"]], tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"a.npy has columns without names but .*b.parquet has names"):
        sb.read_chunks(tmp_path)


@pytest.mark.parametrize("kind", [pa.string(), pa.date32(), pa.timestamp("us"), pa.list_(pa.string()), pa.binary()])
def test_columns_of_no_numbers_are_told_by_their_type(kind, tmp_path):
    pq.write_table(pa.table({"x": [1.0], "t": pa.nulls(1, kind)}), tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"not numbers: 't' \("):
        sb.read_chunks(tmp_path / "rows.parquet")
    assert sb.read_chunks(tmp_path / "rows.parquet", numeric_only=True).names == ("x",)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_row_numbers_of_pandas_are_not_clustered(name, tmp_path):
    table = frame(5)[["x"]].set_index(np.array([5, 3, 9, 1, 0]))
    path = tmp_path / name
    table.to_parquet(path) if name.endswith("parquet") else table.to_csv(path)
    with pytest.raises(ValueError, match=r"looks like the row numbers of pandas: .*columns=.*id_column="):
        sb.read_chunks(path)
    index = "__index_level_0__" if name.endswith("parquet") else ""
    (chunk,) = sb.read_chunks(path, id_column=index).chunks(with_ids=True)
    assert [int(i) for i in chunk.ids.to_pylist()] == [5, 3, 9, 1, 0]
    assert sb.read_chunks(path, columns="x").names == ("x",)


def test_a_column_of_objects_that_turns_into_text_is_refused():
    table = pd.DataFrame({"x": pd.Series([1.0] * 300 + ["2.0"] * 10, dtype=object)})
    with pytest.raises(ValueError, match=r"column .x. holds (large_)?string where numbers came before"):
        all_rows(sb.read_chunks(table, chunk_rows=300))


@pytest.mark.parametrize("columns", [["a.b", "a"], None])
def test_a_dot_in_a_name_is_a_letter(columns, tmp_path):
    pq.write_table(pa.table({"a": [1.0], "a.b": [2.0]}), tmp_path / "rows.parquet")
    source = sb.read_chunks(tmp_path / "rows.parquet", columns=columns)
    assert all_rows(source).tolist() == [[2, 1] if columns else [1, 2]]
    assert source.extremes()[0].tolist() == all_rows(source)[0].tolist()


def test_only_text_leaves_nothing_to_read():
    with pytest.raises(ValueError, match="has no column of numbers"):
        sb.read_chunks(pa.table({"t": ["a"]}), numeric_only=True)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.npy"])
def test_a_missing_value_is_refused_with_its_place_where_plain_rows_are_asked_for(name, tmp_path):
    X = np.ones((500, 2))
    X[417, 1] = np.nan
    path = tmp_path / name
    np.save(path, X) if name.endswith("npy") else write(pd.DataFrame(X, columns=["x", "y"]), path)
    column = "1" if name.endswith("npy") else "'y'"
    with pytest.raises(ValueError, match=rf"^row 417 of .*{name}, column {column} is nan: .*drop or fill"):
        list(sb.read_chunks(path, chunk_rows=100))
    assert np.isnan(all_rows(sb.read_chunks(path))).sum() == 1


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        (pl.LazyFrame({"x": [1.0]}), TypeError, r"LazyFrame is a query without rows: pass .collect\(\)"),
        (None, TypeError, "NoneType"),
        (3.0, TypeError, "float"),
        ({"x": [1.0]}, TypeError, "dict"),
        (b"rows.csv", TypeError, "bytes"),
        ([], ValueError, "1-D"),
        (iter([]), ValueError, "the stream has no rows"),
        (iter([np.empty((0, 2))]), ValueError, "the stream has no rows"),
        (iter(["a.csv"]), TypeError, "chunk 0 of the stream is a str"),
        (pa.table({"x": pa.array([], pa.float64())}), ValueError, "has no rows"),
        (np.ma.masked_array([[1.0, 2.0]], mask=[[True, False]]), ValueError, "masked"),
        (np.ones((3, 2)) * 1j, ValueError, "complex128: only real numbers"),
    ],
)
def test_what_holds_no_rows_is_refused(what, error, message):
    with pytest.raises(error, match=message):
        sb.read_chunks(what)


def test_a_source_takes_no_second_choice_of_columns():
    source = sb.read_chunks(np.ones((3, 2)))
    assert sb.read_chunks(source) is source
    with pytest.raises(ValueError, match="choose columns and chunk_rows in its own read_chunks"):
        sb.read_chunks(source, columns=[1])


def test_files_need_pyarrow_and_the_message_says_how_to_get_it(tmp_path):
    write(frame(5), tmp_path / "rows.parquet")
    np.save(tmp_path / "rows.npy", np.ones((3, 2)))
    code = f"""
import sys
sys.modules["pyarrow"] = sys.modules["narwhals"] = None
import silverbirch as sb
assert sb.CFTree().insert({str(tmp_path / "rows.npy")!r}).n_points == 3
try:
    sb.read_chunks({str(tmp_path / "rows.parquet")!r})
except ImportError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stdout == "this input is read by pyarrow: pip install 'silverbirch[files]'\n", result.stderr
