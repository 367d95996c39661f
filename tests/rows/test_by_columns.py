"""What is allowed to take little memory is read by groups of columns, and gives the same chunks."""

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from silverbirch import read_chunks
from silverbirch.rows.source import Position

ROWS, CHUNK = 2_000, 64


def write_stream(table, path, compression=None):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(path, table.schema, options=options) as writer:
        writer.write_table(table)


WRITERS = {
    "one group.parquet": lambda table, path: pq.write_table(table, path),
    "groups.parquet": lambda table, path: pq.write_table(table, path, row_group_size=999, compression="zstd"),
    "plain.parquet": lambda table, path: pq.write_table(table, path, use_dictionary=False, compression=None),
    "plain.arrow": lambda table, path: pa.feather.write_feather(table, path, compression="uncompressed"),
    "compressed.arrow": lambda table, path: pa.feather.write_feather(table, path, compression="zstd", chunksize=900),
    "plain.arrows": write_stream,
    "compressed.arrows": lambda table, path: write_stream(table, path, "lz4"),
}


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    missing = random.random(ROWS) < 0.1
    columns = {f"x{number}": random.normal(size=ROWS) for number in range(70)}
    columns |= {
        "single": random.normal(size=ROWS).astype(np.float32),
        "whole": pa.array(random.integers(-5, 5, ROWS), mask=missing),
        "flag": pa.array(random.random(ROWS) < 0.5, mask=missing),
        "nothing": pa.nulls(ROWS),
        "codes": pa.array(random.integers(0, 5, ROWS), mask=missing).dictionary_encode(),
        "moment": pa.array(random.integers(0, 1 << 40, ROWS), pa.timestamp("ms"), mask=missing),
        "span": pa.array(random.integers(0, 1 << 40, ROWS), pa.duration("us")),
        "with.dot": pa.array(list(random.normal(size=(ROWS, 3)))),
        "fixed": pa.FixedSizeListArray.from_arrays(random.normal(size=2 * ROWS), 2),
        "weight": random.random(ROWS),
        "id": pa.array([f"row {number}" for number in range(ROWS)], mask=missing),
        "town": pa.array([f"town {number % 9}" for number in range(ROWS)], mask=missing).dictionary_encode(),
    }
    return pa.table(columns)


def source_of(path, allowed=None):
    beside = {"id_column": "id", "keep": ["whole", "town"], "weight_column": "weight"}
    source = read_chunks(path, **beside, times=True, chunk_rows=CHUNK)
    if allowed is not None:
        source._tables[0].n_bytes += 1 << 20  # a small file is read as a whole
        source.allow(allowed)
    return source


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("begin", [0, 64, 1984])
def test_blocks_of_columns_give_the_same_chunks_from_any_row_on(name, begin, table, tmp_path):
    WRITERS[name](table, tmp_path / name)
    least, usual = source_of(tmp_path / name).reading_bytes()
    for limit in (least, 3 * least, int(0.9 * usual)):  # the last one is enough for the last row group, which is small
        chunks = source_of(tmp_path / name).chunks(Position(0, begin), with_ids=True)
        for chunk, other in zip(
            chunks, source_of(tmp_path / name, limit).chunks(Position(0, begin), with_ids=True), strict=True
        ):
            assert (chunk.begin, chunk.end) == (other.begin, other.end)
            assert chunk.rows.dtype == other.rows.dtype
            assert chunk.rows.tobytes() == other.rows.tobytes()
            assert np.array_equal(chunk.weight, other.weight)
            assert chunk.kept.equals(other.kept)


def test_a_wide_row_group_takes_less_by_groups_of_columns(table, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(table.select([f"x{number}" for number in range(70)]), path)
    need = read_chunks(path, chunk_rows=CHUNK).reading_bytes()
    assert 5 * need.least < need.usual


def test_a_column_of_lists_may_have_a_dot_in_its_name(table, tmp_path):
    pq.write_table(table.select(["with.dot"]), tmp_path / "rows.parquet")
    need = read_chunks(tmp_path / "rows.parquet").reading_bytes()
    assert need.least > 3 * 8 * ROWS


def test_the_size_of_a_page_is_found_in_its_header(tmp_path):
    """A page as large as the column is more than writers put into a page."""
    path = tmp_path / "rows.parquet"
    random = np.random.default_rng(0)
    large = pa.table({"x": random.normal(size=400_000)})
    how = {"use_dictionary": False, "compression": None, "data_page_size": 1 << 30}
    try:
        pq.write_table(large, path, **how, max_rows_per_page=len(large))
    except TypeError:  # older versions of pyarrow do not limit the rows
        pq.write_table(large, path, **how)
    with pq.ParquetFile(path) as file:
        size = file.metadata.row_group(0).column(0).total_uncompressed_size
    assert read_chunks(path).reading_bytes().usual >= size


def test_a_file_without_row_groups_takes_its_metadata_only(tmp_path):
    schema = pa.schema({"x": pa.float64()})
    pq.ParquetWriter(tmp_path / "0.parquet", schema).close()
    pq.write_table(pa.table({"x": np.arange(100.0)}), tmp_path / "1.parquet")
    both, one = read_chunks(tmp_path), read_chunks(tmp_path / "1.parquet")
    assert both.reading_bytes() == one.reading_bytes()
