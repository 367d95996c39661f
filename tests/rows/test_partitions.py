"""Partitioned folders: year=2024/month=03/part.parquet has the columns year and month, as pyarrow reads them."""

import tempfile
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from tables import FORMATS, all_rows, write

MISSING = "__HIVE_DEFAULT_PARTITION__"


def written(folder, parts, name="part.parquet"):
    """A file of three rows in each of the folders."""
    for number, part in enumerate(parts):
        path = Path(folder, part, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write(pa.table({"x": number + np.arange(3) / 4, "t": [f"r{number}{i}" for i in range(3)]}), path)
    return Path(folder)


def kept_of(source):
    return pa.Table.from_batches([chunk.kept for chunk in source.chunks(with_ids=True)])


def sorted_rows(rows):
    return sorted(rows, key=lambda row: row["t"])


@pytest.mark.parametrize("name", FORMATS)
def test_the_names_of_folders_are_columns_for_every_format(name, tmp_path):
    folder = written(tmp_path, ["year=2024/month=03", "year=2024/month=11", "year=2025/month=-1"], name)
    source = sb.read_chunks(folder, numeric_only=True, chunk_rows=2)
    assert source.names == ("x", "year", "month")
    rows = all_rows(source)
    np.testing.assert_array_equal(rows[:, 0], [0, 0.25, 0.5, 1, 1.25, 1.5, 2, 2.25, 2.5])
    np.testing.assert_array_equal(rows[:, 1], np.repeat([2024, 2024, 2025], 3))
    np.testing.assert_array_equal(rows[:, 2], np.repeat([3, 11, -1], 3))


values = st.lists(
    st.sampled_from([MISSING, "", "7", "-3", "007", "+5", "1.5", "a b", "x/y", "ä=1", "100%", "2147483647"]),
    min_size=1,
    max_size=4,
    unique=True,
).filter(lambda found: found != [MISSING])


@given(values=values, key=st.sampled_from(["k", "a b", "ä"]), chunk_rows=st.integers(1, 4))
@settings(deadline=None, max_examples=30)
def test_names_and_values_are_those_of_pyarrow(values, key, chunk_rows):
    with tempfile.TemporaryDirectory() as folder:
        encoded = [value if value == MISSING else quote(value, safe="") for value in values]
        written(folder, [f"{quote(key)}={value}" for value in encoded])
        expected = ds.dataset(folder, partitioning="hive").to_table()
        source = sb.read_chunks(folder, columns="x", keep=["t", key], chunk_rows=chunk_rows)
        found = kept_of(source)
    assert pa.types.is_integer(found[key].type) == pa.types.is_integer(expected[key].type)
    assert sorted_rows(found.to_pylist()) == sorted_rows(expected.select(["t", key]).to_pylist())


def test_a_pattern_and_a_list_of_files_have_the_same_columns_as_their_folder(tmp_path):
    folder = written(tmp_path, ["year=2024", "year=2025"])
    expected = all_rows(sb.read_chunks(folder, columns=["year", "x"]))
    for given_as in (f"{folder}/year=*/*.parquet", sorted(folder.rglob("*.parquet"))):
        np.testing.assert_array_equal(all_rows(sb.read_chunks(given_as, columns=["year", "x"])), expected)
    assert sb.read_chunks(folder / "year=2024" / "part.parquet", numeric_only=True).names == ("x", "year")


def test_only_the_folders_right_above_a_file_name_columns(tmp_path):
    folder = written(tmp_path, ["run=3/data/year=2024"])
    assert sb.read_chunks(folder, numeric_only=True).names == ("x", "year")
    plain = written(tmp_path / "run=3", ["data"])
    assert sb.read_chunks(plain / "data" / "part.parquet", numeric_only=True).names == ("x",)


def test_arrays_have_no_columns_from_folders(tmp_path):
    (tmp_path / "year=2024").mkdir()
    np.save(tmp_path / "year=2024" / "rows.npy", np.ones((3, 2)))
    assert sb.read_chunks(tmp_path).n_dimensions == 2


def test_text_in_names_of_folders_is_refused_like_any_text(tmp_path):
    folder = written(tmp_path, ["city=Oslo", "city=12"])
    with pytest.raises(ValueError, match=r"not numbers: 't' \(string\), 'city' \(string\)"):
        sb.read_chunks(folder)
    assert sb.read_chunks(folder, numeric_only=True).names == ("x",)


def test_a_missing_value_is_missing_and_a_column_without_values_too(tmp_path):
    folder = written(tmp_path, [f"k={MISSING}", "k=4"])
    np.testing.assert_array_equal(all_rows(sb.read_chunks(folder, columns="k")).ravel(), [4, 4, 4, *[np.nan] * 3])
    alone = sb.read_chunks(folder / f"k={MISSING}", columns="k")
    assert np.isnan(all_rows(alone)).all()


@pytest.mark.parametrize("name", FORMATS)
def test_a_column_of_folders_can_be_the_only_one_the_ids_or_the_weights(name, tmp_path):
    folder = written(tmp_path, ["k=2", "k=3"], name)
    np.testing.assert_array_equal(all_rows(sb.read_chunks(folder, columns="k")).ravel(), [2, 2, 2, 3, 3, 3])
    (first, second) = sb.read_chunks(folder, columns="x", id_column="k", weight_column="k").chunks(with_ids=True)
    assert first.ids.to_pylist() + second.ids.to_pylist() == [2, 2, 2, 3, 3, 3]
    assert first.weight.tolist() + second.weight.tolist() == [2, 2, 2, 3, 3, 3]
    assert sb.read_chunks(folder, keep=["k", "t"]).names == ("x",)


def test_a_file_with_a_column_of_that_name_has_its_own_values(tmp_path):
    (tmp_path / "y=3").mkdir()
    pq.write_table(pa.table({"y": [7.5], "x": [1.0]}), tmp_path / "y=3" / "part.parquet")
    source = sb.read_chunks(tmp_path)
    assert source.names == ("y", "x")
    assert all_rows(source).tolist() == [[7.5, 1.0]]


def test_files_in_other_folders_need_the_same_columns(tmp_path):
    folder = written(tmp_path, ["", "year=2024"])
    with pytest.raises(ValueError, match=r"has column 'year', which .*part\.parquet does not have"):
        sb.read_chunks(folder, numeric_only=True)
    assert sb.read_chunks(folder, columns="x").names == ("x",)


def test_extremes_of_metadata_hold_those_of_the_folders(tmp_path):
    folder = written(tmp_path, ["k=2", "k=5"])
    low, high = sb.read_chunks(folder, columns=["k", "x"]).extremes()
    rows = all_rows(sb.read_chunks(folder, columns=["k", "x"]))
    assert (low.tolist(), high.tolist()) == (rows.min(axis=0).tolist(), rows.max(axis=0).tolist())


def test_lists_stay_in_place_beside_columns_of_folders(tmp_path):
    (tmp_path / "k=9").mkdir()
    table = pa.table({"e": pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32())), "x": [5.0, 6.0]})
    pq.write_table(table, tmp_path / "k=9" / "part.parquet")
    source = sb.read_chunks(tmp_path, columns=["k", "e", "x"])
    assert source.names == ("k", "e[0]", "e[1]", "x")
    assert all_rows(source).tolist() == [[9, 1, 2, 5], [9, 3, 4, 6]]


def test_reading_continues_anywhere_in_a_partitioned_folder(tmp_path):
    source = sb.read_chunks(written(tmp_path, ["k=1", "k=2"]), columns=["k", "x"], chunk_rows=2)
    whole = all_rows(source)
    for chunk in source.chunks():
        begin = 3 * chunk.begin.file + chunk.begin.row
        np.testing.assert_array_equal(all_rows(source, chunk.begin), whole[begin:])
