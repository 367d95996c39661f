"""Columns in the names of folders: year=2024/month=03/part.parquet, as Hive, Spark and others write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import unquote

import numpy as np

from ..checks import Floats, Rows, as_weight_column
from ..remote import Place
from .columns import Field, Wanted
from .input_file import InputFile
from .source import Chunk, Position, ReadingBytes
from .table import Table, needed

_MISSING = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = np.iinfo(np.int64)


def with_partitions(tables: Sequence[Table]) -> list[Table]:
    """The tables with the columns that the folders of their files name. A column that a file has itself is read there.

    The values of a column are whole numbers if those of all files are, else text.
    """
    values = [_values(table) for table in tables]
    names = {name for own in values for name in own}
    text = {name for name in names if not all(map(_is_whole, (own[name] for own in values if name in own)))}
    return [_partitioned(table, own, text) for table, own in zip(tables, values, strict=True)]


def _values(table: Table) -> dict[str, str | None]:
    """The columns in the names of the folders right above a file; None for a missing value."""
    path: Place | None = getattr(table, "path", None)
    found: dict[str, str | None] = {}
    for folder in () if path is None or not table.named else path.parents:
        name, equals, value = folder.name.partition("=")
        if not (name and equals):
            break
        found[unquote(name)] = None if value == _MISSING else unquote(value)
    for field in table.fields:
        found.pop(field.name, None)
    return dict(reversed(found.items()))


def _is_whole(value: str | None) -> bool:
    return value is None or (re.fullmatch(r"-?[0-9]+", value) is not None and _WHOLE.min <= int(value) <= _WHOLE.max)


def _partitioned(table: Table, values: dict[str, str | None], text: Iterable[str]) -> Table:
    if not values:
        return table
    typed = {name: value if value is None or name in text else int(value) for name, value in values.items()}
    fields = [Field(name, "string" if name in text else "int64", name not in text, False) for name in values]
    return PartitionedTable(table, typed, fields)


class PartitionedTable(Table):
    """A file, and columns that have the same value in all its rows."""

    def __init__(self, table: Table, values: dict[str, Any], fields: Sequence[Field]) -> None:
        self._table = table
        self._values = values
        self._types = {field.name: field.type for field in fields}
        self.path: Place = table.path  # type: ignore[attr-defined]
        self.file: InputFile = table.file  # type: ignore[attr-defined]
        self.label, self.keeps_text = table.label, table.keeps_text
        self.n_rows, self.n_bytes = table.n_rows, table.n_bytes
        self.fields = (*table.fields, *fields)

    def check(self, wanted: Wanted) -> None:
        self._table.check(self._in_file(wanted))

    def reading_bytes(self, wanted: Wanted, chunk_rows: int) -> ReadingBytes:
        return self._table.reading_bytes(self._in_file(wanted), chunk_rows)

    def allow(self, reading_bytes: int) -> None:
        self._table.allow(reading_bytes)

    def list_length(self, name: str) -> int | None:
        return self._table.list_length(name)

    def share(self, row: int) -> float | None:
        return self._table.share(row)

    def extremes(self, names: tuple[str, ...]) -> tuple[Floats, Floats] | None:
        own = [name for name in names if name not in self._values]
        found = self._table.extremes(tuple(own)) if own else (np.empty(0), np.empty(0))
        if found is None:
            return None
        low, high = (dict(zip(own, extreme, strict=True)) for extreme in found)
        for name, value in self._values.items():
            low[name], high[name] = (np.inf, -np.inf) if value is None else (value, value)
        return np.array([low[name] for name in names]), np.array([high[name] for name in names])

    def chunks(self, wanted: Wanted, begin: Position, chunk_rows: int) -> Iterator[Chunk]:
        for chunk in self._table.chunks(self._in_file(wanted), begin, chunk_rows):
            yield replace(
                chunk,
                rows=self._rows(chunk, wanted),
                weight=self._weights(chunk, wanted),
                kept=self._kept(chunk, wanted),
                id_column=wanted.id_column,
            )

    def _in_file(self, wanted: Wanted) -> Wanted:
        """What is wanted of the file itself: at least one column, which tells the number of rows."""
        both = [pair for pair in zip(wanted.names, wanted.widths, strict=True) if pair[0] not in self._values]
        own = wanted._replace(
            names=tuple(name for name, _ in both),
            widths=tuple(width for _, width in both),
            kept=tuple(name for name in wanted.kept if name not in self._values),
            id_column=None,
            weight_column=None if wanted.weight_column in self._values else wanted.weight_column,
        )
        return own if own.all_names else own._replace(kept=(self._table.fields[0].name,))

    def _rows(self, chunk: Chunk, wanted: Wanted) -> Rows:
        if self._values.keys().isdisjoint(wanted.names):
            return chunk.rows
        rows: Rows = np.empty((len(chunk), len(wanted.columns)), dtype=wanted.dtype)
        done = taken = 0
        for name, width in zip(wanted.names, wanted.widths, strict=True):
            count = 1 if width is None else width
            if name in self._values:
                value = self._values[name]
                rows[:, done] = np.nan if value is None else value
            else:
                rows[:, done : done + count] = chunk.rows[:, taken : taken + count]
                taken += count
            done += count
        return rows

    def _weights(self, chunk: Chunk, wanted: Wanted) -> Floats | None:
        name = wanted.weight_column
        if name is None or name not in self._values:
            return chunk.weight
        value = self._values[name]
        weights = np.full(len(chunk), np.nan if value is None else value)
        return as_weight_column(weights, name, partial(self._place, chunk.begin.row))

    def _kept(self, chunk: Chunk, wanted: Wanted) -> Any | None:
        if not wanted.kept:
            return None
        arrow = needed("pyarrow")
        columns = [
            arrow.repeat(arrow.scalar(self._values[name], self._types[name]), len(chunk))
            if name in self._values
            else chunk.kept.column(name)  # type: ignore[union-attr]
            for name in wanted.kept
        ]
        return arrow.RecordBatch.from_arrays(columns, names=list(wanted.kept))
