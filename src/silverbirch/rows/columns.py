"""Chooses the columns to read, and turns columns of Arrow into rows.

A column of lists is as many columns of the rows as its lists are long: 'embedding' becomes 'embedding[0]',
'embedding[1]', ….
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    width: int | None = None  # the length of its lists, 0 if only the rows tell; None if it holds no lists


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

    def of_tables(self, fields: Sequence[Field]) -> Request:
        """The request by the names in the tables: 'e[0]', 'e[1]', … of a column of lists become 'e'."""
        if self.columns is None:
            return self
        have = {field.name: field for field in fields}
        found = dict.fromkeys(_column_in(have, name) for name in self.columns)
        return self._replace(columns=tuple(found))


class Wanted(NamedTuple):
    """The columns to read from every table of an input."""

    names: tuple[str, ...]
    dtype: np.dtype[Any]
    id_column: str | None
    widths: tuple[int | None, ...]  # for each name the length of its lists; None if it holds no lists

    def with_ids(self, wished: bool) -> Wanted:
        return self if wished else self._replace(id_column=None)

    @property
    def all_names(self) -> list[str]:
        return [*self.names] if self.id_column is None else [*self.names, self.id_column]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the rows."""
        named = zip(self.names, self.widths, strict=True)
        return tuple(column for name, width in named for column in _expanded(name, width))


def _expanded(name: str, width: int | None) -> list[str]:
    return [name] if width is None else [f"{name}[{number}]" for number in range(width)]


def _column_in(have: dict[str, Field], name: str) -> str:
    """The column of a table that a name stands for: 'e[0]' for the column of lists 'e'."""
    found = None if name in have else re.fullmatch(r"(.*)\[\d+\]", name, re.DOTALL)
    return found[1] if found and found[1] in have and have[found[1]].width is not None else name


def choose(tables: Sequence[tuple[str, Sequence[Field]]], request: Request) -> Wanted:
    """The columns to read from every table (label, fields). A column is numeric if it is so in all tables."""
    label, first = tables[0]
    request = request.of_tables(first)
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
    widths = {field.name: field.width for field in first}
    return Wanted(names, dtype, request.id_column, tuple(widths[name] for name in names))


def check_widths(wanted: Wanted, request: Request) -> None:
    """Raises ValueError if names of the request are some, but not all, columns of a column of lists."""
    columns = wanted.columns
    if len({*columns}) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise ValueError(f"a column of lists and a plain column both become {twice!r}: rename one of them")
    for name, width in zip(wanted.names, wanted.widths, strict=True):
        whole = _expanded(name, width)
        if width is None or request.columns is None or name in request.columns:
            continue
        asked = [column for column in request.columns if column.startswith(f"{name}[")]
        if asked != whole:
            raise ValueError(
                f"column {name!r} has lists of {width} numbers, but the columns asked for are {asked[0]!r} to "
                f"{asked[-1]!r} ({len(asked)}): a column of lists is read as a whole; name {name!r}"
            )


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

    if (lists := _list_type(kind)) is not None:
        item = _arrow_field(name, lists.value_type)
        width = lists.list_size if types.is_fixed_size_list(lists) else 0
        return Field(name, str(kind), item.numeric and item.width is None, item.single, width)
    floating = types.is_floating(kind)
    numeric = (
        floating or types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind)
    )
    return Field(name, str(kind), numeric, floating and not types.is_float64(kind))


def _list_type(kind: pa.DataType) -> pa.DataType | None:
    """The type if it is one of lists, or of tensors that are stored as lists; else None."""
    import pyarrow.types as types

    stored = getattr(kind, "storage_type", kind)
    is_list = types.is_list(stored) or types.is_large_list(stored) or types.is_fixed_size_list(stored)
    return stored if is_list else None


def rows_of(table: pa.Table, wanted: Wanted, place: Callable[[int], str]) -> Rows:
    """The wanted columns side by side; NaN where a value is missing. `place` says in words where a row is."""
    if len(wanted.names) == 1 and wanted.widths[0] is not None:  # lists that lie one after the other are not copied
        block = _block(table, wanted.names[0], wanted.widths[0], place)
        if isinstance(block, np.ndarray):
            return np.require(block, wanted.dtype, ["C", "A"])
    rows: Rows = np.empty((table.num_rows, len(wanted.columns)), dtype=wanted.dtype)
    done = 0
    for name, width in zip(wanted.names, wanted.widths, strict=True):
        end = done + (1 if width is None else width)
        rows[:, done:end] = _block(table, name, width, place)
        done = end
    return rows


def _block(table: pa.Table, name: str, width: int | None, place: Callable[[int], str]) -> NDArray[Any] | float:
    """The numbers of a column, one row for each row of the table; NaN alone if all are missing."""
    values = _whole(table.column(name))
    if width is not None:
        return _lists(values, name, width, place)
    numbers = numbers_of(values, name)
    return numbers[:, None] if isinstance(numbers, np.ndarray) else numbers


def _lists(values: pa.Array, name: str, width: int, place: Callable[[int], str]) -> NDArray[Any] | float:
    import pyarrow as pa

    kind = values.type
    if pa.types.is_null(kind):
        return float("nan")
    if _list_type(kind) is None:
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
    rows = np.full((len(lists), width), np.nan, np.float32 if _arrow_field(name, kind).single else np.float64)
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


def numbers_of(values: pa.Array, name: str) -> NDArray[Any] | float:
    """The numbers of an array, NaN where one is missing; NaN alone if all are."""
    import pyarrow as pa

    kind = values.type
    field = _arrow_field(name, kind)
    # The type of a column of Python objects can differ from chunk to chunk.
    if not field.numeric or field.width is not None:
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
        numbers[~_present(values)] = np.nan
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
