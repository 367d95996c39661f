"""Sources: tables one after the other, and generators of chunks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..checks import Floats
from .arrays import ArrayTable
from .columns import Request, Wanted, choose
from .frames import ArrowMemoryTable, ArrowReaderTable, FrameTable
from .source import START, Chunk, Position, RowSource, usual_chunk_rows
from .table import Table


class TableSource(RowSource):
    """One table or several with the same columns; a chunk never has rows of two."""

    def __init__(self, tables: Sequence[Table], request: Request, chunk_rows: int | None) -> None:
        self._tables = tables
        _check_names(tables)
        self._wanted = choose([(table.label, table.fields) for table in tables], request)
        self.names = self._wanted.names if tables[0].named else None
        self.n_dimensions = len(self._wanted.names)
        counts = [table.n_rows for table in tables]
        self.n_rows = None if None in counts else sum(count or 0 for count in counts)
        self.repeatable = not any(isinstance(table, ArrowReaderTable) for table in tables)
        self._used = False
        self._chunk_rows = chunk_rows or usual_chunk_rows(self.n_dimensions)
        self._files = [table for table in tables if hasattr(table, "path")]
        if self.n_rows == 0:
            raise ValueError(f"{_and_others(tables)} has no rows: at least one is needed")

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        if self._used and not self.repeatable:
            raise ValueError(f"{self._tables[0].label} was read already and cannot be read again: pass a new one")
        self._used = True
        wanted = self._wanted.with_ids(with_ids)
        empty = begin == START
        for file in range(begin.file, len(self._tables)):
            row = begin.row if file == begin.file else 0
            for piece in self._tables[file].pieces(wanted, row, self._chunk_rows):
                here, row = Position(file, row), row + len(piece.rows)
                empty = False
                yield Chunk(piece.rows, piece.ids, here, Position(file + 1, 0) if piece.last else Position(file, row))
        if empty:
            raise ValueError(f"{_and_others(self._tables)} has no rows: at least one is needed")

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
        if not self._files:
            return None
        return [_fingerprint(table) for table in self._files]

    def extremes(self) -> tuple[Floats, Floats] | None:
        found = []
        for table in self._tables:
            both = table.extremes(self._wanted.names)
            if both is None:
                return None
            found.append(both)
        low, high = (np.array(values) for values in zip(*found, strict=True))
        return low.min(axis=0), high.max(axis=0)


def _fingerprint(table: Any) -> dict[str, Any]:
    status = table.path.stat()
    return {"name": str(table.path), "bytes": status.st_size, "mtime_ns": status.st_mtime_ns}


def _check_names(tables: Sequence[Table]) -> None:
    with_names = [table.label for table in tables if table.named]
    without = [table.label for table in tables if not table.named]
    if with_names and without:
        raise ValueError(f"{without[0]} has columns without names but {with_names[0]} has names: read them apart")


def _and_others(tables: Sequence[Table]) -> str:
    return tables[0].label + (f" and {len(tables) - 1} more files" if len(tables) > 1 else "")


class ChunkSource(RowSource):
    """What a generator gives: arrays, data frames or record batches, as they come. The first one says which columns;
    those without rows are passed over."""

    repeatable = False
    n_rows = None

    def __init__(self, items: Iterator[Any], request: Request) -> None:
        self._request = request
        self._numbered = enumerate(items)
        first = self._next_table()
        if first is None:
            raise ValueError("the stream has no rows: at least one is needed")
        self._first: tuple[int, Table] | None = first
        self._wanted = self._choose(first[1], request)
        self.names = self._wanted.names if first[1].named else None
        self.n_dimensions = len(self._wanted.names)

    def _next_table(self) -> tuple[int, Table] | None:
        for number, item in self._numbered:
            table = as_table(item, f"chunk {number} of the stream")
            if table.n_rows != 0:
                return number, table
        return None

    def _choose(self, table: Table, request: Request) -> Wanted:
        return choose([(table.label, table.fields)], request)

    def _wanted_of(self, table: Table) -> Wanted:
        """The columns of the first chunk, each chunk in its own precision."""
        if table.named != (self.names is not None) or (
            self._request.columns is None and not table.named and len(table.fields) != self._n_fields()
        ):
            raise ValueError(f"{table.label} has {len(table.fields)} columns, not those of the first chunk")
        return self._choose(table, self._request._replace(columns=self._wanted.names))

    def _n_fields(self) -> int:
        return self.n_dimensions + (self._request.id_column is not None)

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        if self._first is None:
            raise ValueError("the stream was read already and cannot be read again: pass a new one")
        first, self._first = self._first, None
        rest = iter(self._next_table, None)
        for number, table in itertools.chain([first], rest):
            if number < begin.file:
                continue
            wanted = self._wanted_of(table).with_ids(with_ids)
            assert table.n_rows is not None
            for piece in table.pieces(wanted, 0, table.n_rows):
                yield Chunk(piece.rows, piece.ids, Position(number, 0), Position(number + 1, 0))

    def place(self, position: Position) -> str:
        return f"row {position.row} of chunk {position.file}"


def as_table(item: Any, label: str) -> Table:
    """Something in memory, as a table."""
    if is_arrow(item):
        return ArrowMemoryTable(item, label)
    if is_frame(item):
        return FrameTable(item, label)
    if isinstance(item, str | bytes | dict) or item is None:
        raise TypeError(f"{label} is a {type(item).__name__}: arrays, data frames or record batches are needed")
    return ArrayTable(item, label)


def is_arrow(source: Any) -> bool:
    """Whether it is a table or record batch of pyarrow, without loading pyarrow to know."""
    return _module_of(source) == "pyarrow" and type(source).__name__ in ("Table", "RecordBatch")


def is_frame(source: Any) -> bool:
    """Whether it is a data frame in memory. pandas' and polars' are known without narwhals."""
    return type(source).__name__ == "DataFrame" and hasattr(source, "columns") and hasattr(source, "shape")


def _module_of(source: Any) -> str:
    return type(source).__module__.partition(".")[0]
