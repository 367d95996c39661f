"""Label files: other libraries read what was written, and a file is complete or absent."""

import csv
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from silverbirch.pipeline.labels import LEFT_OUT, label_writer

WITH_COLUMNS = [".parquet", ".arrow", ".feather", ".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst"]
ALL = [*WITH_COLUMNS, ".npy"]
PLACES = ["Zürich", 'the "Hague"', "A,B", "tab\there", "two\nlines", "cr\rhere", "007", "", None, " spaced ", "日本"]


def written(path, chunks, **options):
    with label_writer(path, **options) as out:
        for chunk in chunks:
            out.write(*chunk)
    return path


def named(**columns):
    """Columns beside the labels."""
    return pa.RecordBatch.from_arrays([pa.array(values) for values in columns.values()], names=list(columns))


def read_back(path):
    """Reads labels by pandas, numpy or, for zstd, polars."""
    if path.suffix == ".npy":
        return pd.DataFrame({"label": np.load(path, allow_pickle=False)})
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix in (".arrow", ".feather"):
        return pd.read_feather(path)
    delimiter = "\t" if ".tsv" in path.name else ","
    if path.suffix == ".zst":
        frame = pl.read_csv(path, separator=delimiter, schema_overrides={"label": pl.Int64})
        return pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
    return pd.read_csv(path, sep=delimiter)


@pytest.mark.parametrize("suffix", ALL)
def test_labels_come_back_in_order_whatever_the_chunks(suffix, tmp_path):
    labels = np.random.default_rng(0).integers(-1, 2**40, 5000)
    labels[7] = -1
    path = written(tmp_path / f"labels{suffix}", [(part,) for part in np.split(labels, [1, 1, 300, 4000])])
    frame = read_back(path)
    assert list(frame.columns) == ["label"]
    assert frame["label"].dtype == np.int64
    np.testing.assert_array_equal(frame["label"], labels)


@pytest.mark.parametrize("ids", [None, np.arange(5)])
@pytest.mark.parametrize("suffix", ALL)
def test_rows_left_out_are_null_and_noise_stays_minus_one(suffix, ids, tmp_path):
    if suffix == ".npy":
        ids = None
    chunk = (np.array([-1, LEFT_OUT, 3, LEFT_OUT, 0]), None if ids is None else named(id=ids))
    path = written(tmp_path / f"labels{suffix}", [chunk, chunk], columns=[] if ids is None else ["id"])
    found = read_back(path)["label"].to_numpy(dtype=np.float64, na_value=np.nan)
    left_out = LEFT_OUT if suffix == ".npy" else np.nan
    np.testing.assert_array_equal(found, [-1, left_out, 3, left_out, 0] * 2)


@pytest.mark.parametrize("suffix", WITH_COLUMNS)
def test_whole_number_ids_come_first_under_their_own_name(suffix, tmp_path):
    ids = np.array([5, -3, 2**53 + 1])
    chunks = [([1, 0], named(number=ids[:2])), (np.array([2]), named(number=ids[2:]))]
    frame = read_back(written(tmp_path / f"labels{suffix}", chunks, columns=["number"]))
    assert list(frame.columns) == ["number", "label"]
    np.testing.assert_array_equal(frame["number"], ids)
    assert frame["label"].tolist() == [1, 0, 2]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_text_ids_are_quoted_where_they_must_be_so_that_any_reader_finds_them_again(suffix, tmp_path):
    place = 'the "place",\n'
    chunks = [(np.arange(len(PLACES)), named(**{place: PLACES}))]
    path = written(tmp_path / f"l{suffix}", chunks, columns=[place])
    with path.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file, delimiter="\t" if suffix == ".tsv" else ",")
    assert header == ['the "place",\n', "label"]
    assert lines == [[place or "", str(i)] for i, place in enumerate(PLACES)]
    delimiter = "\t" if suffix == ".tsv" else ","
    assert f'\n""{delimiter}7\n{delimiter}8\n' in path.read_text(encoding="utf-8")  # empty is not missing


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize(
    "ids",
    [
        pa.array(PLACES),
        pa.array(np.arange(11), pa.uint16()),
        pa.array(np.arange(11), pa.timestamp("ns", "UTC")),
        pa.array([b"\x00\xff"] * 11),
        pa.array([None] * 11),
        pa.array([[1.5, None], []] + [None] * 9),
        pa.array([{"a": 1, "b": "x"}] * 11),
    ],
    ids=lambda ids: str(ids.type),
)
def test_arrow_ids_keep_type_and_values(suffix, ids, tmp_path):
    chunk = (np.arange(11), named(id=ids))
    path = written(tmp_path / f"l{suffix}", [chunk, chunk], columns=["id"])
    table = parquet.read_table(path) if suffix == ".parquet" else feather.read_table(path)
    assert table["id"].type == ids.type
    assert table["id"].to_pylist() == ids.to_pylist() * 2


def test_dates_and_fractions_lose_nothing_as_text(tmp_path):
    stamps = pa.array([0, 1, 10**18 + 1], pa.timestamp("ns"))
    chunk = (np.zeros(3, int), named(when=stamps))
    text = pd.read_csv(written(tmp_path / "l.csv", [chunk], columns=["when"]), parse_dates=["when"])
    assert text["when"].astype("datetime64[ns]").astype(np.int64).tolist() == [0, 1, 10**18 + 1]
    values = np.random.default_rng(0).normal(size=50)
    numbers = written(tmp_path / "n.csv", [(np.zeros(50, int), named(x=values))], columns=["x"])
    np.testing.assert_array_equal([float(text) for text in pd.read_csv(numbers, dtype=str)["x"]], values)


@given(
    st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.integers(-1, 9)))
)
def test_any_text_as_an_id_comes_back_from_csv(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("csv") / "l.csv"
    ids, labels = [i for i, _ in pairs], [label for _, label in pairs]
    written(path, [(np.array(labels, dtype=int), named(id=pa.array(ids, pa.string())))], columns=["id"])
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["id", "label"], *([i, str(label)] for i, label in pairs)]


@pytest.mark.parametrize("suffix", ALL)
def test_no_rows_make_a_file_of_no_rows(suffix, tmp_path):
    for name, chunks in (("never", []), ("empty", [(np.array([], dtype=np.int64),)])):
        frame = read_back(written(tmp_path / f"{name}{suffix}", chunks))
        assert list(frame.columns) == ["label"]
        assert len(frame) == 0


@pytest.mark.parametrize("suffix", ALL)
def test_the_same_labels_are_the_same_bytes(suffix, tmp_path):
    chunks = [(np.arange(1000) % 7,)]
    first, second = (written(tmp_path / f"{name}{suffix}", chunks) for name in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_many_small_chunks_become_few_row_groups(tmp_path):
    path = written(tmp_path / "l.parquet", [(np.full(1000, i),) for i in range(300)])
    groups = parquet.ParquetFile(path).metadata
    assert groups.num_rows == 300_000
    assert groups.num_row_groups == 3


# --- whole or not at all


@pytest.mark.parametrize("suffix", ALL)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_on_the_way_leaves_what_was_there_and_nothing_else(suffix, error, tmp_path):
    path = tmp_path / f"labels{suffix}"
    path.write_text("before")

    def chunks():
        yield (np.arange(10),)
        raise error

    with pytest.raises(error):
        written(path, chunks(), force=True)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", ALL)
def test_an_existing_file_is_refused_at_the_call_and_replaced_by_force(suffix, tmp_path):
    path = tmp_path / f"labels{suffix}"
    path.write_text("before")
    with pytest.raises(FileExistsError, match="force"):
        label_writer(path)
    assert path.read_text() == "before"
    assert len(read_back(written(path, [([3],)], force=True))) == 1


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "labels.csv"

    def chunks():
        yield (np.arange(3),)
        path.write_text("somebody else's")

    with pytest.raises(FileExistsError):
        written(path, chunks())
    assert path.read_text() == "somebody else's"
    assert list(tmp_path.iterdir()) == [path]


def test_a_call_without_a_context_touches_nothing(tmp_path):
    label_writer(tmp_path / "labels.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "error", "match"),
    [
        ("nowhere/l.csv", FileNotFoundError, "no folder"),
        ("folder.csv", IsADirectoryError, "is a folder"),
        ("l.xlsx", ValueError, r"\.parquet.*\.csv.*\.npy"),
        ("parquet", ValueError, "must end in"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_file_is_begun(name, error, match, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(error, match=match):
        label_writer(tmp_path / name, force=True)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".arrow"])
def test_a_full_disk_is_told_with_the_name_of_the_file_and_leaves_nothing(suffix, tmp_path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    path = tmp_path / f"labels{suffix}"
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OSError, match=f"cannot write {re.escape(str(path))}: File too large"):
            written(path, [(np.arange(300_000), None)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())


def test_ids_and_their_column_must_fit_the_file(tmp_path):
    with pytest.raises(ValueError, match="labels only"):
        label_writer(tmp_path / "l.npy", columns=["id"])
    with pytest.raises(ValueError, match="rename"):
        label_writer(tmp_path / "l.csv", columns=["id", "label"])
    with pytest.raises(ValueError, match="'id' would be written twice"):
        label_writer(tmp_path / "l.csv", columns=["id", "id"])


@pytest.mark.parametrize("suffix", WITH_COLUMNS)
@pytest.mark.parametrize(
    ("labels", "kept", "columns", "match"),
    [
        ([1, 2], named(id=[1]), ["id"], "1 rows beside 2 labels"),
        ([1, 2], None, ["id"], "are none, not 'id'"),
        ([1], named(id=[1]), [], "are 'id', not none"),
        ([1], named(id=[1], x=[2]), ["x", "id"], "are 'id', 'x', not 'x', 'id'"),
        ([[1]], None, [], "one whole number for each row"),
        ([0.5], None, [], "one whole number for each row"),
    ],
)
def test_rows_that_do_not_fit_are_refused(suffix, labels, kept, columns, match, tmp_path):
    with pytest.raises(ValueError, match=match), label_writer(tmp_path / f"l{suffix}", columns) as out:
        out.write(labels, kept)
    assert list(tmp_path.iterdir()) == []


def test_a_column_may_change_to_a_type_that_fits_but_text_never_becomes_a_number(tmp_path):
    numbers, small, text = (
        ([0, 0], named(id=[1, 2])),
        ([0, 0], named(id=np.int8([3, 4]))),
        ([0, 0], named(id=["05", "6"])),
    )
    path = written(tmp_path / "a.parquet", [numbers, small], columns=["id"])
    assert parquet.read_table(path)["id"].to_pylist() == [1, 2, 3, 4]
    path = written(tmp_path / "b.parquet", [text, numbers], columns=["id"])
    assert parquet.read_table(path)["id"].to_pylist() == ["05", "6", "1", "2"]
    with pytest.raises(ValueError, match="'id' begins as int64 and continues as string"):
        written(tmp_path / "c.parquet", [numbers, text], columns=["id"])
    with pytest.raises(ValueError, match=r"'id' holds list.*which has no text"):
        written(tmp_path / "d.csv", [([0], named(id=[[1, 2]]))], columns=["id"])


@pytest.mark.parametrize("suffix", WITH_COLUMNS)
def test_columns_stand_before_the_labels_in_the_order_given(suffix, tmp_path):
    """The oracle is a table of pandas with the same columns."""
    random = np.random.default_rng(1)
    expected = pd.DataFrame({
        "id": [f"r{i}" for i in range(700)],
        "place": [f"{PLACES[i % 7]}!" for i in range(700)],
        "x": random.normal(size=700),
        "count": random.integers(0, 99, 700),
        "label": random.integers(0, 9, 700),
    })  # fmt: skip
    columns = ["id", "place", "x", "count"]
    chunks = [
        (part["label"].to_numpy(), pa.RecordBatch.from_pandas(part[columns], preserve_index=False))
        for part in (expected[:100], expected[100:101], expected[101:550], expected[550:])
    ]
    found = read_back(written(tmp_path / f"labels{suffix}", chunks, columns=columns))
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_csv_and_npy_are_written_without_pyarrow_and_parquet_says_how_to_get_it(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from silverbirch.pipeline.labels import LEFT_OUT, label_writer\n"
        "for name in ('l.csv', 'l.tsv.gz', 'l.npy'):\n"
        "    with label_writer(name) as out: out.write([1, 2])\n"
        "try: label_writer('l.parquet')\n"
        "except ImportError as error: print(error)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert "pip install 'silverbirch[files]'" in done.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["l.csv", "l.npy", "l.tsv.gz"]
