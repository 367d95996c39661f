"""Chooses the columns to read, among those of Arrow tables, arrays and frames.

A column of lists is as many columns of the rows as its lists are long: 'embedding' becomes 'embedding[0]',
'embedding[1]', ….
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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

    columns: tuple[str, ...] | None = None
    numeric_only: bool = False
    id_column: str | None = None
    keep: tuple[str, ...] = ()  # given beside the rows; clustered only if `columns` names them, too

    @classmethod
    def of(cls, columns: Any, numeric_only: bool, id_column: Any, keep: Any) -> Request:
        wanted = None if columns is None else _names(columns, "columns")
        if wanted is not None and not wanted:
            raise ValueError("columns is empty: name at least one column, or leave it out for all")
        if id_column is not None and wanted is not None and str(id_column) in wanted:
            raise ValueError(
                f"id_column={id_column!r} is also in columns: an id is not clustered; leave it out of columns"
            )
        kept = () if keep is None else _names(keep, "keep")
        return cls(wanted, numeric_only, None if id_column is None else str(id_column), kept)

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are given beside the rows, the ids first."""
        return tuple(dict.fromkeys([*([] if self.id_column is None else [self.id_column]), *self.keep]))

    def of_tables(self, fields: Sequence[Field]) -> Request:
        """The request by the names in the tables: 'e[0]', 'e[1]', … of a column of lists become 'e'."""
        if self.columns is None:
            return self
        have = {field.name: field for field in fields}
        found = dict.fromkeys(_column_in(have, name) for name in self.columns)
        return self._replace(columns=tuple(found))


def _names(given: Any, parameter: str) -> tuple[str, ...]:
    names = tuple(map(str, [given] if isinstance(given, str | int | np.integer) else given))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{parameter} names {twice!r} twice: name each column once")
    return names


class Wanted(NamedTuple):
    """The columns to read from every table of an input."""

    names: tuple[str, ...]
    dtype: np.dtype[Any]
    widths: tuple[int | None, ...]  # for each name the length of its lists; None if it holds no lists
    kept: tuple[str, ...] = ()  # given beside the rows, the ids first
    id_column: str | None = None

    def with_ids(self, wished: bool) -> Wanted:
        return self if wished else self._replace(kept=(), id_column=None)

    @property
    def all_names(self) -> list[str]:
        return list(dict.fromkeys([*self.names, *self.kept]))

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
            f.name for f in first if f.name not in request.beside and not (request.numeric_only and f.name in text)
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
    return Wanted(names, dtype, tuple(widths[name] for name in names), request.beside, request.id_column)


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
    asked = [*(request.columns or ()), *request.beside]
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
        ignored = {*names, *request.beside, *(text if request.numeric_only else ())}
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
    return tuple(arrow_field(field.name, field.type) for field in schema)


def arrow_field(name: str, kind: pa.DataType) -> Field:
    import pyarrow.types as types

    if (lists := list_type(kind)) is not None:
        item = arrow_field(name, lists.value_type)
        width = lists.list_size if types.is_fixed_size_list(lists) else 0
        return Field(name, str(kind), item.numeric and item.width is None, item.single, width)
    floating = types.is_floating(kind)
    numeric = (
        floating or types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind)
    )
    return Field(name, str(kind), numeric, floating and not types.is_float64(kind))


def list_type(kind: pa.DataType) -> pa.DataType | None:
    """The type if it is one of lists, or of tensors that are stored as lists; else None."""
    import pyarrow.types as types

    stored = getattr(kind, "storage_type", kind)
    is_list = types.is_list(stored) or types.is_large_list(stored) or types.is_fixed_size_list(stored)
    return stored if is_list else None


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
