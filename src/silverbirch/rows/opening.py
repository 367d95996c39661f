"""From whatever the user has to a source of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..checks import as_count, as_flag
from .chunk_source import ChunkSource
from .columns import Request
from .formats.frames import ArrowReaderTable, as_table, is_arrow
from .paths import is_path, tables_at
from .source import RowSource
from .table_source import TableSource


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
    if isinstance(source, RowSource):
        if given or chunk_rows is not None:
            raise ValueError("the rows are being read already: give columns and the like where the source is made")
        return source
    request = Request.of(columns, bool(numeric_only), id_column)
    rows = None if chunk_rows is None else as_count(chunk_rows, "chunk_rows")
    if is_path(source):
        return TableSource(tables_at([source]), request, rows)
    if _are_paths(source):
        return TableSource(tables_at(source), request, rows)
    if _is_lazy(source):
        raise TypeError(
            f"a {type(source).__name__} has no rows yet: pass .collect(), or write a file by .sink_parquet and pass it"
        )
    if _is_arrow_stream(source):
        return TableSource([ArrowReaderTable(source)], request, rows)
    if isinstance(source, Iterator):
        return ChunkSource(source, request)
    return TableSource([as_table(source, "X")], request, rows)


def is_stream(X: Any) -> bool:
    """Whether rows have to be read in chunks: all but arrays, lists of numbers, and data frames."""
    return (
        isinstance(X, RowSource | Iterator)
        or is_path(X)
        or _are_paths(X)
        or is_arrow(X)
        or _is_lazy(X)
        or _is_arrow_stream(X)
        or _is_map_to_convert(X)
    )


def _are_paths(source: Any) -> bool:
    return isinstance(source, list | tuple) and len(source) > 0 and all(map(is_path, source))


def _is_lazy(source: Any) -> bool:
    return type(source).__name__ == "LazyFrame"


def _is_arrow_stream(source: Any) -> bool:
    # Tables in memory have such a stream too, and can be read twice; a query (duckdb's has a shape) is not in memory.
    in_memory = hasattr(source, "shape") and hasattr(source, "__array__")
    return hasattr(source, "__arrow_c_stream__") and not (in_memory or is_arrow(source))


def _is_map_to_convert(X: Any) -> bool:
    """A mapped file whose rows cannot be used as they are; as an array it would be converted as a whole."""
    return isinstance(X, np.memmap) and not (X.flags.c_contiguous and X.dtype in (np.float32, np.float64))
