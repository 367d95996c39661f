"""The source of prepared rows, for passes that take a source and not a chunk."""

from __future__ import annotations

from collections.abc import Iterator

from ..rows import START, Chunk, Position, RowSource
from ..rows.source import DerivedSource
from .preparation import Preparation


class PreparedSource(DerivedSource):
    """The chunks of another source, filled and scaled; rows that are left out have weight 0."""

    def __init__(self, source: RowSource, preparation: Preparation) -> None:
        super().__init__(source)
        self._preparation = preparation

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        for chunk in self._source.chunks(begin, with_ids=with_ids):
            yield self._preparation.apply(chunk, self._source)
