"""The source of the chunks that a generator yields."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from .columns import Request, Wanted, choose
from .formats.frames import as_table
from .source import START, Chunk, NoRowsError, Position, RowSource
from .table import Table
from .table_source import chosen


class ChunkSource(RowSource):
    """Arrays, data frames or record batches from a generator, each of them one chunk.

    The first chunk decides which columns are read. Chunks without rows are skipped.
    """

    repeatable = False
    n_rows = None

    def __init__(self, items: Iterator[Any], request: Request) -> None:
        self._numbered = enumerate(items)
        first = self._next_table()
        if first is None:
            raise NoRowsError("the stream has no rows: at least one is needed")
        self._first: tuple[int, Table] | None = first
        self._request = request.split(first[1].fields)
        self._wanted = chosen([first[1]], self._request)
        self.kept, self.weight_column = self._wanted.kept, self._wanted.weight_column
        self.names = self._wanted.columns if first[1].named else None
        self.n_dimensions = len(self._wanted.columns)

    def _next_table(self) -> tuple[int, Table] | None:
        for number, item in self._numbered:
            table = as_table(item, f"chunk {number} of the stream")
            if table.n_rows != 0:
                return number, table
        return None

    def _wanted_of(self, table: Table) -> Wanted:
        """The columns of the first chunk, in the precision of this chunk."""
        if table.named != (self.names is not None) or (
            self._request.columns is None and not table.named and len(table.fields) != self._n_fields()
        ):
            raise ValueError(
                f"{table.label} has {len(table.fields)} columns, not those of the first chunk: use the same columns"
            )
        own = choose([(table.label, table.fields)], self._request._replace(columns=self._wanted.names))
        return own._replace(widths=self._wanted.widths, times=self._wanted.times)

    def _n_fields(self) -> int:
        return len(self._wanted.all_names)

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        if self._first is None:
            raise ValueError("the stream was read already and cannot be read again: pass a new one")
        tables = itertools.chain([self._first], iter(self._next_table, None))
        self._first = None
        for number, table in tables:
            if number < begin.file:
                continue
            wanted = self._wanted_of(table).with_ids(with_ids)
            assert table.n_rows is not None
            yield from table.chunks(wanted, Position(number, 0), table.n_rows)

    def place(self, position: Position) -> str:
        return f"row {position.row} of chunk {position.file}"
