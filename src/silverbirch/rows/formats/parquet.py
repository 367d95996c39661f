"""Parquet files, read in batches of bounded size, without reading ahead."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Floats
from ..columns import Wanted, arrow_fields, without_first
from ..table import FileTable, needed, reading

if TYPE_CHECKING:
    import pyarrow as pa

# A column chunk of Parquet is read through a buffer of this size, not as a whole.
_PARQUET_BUFFER = 1 << 18


class ParquetTable(FileTable):
    suffixes = (".parquet", ".pq")

    def _file(self) -> Any:
        # Without pre_buffer and with a buffer_size, pages are read one by one, however large the row group is.
        parquet = needed("pyarrow.parquet")
        return parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=_PARQUET_BUFFER)

    def _open(self) -> None:
        with self._file() as file:
            self.fields = arrow_fields(file.schema_arrow)
            self.n_rows = file.metadata.num_rows

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        with reading(self.label), self._file() as file:
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if begin < rows:
                    read = file.iter_batches(
                        chunk_rows, row_groups=[group], columns=wanted.all_names, use_threads=False
                    )
                    yield from without_first(read, begin)
                begin = max(0, begin - rows)

    def extremes(self, names: tuple[str, ...]) -> tuple[Floats, Floats] | None:
        low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
        with reading(self.label), self._file() as file:
            metadata = file.metadata
            number = {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}
            for group in map(metadata.row_group, range(metadata.num_row_groups)):
                for place, name in enumerate(names):
                    both = _group_extremes(group.column(number[name]), group.num_rows)
                    if both is None:
                        return None
                    low[place], high[place] = min(low[place], both[0]), max(high[place], both[1])
        return low, high


def _group_extremes(column: Any, rows: int) -> tuple[float, float] | None:
    """The extremes of one column of a row group from its metadata; None if they are not stored.

    Missing values are ignored. For a column with NaN some writers store nothing or NaN.
    """
    statistics = column.statistics
    if rows == 0 or (statistics is not None and statistics.has_null_count and statistics.null_count == rows):
        return float("inf"), float("-inf")
    if statistics is None or not statistics.has_min_max:
        return None
    try:
        both = float(statistics.min), float(statistics.max)
    except (TypeError, ValueError):  # bytes: a kind of number that pyarrow does not decode here
        return None
    return None if math.isnan(sum(both)) else both
