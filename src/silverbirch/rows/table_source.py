"""The source of one table, or of several tables with the same columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import Floats
from ..remote import of_each
from .columns import Field, Request, Wanted, check_widths, choose
from .formats.frames import ArrowReaderTable
from .source import START, Chunk, NoRowsError, Position, ReadingBytes, RowSource, usual_chunk_rows
from .table import ArrowTable, Table


class NoListsError(ValueError):
    """A column of lists has none in any of its rows. A partition of a larger input may have none."""

    column: str
    rows: int  # how many there are


class TableSource(RowSource):
    """The tables one after the other; a chunk never has rows of two tables."""

    def __init__(self, tables: Sequence[Table], request: Request, chunk_rows: int | None) -> None:
        self._tables = tables
        _check_names(tables)
        self._wanted = chosen(tables, request.split(tables[0].fields))
        for table in tables:
            table.check(self._wanted)
        self.kept, self.weight_column = self._wanted.kept, self._wanted.weight_column
        self.names = self._wanted.columns if tables[0].named else None
        self.n_dimensions = len(self._wanted.columns)
        chosen_ones = request.columns is not None or self.n_dimensions < len(tables[0].fields)
        self.numbers = self._wanted.names if self.names is None and chosen_ones else None
        counts = [table.n_rows for table in tables]
        self.n_rows = None if None in counts else sum(count or 0 for count in counts)
        self.repeatable = not any(isinstance(table, ArrowReaderTable) for table in tables)
        self.in_memory = all(table.in_memory for table in tables)
        self._used = False
        self.of_several_types = _of_several_types(tables, self._wanted.kept)
        self._chunk_rows = chunk_rows or usual_chunk_rows(self.n_dimensions)
        self._files = [table for table in tables if hasattr(table, "file")]
        self._opened = [table.file.fingerprint() for table in self._files]
        if self.n_rows == 0:
            raise NoRowsError(f"{_and_others(tables)} has no rows: at least one is needed")

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        if self._used and not self.repeatable:
            raise ValueError(f"{self._tables[0].label} was read already and cannot be read again: pass a new one")
        self._used = True
        wanted = self._wanted.with_ids(with_ids)
        empty = begin == START
        for file in range(begin.file, len(self._tables)):
            row = first = begin.row if file == begin.file else 0
            for chunk in self._tables[file].chunks(wanted, Position(file, row), self._chunk_rows):
                empty = False
                row += len(chunk)
                self._check_unchanged(file, row, whole=chunk.end.file > file)
                yield chunk if chunk.kept is None else replace(chunk, kept=self._of_one_type(chunk.kept, file))
            if row == first:
                self._check_unchanged(file, row, whole=True)
        if empty:
            raise NoRowsError(f"{_and_others(self._tables)} has no rows: at least one is needed")

    def _of_one_type(self, kept: Any, file: int) -> Any:
        """The kept columns; those whose type differs from table to table as text."""
        for number, name in enumerate(kept.schema.names):
            if name in self.of_several_types:
                try:
                    kept = kept.set_column(number, name, kept.column(number).cast("string"))
                except (ValueError, NotImplementedError):
                    raise ValueError(
                        f"column {name!r} of {self._tables[file].label} holds {kept.schema.types[number]}, and another "
                        "type in other files: to keep it, give it one type in all files"
                    ) from None
        return kept

    def _check_unchanged(self, file: int, rows: int, *, whole: bool) -> None:
        """Raises ValueError if the table changed since it was opened: rows would get wrong weights and labels.

        `whole` says that these are all rows of the table; it is checked before the last chunk is returned.
        """
        n_rows = self._tables[file].n_rows
        count_differs = n_rows is not None and (rows > n_rows or (whole and rows < n_rows))
        if count_differs or (whole and self._has_changed(file)):
            raise self._changed(file)

    def _has_changed(self, file: int) -> bool:
        return bool(self._files) and self._files[file].file.fingerprint() != self._opened[file]

    def _changed(self, file: int) -> ValueError:
        label = self._tables[file].label
        return ValueError(f"{label} was changed while it was read: try again when no program writes to it")

    def refuse_changes(self) -> None:
        remote = any(table.file.local is None for table in self._files)
        changed = of_each(self._has_changed, range(len(self._files)), remote=remote)
        if True in changed:
            raise self._changed(changed.index(True))

    def place(self, position: Position) -> str:
        if len(self._tables) == 1 and not self._files:
            return f"row {position.row}"
        return f"row {position.row} of {self._tables[position.file].label}"

    def fraction(self, position: Position) -> float | None:
        if not self._files and self.n_rows is None:
            return None
        sizes = [table.n_bytes if self.n_rows is None else table.n_rows or 0 for table in self._tables]
        done = float(sum(sizes[: position.file]))
        if position.file < len(sizes):
            done += sizes[position.file] * (self._tables[position.file].share(position.row) or 0.0)
        return done / max(1, sum(sizes))

    def fingerprint(self) -> list[dict[str, Any]] | None:
        return self._opened or None

    @property
    def chunk_bytes(self) -> int:
        return self._wanted.dtype.itemsize * self.n_dimensions * self._chunk_rows

    def reading_bytes(self) -> ReadingBytes:
        needs = [table.reading_bytes(self._wanted, self._chunk_rows) for table in self._tables]
        return ReadingBytes(max(need.least for need in needs), max(need.usual for need in needs))

    def allow(self, reading_bytes: int) -> None:
        for table in self._tables:
            table.allow(reading_bytes)

    def extremes(self) -> tuple[Floats, Floats] | None:
        found = []
        if any(width is not None for width in self._wanted.widths):  # the metadata hold one range for the whole lists
            return None
        if self._wanted.times or self.weight_column is not None:  # other units; rows of weight 0 do not count
            return None
        for table in self._tables:
            both = table.extremes(self._wanted.names)
            if both is None:
                return None
            found.append(both)
        low, high = np.min([low for low, _ in found], axis=0), np.max([high for _, high in found], axis=0)
        return (low, high) if np.isfinite([low, high]).all() else None


def chosen(tables: Sequence[Table], request: Request) -> Wanted:
    """The columns to read from every table, with the lengths of their lists."""
    asked = Counter(name.rpartition("[")[0] for name in request.columns or () if name.endswith("]"))
    wanted = choose([(table.label, [_as_asked(field, asked) for field in table.fields]) for table in tables], request)
    widths = (_width(tables, name, width, asked[name]) for name, width in zip(wanted.names, wanted.widths, strict=True))
    wanted = wanted._replace(widths=tuple(widths))
    check_widths(wanted, request)
    return wanted


def _as_asked(field: Field, asked: Counter[str]) -> Field:
    """The field; a column without any value holds lists if 'e[0]', 'e[1]', … of it are asked for."""
    return field._replace(width=0) if field.type == "null" and asked[field.name] else field


def _width(tables: Sequence[Table], name: str, first: int | None, asked: int) -> int | None:
    """The length of the lists in a column, which all tables must share; None if it holds no lists.

    first : the length in the first table, 0 if only its rows tell; None if it holds no lists there
    asked : how many columns 'e[0]', 'e[1]', … of it are asked for; their number counts if no row has a list
    """
    fields = [next(field for field in table.fields if field.name == name) for table in tables]
    if first is None and all(field.width is None for field in fields):
        return None
    known: dict[int, str] = {}
    for table, field in zip(tables, fields, strict=True):
        if field.width is None and field.type != "null":
            raise ValueError(f"column {name!r} of {table.label} holds {field.type}, but lists in other files")
        length = field.width or (None if field.width is None else table.list_length(name))
        if length == 0:
            raise ValueError(f"column {name!r} of {table.label} begins with an empty list: drop such rows first")
        if length is not None:
            known.setdefault(length, table.label)
    if len(known) > 1:
        (width, label), (other, other_label) = list(known.items())[:2]
        raise ValueError(
            f"column {name!r} has lists of {width} numbers in {label} but of {other} in {other_label}: all files need "
            "lists of the same length"
        )
    if not known and not asked:
        error = NoListsError(f"column {name!r} of {_and_others(tables)} has no list in any row: leave that column out")
        error.column, error.rows = name, sum(_rows_in(table, name) for table in tables)
        raise error
    return next(iter(known), asked)


def _rows_in(table: Table, name: str) -> int:
    if table.n_rows is not None or not isinstance(table, ArrowTable):
        return table.n_rows or 0
    one = Wanted((name,), np.dtype(np.float64), (None,))
    return sum(batch.num_rows for batch in table.batches(one, 0, usual_chunk_rows(1)))


def _of_several_types(tables: Sequence[Table], kept: tuple[str, ...]) -> frozenset[str]:
    """Those of the kept columns whose type is not the same in all tables."""
    types = {
        (field.name, "string" if table.keeps_text else field.type)
        for table in tables
        for field in table.fields
        if field.name in kept
    }
    return frozenset(name for name, several in Counter(name for name, _ in types).items() if several > 1)


def _check_names(tables: Sequence[Table]) -> None:
    with_names = [table.label for table in tables if table.named]
    without = [table.label for table in tables if not table.named]
    if with_names and without:
        raise ValueError(f"{without[0]} has columns without names but {with_names[0]} has names: read them separately")


def _and_others(tables: Sequence[Table]) -> str:
    return tables[0].label + (f" and {len(tables) - 1} more files" if len(tables) > 1 else "")
