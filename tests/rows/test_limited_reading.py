"""Reading by groups of columns, because memory is limited, gives what reading all columns at once gives."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import silverbirch as sb
from carriers import CARRIERS
from silverbirch.rows.formats import arrow, parquet

ROWS = 3000
CHUNK = 64


def missing(values):
    """The values, every seventh of which is missing."""
    return [None if number % 7 == 3 else value for number, value in enumerate(values)]


def table():
    rng = np.random.default_rng(0)
    start = datetime.datetime(2020, 1, 1)
    moments = [start + datetime.timedelta(seconds=number) for number in range(ROWS)]
    return pa.table(
        {
            "float": pa.array(missing(rng.normal(size=ROWS).tolist())),
            "large": pa.array(missing(rng.integers(-(2**60), 2**60, ROWS).tolist()), pa.int64()),
            "flag": pa.array(missing((rng.random(ROWS) < 0.5).tolist())),
            "codes": pa.array(missing(rng.integers(0, 5, ROWS).tolist())).dictionary_encode(),
            "moment": pa.array(missing(moments), pa.timestamp("ms")),
            "span": pa.array(rng.integers(0, 9999, ROWS), pa.duration("us")),
            "v1.emb": pa.array(missing(rng.normal(size=(ROWS, 3)).tolist()), pa.list_(pa.float64())),
            "fixed": pa.array(missing(rng.normal(size=(ROWS, 2)).tolist()), pa.list_(pa.float32(), 2)),
            "town": pa.array(missing([f"town {number % 9}" for number in range(ROWS)])).dictionary_encode(),
            "note": pa.array(missing([f"note {number}" for number in range(ROWS)]), pa.large_string()),
            "count": pa.array(rng.integers(0, 3, ROWS)),
        }
    )


@pytest.mark.parametrize("carrier", ["Parquet", "Arrow", "stream"])
@pytest.mark.parametrize("rows_of_batch", [700, ROWS])
def test_limited_memory_gives_the_same_chunks(carrier, rows_of_batch, tmp_path, monkeypatch):
    for name in ("_SMALL_FILE", "_MAPPED_COLUMN"):
        monkeypatch.setattr(arrow, name, 1)
    for name in ("_PAGE", "_BUFFER"):  # so that a small file has more than one group of columns
        monkeypatch.setattr(parquet, name, 100)
    path = CARRIERS[carrier](table(), tmp_path, rows_of_batch)
    options = {"keep": ["town", "note", "large"], "weight_column": "count", "times": True, "chunk_rows": CHUNK}
    columns = table().column_names[:8]
    free, limited = (sb.read_chunks(path, columns=columns, **options) for _ in range(2))
    least, usual = limited.reading_bytes()
    assert least < usual
    limited.allow(int(least))
    expected, found = (list(source.chunks(with_ids=True)) for source in (free, limited))
    assert len(found) == len(expected)
    for chunk, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(chunk.rows, other.rows)
        np.testing.assert_array_equal(chunk.weight, other.weight)
        assert (chunk.begin, chunk.end, chunk.kept) == (other.begin, other.end, other.kept)


def test_a_column_of_lists_may_have_a_dot_in_its_name(tmp_path):
    pq.write_table(table().select(["v1.emb"]), tmp_path / "rows.parquet")
    source = sb.read_chunks(tmp_path / "rows.parquet")
    assert source.reading_bytes().least > 0


def test_a_file_without_row_groups_takes_no_memory(tmp_path):
    schema = pa.schema({"x": pa.float64()})
    pq.ParquetWriter(tmp_path / "a.parquet", schema).close()
    pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / "b.parquet")
    source = sb.read_chunks(tmp_path)
    source.allow(int(source.reading_bytes().least))
    assert np.concatenate(list(source)).tolist() == [[1], [2]]
