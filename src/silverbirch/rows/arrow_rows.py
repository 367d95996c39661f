"""Turns columns of Arrow into rows, and into what is given beside the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats, Rows, as_weight_column
from .columns import Wanted, arrow_field, list_type

if TYPE_CHECKING:
    import pyarrow as pa


_TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # of a unit of time in a second


def rows_of(table: pa.Table, wanted: Wanted, place: Callable[[int], str]) -> Rows:
    """The wanted columns side by side; NaN where a value is missing. `place` says in words where a row is."""
    if len(wanted.names) == 1 and wanted.widths[0] is not None:  # lists that lie one after the other are not copied
        block = _block(table, wanted, 0, place)
        if isinstance(block, np.ndarray):
            return np.require(block, wanted.dtype, ["C", "A"])
    rows: Rows = np.empty((table.num_rows, len(wanted.columns)), dtype=wanted.dtype)
    done = 0
    for number, width in enumerate(wanted.widths):
        end = done + (1 if width is None else width)
        rows[:, done:end] = _block(table, wanted, number, place)
        done = end
    return rows


def _block(table: pa.Table, wanted: Wanted, number: int, place: Callable[[int], str]) -> NDArray[Any] | float:
    """The numbers of a wanted column, one row for each row of the table; NaN alone if all are missing."""
    name, width = wanted.names[number], wanted.widths[number]
    values = _whole(table.column(name))
    if width is not None:
        return _lists(values, name, width, place)
    numbers = numbers_of(values, name, times=name in wanted.times)
    return numbers[:, None] if isinstance(numbers, np.ndarray) else numbers


def _lists(values: pa.Array, name: str, width: int, place: Callable[[int], str]) -> NDArray[Any] | float:
    import pyarrow as pa

    kind = values.type
    if pa.types.is_null(kind):
        return float("nan")
    if list_type(kind) is None:
        raise ValueError(f"column {name!r} holds {kind} where lists of numbers came before: make all of them lists")
    lists = getattr(values, "storage", values)
    present = _present(lists)
    lengths = _lengths(lists)
    wrong = np.flatnonzero(present & (lengths != width))
    if wrong.size:
        row = int(wrong[0])
        raise ValueError(
            f"{place(row)}, column {name!r} has a list of {lengths[row]} numbers where {width} came before: all lists "
            "of a column need the same length"
        )
    numbers = numbers_of(lists.flatten(), name)  # without those of missing lists
    if present.all():
        return numbers.reshape(-1, width) if isinstance(numbers, np.ndarray) else numbers
    rows = np.full((len(lists), width), np.nan, np.float32 if arrow_field(name, kind).single else np.float64)
    rows[present] = numbers.reshape(-1, width) if isinstance(numbers, np.ndarray) else numbers
    return rows


def _lengths(lists: pa.Array) -> NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_fixed_size_list(lists.type):
        return np.full(len(lists), lists.type.list_size)
    return np.diff(_view(lists.offsets))


def first_length(values: pa.Array) -> int | None:
    """The length of the first list that is not missing; None if all are."""
    lists = getattr(values, "storage", values)
    present = np.flatnonzero(_present(lists))
    return int(_lengths(lists)[present[0]]) if present.size else None


def _present(values: pa.Array) -> NDArray[np.bool_]:
    import pyarrow as pa

    present: NDArray[np.bool_] = _view(values.is_valid().cast(pa.uint8())) == 1
    return present


def numbers_of(values: pa.Array, name: str, *, times: bool = False) -> NDArray[Any] | float:
    """The numbers of an array, NaN where one is missing; NaN alone if all are."""
    import pyarrow as pa

    values = _decoded(values)
    kind = values.type
    field = arrow_field(name, kind)
    # The type of a column of Python objects can differ from chunk to chunk.
    as_before = field.time is not None if times and not pa.types.is_null(kind) else field.numeric
    if not as_before or field.width is not None:
        before = "times" if times else "numbers"
        raise ValueError(
            f"column {name!r} holds {kind} where {before} came before: encode, fill or drop such rows first"
        )
    if values.null_count == len(values):
        return float("nan")
    if pa.types.is_boolean(kind):
        values = values.cast(pa.uint8())
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.float64())
    numbers = _view(values) if field.time is None else _seconds(values)
    if values.null_count:
        single = numbers.dtype in (np.float16, np.float32)
        numbers = numbers.astype(np.float32 if single else np.float64)
        numbers[~_present(values)] = np.nan
    return numbers


def _seconds(values: pa.Array) -> Floats:
    """Dates and timestamps as seconds since 1970 (UTC if they have a zone), times of day and durations as seconds."""
    import pyarrow as pa

    kind = values.type
    ticks = _view(values.view(pa.int32() if kind.bit_width == 32 else pa.int64()))
    if pa.types.is_date32(kind):
        return ticks * 86_400.0
    return ticks / _TICKS["ms" if pa.types.is_date64(kind) else kind.unit]


def weights_of(table: pa.Table, wanted: Wanted, place: Callable[[int], str]) -> Floats | None:
    """The weights of the rows, checked; None if each row counts once."""
    name = wanted.weight_column
    if name is None:
        return None
    weights = np.broadcast_to(numbers_of(_whole(table.column(name)), name), table.num_rows)
    return as_weight_column(weights, name, place)


def _view(values: pa.Array) -> NDArray[Any]:
    """The numbers without a copy. pyarrow's own conversion would import pandas if it is installed: 50 MB."""
    dtype = np.dtype(values.type.to_pandas_dtype())
    if len(values) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(values.buffers()[1], dtype, len(values), values.offset * dtype.itemsize)


def kept_of(table: pa.Table, wanted: Wanted) -> pa.RecordBatch | None:
    """The columns to give beside the rows, without dictionaries, which may differ from chunk to chunk."""
    import pyarrow as pa

    columns = [_decoded(_whole(table.column(name))) for name in wanted.kept]
    return pa.RecordBatch.from_arrays(columns, names=list(wanted.kept)) if columns else None


def _decoded(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if hasattr(values, "dictionary_decode") else values


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
