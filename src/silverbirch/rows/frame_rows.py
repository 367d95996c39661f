"""Turns slices of data frames into rows with numpy alone; errors name the row and the column as those of files do."""

from __future__ import annotations

import reprlib
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..checks import Rows, as_any_rows

_LIST_TYPES = ("list", "large_list", "fixed_size_list", "array")  # of polars, and of Arrow in pandas
_TIMES = {"M": "dates or times", "m": "time spans", "c": "complex numbers"}
_REMEDY = "encode the column, or leave it out by read_chunks(X, columns=…) or its numeric_only=True"
_SECONDS = "read it as seconds by read_chunks(X, times=True), or leave it out by its columns=… or numeric_only=True"


def has_lists(frame: Any) -> bool:
    """Whether a column holds lists or arrays."""
    return any(
        str(dtype).lower().startswith(_LIST_TYPES) or (str(dtype) == "object" and _begins_with_list(frame, number))
        for number, dtype in enumerate(frame.dtypes)
    )


def _begins_with_list(frame: Any, number: int) -> bool:
    """Whether the first value of a column of Python objects that is not missing is a list or an array."""
    values = np.asarray(_column(frame, number))
    first = next((value for value in values if not _is_missing(value)), None)
    return isinstance(first, list | tuple | np.ndarray)


def rows_of_frame(frame: Any, first: int) -> Rows:
    """The rows of a frame, NaN where a value is missing. `first` is the number of its first row in error messages."""
    plain = all(map(_is_plain, frame.dtypes))  # polars would turn dates into numbers
    array = np.asarray(frame)
    if not (plain and array.dtype.kind in "fiub") and array.size:
        columns = [_numbers(_column(frame, number), name, first) for number, name in enumerate(frame.columns)]
        array = np.stack(columns, axis=1)
    return as_any_rows(array)


def _is_plain(dtype: Any) -> bool:
    """Whether a type of NumPy or polars holds numbers or truth values."""
    number = dtype.kind in "fiub" if isinstance(dtype, np.dtype) else str(dtype).startswith(("Float", "Int", "UInt"))
    return number or str(dtype) == "Boolean"


def _column(frame: Any, number: int) -> Any:
    return frame.iloc[:, number] if hasattr(frame, "iloc") else frame[:, number]


def _numbers(column: Any, name: Any, first: int) -> NDArray[Any]:
    values = np.asarray(column)
    kind = getattr(column.dtype, "kind", values.dtype.kind)
    if kind in _TIMES or values.dtype.kind in _TIMES:
        kind = kind if kind in _TIMES else values.dtype.kind
        remedy = _REMEDY if kind == "c" else _SECONDS
        raise ValueError(
            f"X: column {str(name)!r} holds {_TIMES[kind]} ({column.dtype}): only numbers can be clustered; {remedy}"
        )
    try:
        numbers: NDArray[Any]
        if hasattr(column, "iloc"):  # pandas marks missing values in several ways
            numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            numbers = values.astype(np.float64)
        return numbers
    except (TypeError, ValueError, OverflowError):
        found = [_number(value, name, first + row) for row, value in enumerate(values)]
        return np.array(found, dtype=np.float64)


def _number(value: Any, name: Any, row: int) -> float:
    if _is_missing(value):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf")
    except (TypeError, ValueError):
        _refuse(value, name, row)


def _refuse(value: Any, name: Any, row: int) -> NoReturn:
    value = value.item() if isinstance(value, np.generic) else value
    raise ValueError(
        f"X: row {row}, column {str(name)!r} is {reprlib.repr(value)}: only numbers can be clustered; {_REMEDY}"
    ) from None


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in ("NoneType", "NAType", "NaTType") or (isinstance(value, float) and value != value)
