"""From whatever the user has to a source of rows: what X is, is decided here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..checks import as_any_rows, as_count, as_flag
from .chunk_source import ChunkSource
from .columns import Request
from .formats.frames import ArrowReaderTable, as_table, is_arrow, is_frame
from .memory_source import ArraySource, Complain, Convert, FrameSource
from .paths import are_paths, is_path, tables_at
from .source import START, Chunk, Position, RowSource
from .table_source import TableSource
from .weighted_source import WeightedSource

_ALL_COLUMNS = Request(None, False, None)


def source_of(
    X: Any,
    weight: Any = None,
    *,
    weight_name: str = "weight",
    convert: Convert = as_any_rows,
    complain: Complain | None = None,
) -> RowSource:
    """What is given as rows to be clustered, as a source: an array is one chunk, a data frame comes in slices, all else
    is read by `read_chunks`.

    convert : makes rows of an array or of a slice of a data frame
    complain : raises an error for such rows where they hold a value that cannot be clustered; None for our own words
    """
    source = _already_or_stream(X, _ALL_COLUMNS, None)
    if source is None and is_frame(X):
        source = FrameSource(X, convert, complain)
    elif source is None:
        source = ArraySource(Chunk(convert(X), START, Position(1, 0)), complain)
    return source if weight is None else WeightedSource(source, weight, weight_name)


def read_chunks(
    source: Any,
    *,
    columns: Any = None,
    numeric_only: bool = False,
    id_column: Any = None,
    chunk_rows: int | None = None,
) -> RowSource:
    """Rows of anything, in chunks: files, tables in memory, streams.

    source : a path, folder or pattern, or a list of them; a NumPy array or memmap; a data frame of pandas, polars or
        another library that narwhals knows; a pyarrow table, record batch or reader, or whatever else has an Arrow C
        stream; an iterator of arrays, data frames or record batches
    columns : names of the columns to read, in this order, or numbers where they have no names; None for all
    numeric_only : leave out columns that are not numbers, instead of refusing them
    id_column : a column to keep beside the rows, see `RowSource.chunks`; it is not among the columns read
    chunk_rows : rows of a chunk; None for about 4 MB. Chunks of an iterator are kept as they come
    """
    given = columns is not None or id_column is not None or as_flag(numeric_only, "numeric_only")
    if isinstance(source, RowSource) and (given or chunk_rows is not None):
        raise ValueError("the rows are being read already: give columns and the like where the source is made")
    request = Request.of(columns, bool(numeric_only), id_column)
    rows = None if chunk_rows is None else as_count(chunk_rows, "chunk_rows")
    return _already_or_stream(source, request, rows) or TableSource([as_table(source, "X")], request, rows)


def _already_or_stream(X: Any, request: Request, chunk_rows: int | None) -> RowSource | None:
    """The source that X is or has to be read by; None where X is an array or a data frame in memory."""
    if isinstance(X, RowSource):
        return X
    if isinstance(X, Chunk):
        return ArraySource(X)
    if is_path(X):
        return TableSource(tables_at([X]), request, chunk_rows)
    if are_paths(X):
        return TableSource(tables_at(X), request, chunk_rows)
    if type(X).__name__ == "LazyFrame":
        raise TypeError(
            f"a {type(X).__name__} has no rows yet: pass .collect(), or write a file by .sink_parquet and pass it"
        )
    if _is_arrow_stream(X):
        return TableSource([ArrowReaderTable(X)], request, chunk_rows)
    if isinstance(X, Iterator):
        return ChunkSource(X, request)
    if is_arrow(X) or _is_map_to_convert(X):
        return TableSource([as_table(X, "X")], request, chunk_rows)
    return None


def _is_arrow_stream(X: Any) -> bool:
    # Tables in memory have such a stream too, and can be read twice; a query (duckdb's has a shape) is not in memory.
    in_memory = hasattr(X, "shape") and hasattr(X, "__array__")
    return hasattr(X, "__arrow_c_stream__") and not (in_memory or is_arrow(X))


def _is_map_to_convert(X: Any) -> bool:
    """A mapped file whose rows cannot be used as they are; as an array it would be converted as a whole."""
    return isinstance(X, np.memmap) and not (X.flags.c_contiguous and X.dtype in (np.float32, np.float64))
