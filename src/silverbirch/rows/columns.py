"""Chooses the columns to read, and turns columns of Arrow into rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import Rows

if TYPE_CHECKING:
    import pyarrow as pa


class Field(NamedTuple):
    """One column of a table."""

    name: str
    type: str  # the name of the type in its own library
    numeric: bool
    single: bool  # float32 holds all its values


class Request(NamedTuple):
    """The user's choice of columns."""

    columns: tuple[str, ...] | None
    numeric_only: bool
    id_column: str | None

    @classmethod
    def of(cls, columns: Any, numeric_only: bool, id_column: Any) -> Request:
        if isinstance(columns, str | int | np.integer):
            columns = [columns]
        wanted = None if columns is None else tuple(str(column) for column in columns)
        if wanted is not None and not wanted:
            raise ValueError("columns is empty: name at least one column, or leave it out for all")
        if wanted is not None and len(set(wanted)) < len(wanted):
            twice = next(name for name in wanted if wanted.count(name) > 1)
            raise ValueError(f"columns names {twice!r} twice: name each column once")
        if id_column is not None and wanted is not None and str(id_column) in wanted:
            raise ValueError(
                f"id_column={id_column!r} is also in columns: an id is not clustered; leave it out of columns"
            )
        return cls(wanted, numeric_only, None if id_column is None else str(id_column))


class Wanted(NamedTuple):
    """The columns to read from every table of an input."""

    names: tuple[str, ...]
    dtype: np.dtype[Any]
    id_column: str | None

    def with_ids(self, wished: bool) -> Wanted:
        return self if wished else self._replace(id_column=None)

    @property
    def all_names(self) -> list[str]:
        return [*self.names] if self.id_column is None else [*self.names, self.id_column]


def choose(tables: Sequence[tuple[str, Sequence[Field]]], request: Request) -> Wanted:
    """The columns to read from every table (label, fields). A column is numeric if it is so in all tables."""
    label, first = tables[0]
    for own_label, fields in tables:
        _check_fields(own_label, fields, request)
    text = {field.name for _, fields in tables for field in fields if not field.numeric}
    if request.columns is not None:
        names = request.columns
    else:
        names = tuple(
            f.name for f in first if f.name != request.id_column and not (request.numeric_only and f.name in text)
        )
    among_names = set(names)
    chosen = [(own_label, field) for own_label, fields in tables for field in fields if field.name in among_names]
    bad = [(own_label, field) for own_label, field in chosen if not field.numeric]
    if bad:
        raise ValueError(_not_numbers(bad))
    if not names:
        raise ValueError(f"{label} has no column of numbers to read")
    if request.columns is None:
        _check_no_index(label, names)
    for own_label, fields in tables[1:]:
        _check_same(own_label, fields, label, names, text, request)
    dtype = np.dtype(np.float32 if all(field.single for _, field in chosen) else np.float64)
    return Wanted(names, dtype, request.id_column)


def _check_fields(label: str, fields: Sequence[Field], request: Request) -> None:
    have = Counter(field.name for field in fields)
    if not have:
        raise ValueError(f"{label} has no columns")
    asked = [*(request.columns or ()), *([] if request.id_column is None else [request.id_column])]
    absent = [name for name in asked if name not in have]
    if absent:
        raise ValueError(f"{label} has no column {_listed(absent)}; it has {_listed(have)}")
    twice = [name for name in (have if request.columns is None else asked) if have[name] > 1]
    if twice:
        raise ValueError(f"{label} has several columns named {_listed(twice)}: rename them")


def _check_no_index(label: str, names: tuple[str, ...]) -> None:
    """Raises ValueError for a column of row numbers that pandas wrote: it would be clustered with the data."""
    for name in names:
        if name == "" or re.fullmatch(r"__index_level_\d+__|Unnamed: \d+", name):
            raise ValueError(
                f"{label} has a column named {name!r}, which looks like the row numbers of pandas: name the columns to "
                f"read by columns= (--columns), or take it for the ids by id_column={name!r} (--id-column)"
            )


def _check_same(
    label: str, fields: Sequence[Field], first: str, names: tuple[str, ...], text: set[str], request: Request
) -> None:
    have = {field.name: field for field in fields}
    absent = [name for name in names if name not in have]
    if absent:
        raise ValueError(f"{label} has no column {_listed(absent)}, which {first} has: all files need the same columns")
    if request.columns is None:
        ignored = {*names, request.id_column, *(text if request.numeric_only else ())}
        more = [name for name in have if name not in ignored]
        if more:
            raise ValueError(
                f"{label} has column {_listed(more)}, which {first} does not have: choose by columns= (--columns)"
            )


def _not_numbers(bad: Sequence[tuple[str, Field]]) -> str:
    label = bad[0][0]
    own = {field.name: field.type for owner, field in bad if owner == label}
    named = _listed([f"{name!r} ({kind})" for name, kind in own.items()], quote=False)
    return (
        f"{label} has columns that are not numbers: {named}. Choose columns by read_chunks(…, columns=…) (--columns), "
        "or leave out what is not a number by its numeric_only=True (--numeric-only)"
    )


def _listed(names: Iterable[str], *, quote: bool = True, most: int = 8) -> str:
    words = [repr(name) if quote else name for name in names]
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


# -- Arrow


def arrow_fields(schema: pa.Schema) -> tuple[Field, ...]:
    return tuple(_arrow_field(field.name, field.type) for field in schema)


def _arrow_field(name: str, kind: pa.DataType) -> Field:
    import pyarrow.types as types

    floating = types.is_floating(kind)
    numeric = (
        floating or types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind)
    )
    return Field(name, str(kind), numeric, floating and not types.is_float64(kind))


def rows_of(table: pa.Table, names: Sequence[str], dtype: np.dtype[Any]) -> Rows:
    """The named columns side by side; NaN where a value is missing."""
    rows: Rows = np.empty((table.num_rows, len(names)), dtype=dtype)
    for number, name in enumerate(names):
        rows[:, number] = _numbers(_whole(table.column(name)), name)
    return rows


def _numbers(values: pa.Array, name: str) -> NDArray[Any] | float:
    import pyarrow as pa

    kind = values.type
    if not _arrow_field(name, kind).numeric:  # the type of a column of Python objects can differ from chunk to chunk
        raise ValueError(
            f"column {name!r} holds {kind} where numbers came before: encode, fill or drop such rows first"
        )
    if values.null_count == len(values):
        return float("nan")
    if pa.types.is_boolean(kind):
        values = values.cast(pa.uint8())
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.float64())
    numbers = _view(values)
    if values.null_count:
        single = numbers.dtype in (np.float16, np.float32)
        numbers = numbers.astype(np.float32 if single else np.float64)
        numbers[_view(values.is_null().cast(pa.uint8())) == 1] = np.nan
    return numbers


def _view(values: pa.Array) -> NDArray[Any]:
    """The numbers without a copy. pyarrow's own conversion would import pandas if it is installed: 50 MB."""
    dtype = np.dtype(values.type.to_pandas_dtype())
    if len(values) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(values.buffers()[1], dtype, len(values), values.offset * dtype.itemsize)


def ids_of(table: pa.Table, name: str) -> pa.Array:
    return _whole(table.column(name))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def without_first(batches: Iterable[pa.RecordBatch], count: int) -> Iterator[pa.RecordBatch]:
    """The batches without the first `count` rows."""
    for batch in batches:
        if count < batch.num_rows:
            yield batch.slice(count) if count else batch
        count = max(0, count - batch.num_rows)


def cut(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[tuple[list[pa.RecordBatch], bool]]:
    """Groups of batches with `size` rows, and whether the group is the last, which may be smaller. Copies nothing."""
    held: list[pa.RecordBatch] = []
    missing = size
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            if missing == 0:  # only now is it known that more rows follow
                yield held, False
                held, missing = [], size
            taken = min(missing, batch.num_rows - start)
            held.append(batch.slice(start, taken))
            start += taken
            missing -= taken
    if held:
        yield held, True
