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

from ..wording import parameter

if TYPE_CHECKING:
    import pyarrow as pa


_CATEGORIES = "categories of"  # how the type of a dictionary column begins


class Field(NamedTuple):
    """One column of a table."""

    name: str
    type: str  # the name of the type in its own library
    numeric: bool
    single: bool  # float32 holds all its values
    width: int | None = None  # the length of its lists, 0 if only the rows tell; None if it holds no lists
    time: str | None = None  # "moments", "times of day" or "durations", which become numbers on request


class Request(NamedTuple):
    """The user's choice of columns."""

    columns: tuple[str, ...] | None = None
    numeric_only: bool = False
    id_column: str | None = None
    keep: tuple[str, ...] = ()  # given beside the rows; clustered only if `columns` names them, too
    weight_column: str | None = None
    times: bool = False  # whether dates, times and durations are numbers

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are given beside the rows, the ids first."""
        return tuple(dict.fromkeys([*_some(self.id_column), *self.keep]))

    def is_number(self, field: Field) -> bool:
        return field.numeric or (self.times and field.time is not None)

    def split(self, fields: Sequence[Field]) -> Request:
        """The request with single names: 'a,b' stands for 'a' and 'b', unless a column has that name."""
        have = {field.name: field for field in fields}
        keep = tuple(_split(have, self.keep, "keep"))
        if self.columns is None:
            return self._replace(keep=keep)
        columns = tuple(_split(have, self.columns, "columns"))
        if not columns:
            raise ValueError(f"{parameter('columns')} is empty: name at least one column, or leave it out for all")
        for role, what in (("id_column", "an id"), ("weight_column", "a weight")):
            if (name := getattr(self, role)) in columns:
                raise ValueError(
                    f"{parameter(role, name)} is also in {parameter('columns')}: {what} is not clustered; leave it out "
                    f"of {parameter('columns')}"
                )
        return self._replace(columns=columns, keep=keep)

    def of_tables(self, fields: Sequence[Field]) -> Request:
        """The request by the names in the tables: 'e[0]', 'e[1]', … of a column of lists become 'e'."""
        if self.columns is None:
            return self
        have = {field.name: field for field in fields}
        found = dict.fromkeys(_column_in(have, name) for name in self.columns)
        return self._replace(columns=tuple(found))


def names_of(given: Any) -> tuple[str, ...]:
    """The names in an argument that is one name or number, or several."""
    return tuple(map(str, [given] if isinstance(given, str | int | np.integer) else given))


def _some(name: str | None) -> list[str]:
    return [] if name is None else [name]


def _split(have: dict[str, Field], texts: tuple[str, ...], role: str) -> list[str]:
    """The names of columns in texts such as 'a,b'."""
    names: list[str] = []
    for text in texts:
        names += [text] if _column_in(have, text) in have else [part.strip() for part in text.split(",")]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{parameter(role)} names {twice!r} twice: name each column once")
    return names


class Wanted(NamedTuple):
    """The columns to read from every table of an input."""

    names: tuple[str, ...]
    dtype: np.dtype[Any]
    widths: tuple[int | None, ...]  # for each name the length of its lists; None if it holds no lists
    kept: tuple[str, ...] = ()  # given beside the rows, the ids first
    id_column: str | None = None
    weight_column: str | None = None
    times: frozenset[str] = frozenset()  # those of the names that hold dates, times or durations

    def with_ids(self, wished: bool) -> Wanted:
        return self if wished else self._replace(kept=(), id_column=None)

    @property
    def all_names(self) -> list[str]:
        return list(dict.fromkeys([*self.names, *self.kept, *_some(self.weight_column)]))

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
    text = {field.name for _, fields in tables for field in fields if not request.is_number(field)}
    if request.columns is not None:
        names = request.columns
    else:
        left_out = {*request.beside, request.weight_column, *(text if request.numeric_only else ())}
        names = tuple(field.name for field in first if field.name not in left_out)
    among_names = set(names)
    chosen = [(own_label, field) for own_label, fields in tables for field in fields if field.name in among_names]
    bad = [(own_label, field) for own_label, field in chosen if not request.is_number(field)]
    if bad:
        raise ValueError(_not_numbers(bad))
    _check_times(chosen)
    if not names:
        raise ValueError(f"{label} has no column of numbers to read")
    if request.columns is None:
        _check_no_index(label, names)
    for own_label, fields in tables[1:]:
        _check_same(own_label, fields, label, names, text, request)
    dtype = np.dtype(np.float32 if all(field.single for _, field in chosen) else np.float64)
    widths = {field.name: field.width for field in first}
    lengths = tuple(widths[name] for name in names)
    times = frozenset(field.name for _, field in chosen if field.time is not None)
    return Wanted(names, dtype, lengths, request.beside, request.id_column, request.weight_column, times)


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
    asked = list(dict.fromkeys([*(request.columns or ()), *request.beside, *_some(request.weight_column)]))
    absent = [name for name in asked if name not in have]
    if absent:
        raise ValueError(f"{label} has no column {_listed(absent)}; it has {_listed(have)}")
    twice = [name for name in (have if request.columns is None else asked) if have[name] > 1]
    if twice:
        raise ValueError(f"{label} has several columns named {_listed(twice)}: rename them")
    for field in fields:
        if field.name == request.weight_column and (not field.numeric or field.width is not None):
            raise ValueError(
                f"{label}: {parameter('weight_column', field.name)} holds {field.type}: weights are numbers"
            )


def _check_times(chosen: Sequence[tuple[str, Field]]) -> None:
    """Raises ValueError if a column holds dates or times in one table and something else in another."""
    known: dict[str, tuple[str, Field]] = {}
    for label, field in chosen:
        first_label, first = known.setdefault(field.name, (label, field)) if field.type != "null" else (label, field)
        if first.time != field.time:
            raise ValueError(
                f"column {field.name!r} holds {field.type} in {label} but {first.type} in {first_label}: seconds need "
                "one kind of time in all files"
            )


def _check_no_index(label: str, names: tuple[str, ...]) -> None:
    """Raises ValueError for a column of row numbers that pandas wrote: it would be clustered with the data."""
    for name in names:
        if name == "" or re.fullmatch(r"__index_level_\d+__|Unnamed: \d+", name):
            raise ValueError(
                f"{label} has a column named {name!r}, which looks like the row numbers of pandas: name the columns to "
                f"read by {parameter('read_chunks().columns', ...)}, or take it for the ids by "
                f"{parameter('id_column', name)}"
            )


def _check_same(
    label: str, fields: Sequence[Field], first: str, names: tuple[str, ...], text: set[str], request: Request
) -> None:
    have = {field.name: field for field in fields}
    absent = [name for name in names if name not in have]
    if absent:
        raise ValueError(f"{label} has no column {_listed(absent)}, which {first} has: all files need the same columns")
    if request.columns is None:
        ignored = {*names, *request.beside, request.weight_column, *(text if request.numeric_only else ())}
        more = [name for name in have if name not in ignored]
        if more:
            raise ValueError(
                f"{label} has column {_listed(more)}, which {first} does not have: choose by "
                f"{parameter('read_chunks().columns', ...)}"
            )


def _not_numbers(bad: Sequence[tuple[str, Field]]) -> str:
    label = bad[0][0]
    own = {field.name: field.type for owner, field in bad if owner == label}
    named = _listed([f"{name!r} ({kind})" for name, kind in own.items()], quote=False)
    remedy = (
        f"{label} has columns that are not numbers: {named}. Choose columns by "
        f"{parameter('read_chunks().columns', ...)}, or leave out what is not a number by "
        f"{parameter('read_chunks().numeric_only', True)}"
    )
    if any(field.time is not None for _, field in bad):
        remedy += f"; dates, times and durations become seconds by {parameter('read_chunks().times', True)}"
    if any(field.type.startswith(_CATEGORIES) for _, field in bad):
        remedy += "; categories become numbers by one column of 0 and 1 for each, as pandas.get_dummies makes them"
    return remedy


def _listed(names: Iterable[str], *, quote: bool = True, most: int = 8) -> str:
    words = [repr(name) if quote else name for name in names]
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


# -- Arrow


def arrow_fields(schema: pa.Schema) -> tuple[Field, ...]:
    return tuple(arrow_field(field.name, field.type) for field in schema)


def arrow_field(name: str, kind: pa.DataType) -> Field:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return arrow_field(name, kind.value_type)._replace(type=f"{_CATEGORIES} {kind.value_type}")
    if (lists := list_type(kind)) is not None:
        item = arrow_field(name, lists.value_type)
        width = lists.list_size if types.is_fixed_size_list(lists) else 0
        return Field(name, str(kind), item.numeric and item.width is None, item.single, width)
    floating = types.is_floating(kind)
    numeric = (
        floating or types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind)
    )
    return Field(name, str(kind), numeric, floating and not types.is_float64(kind), time=_kind_of_time(kind))


def _kind_of_time(kind: pa.DataType) -> str | None:
    import pyarrow.types as types

    if types.is_timestamp(kind) or types.is_date(kind):
        return "moments"
    if types.is_time(kind):
        return "times of day"
    return "durations" if types.is_duration(kind) else None


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
