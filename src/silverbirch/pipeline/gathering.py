"""The pass that gathers the statistics of the columns, for scaling and filling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..checks import as_count
from ..rows import START, Position, RowSource
from ..storage import container
from .preparation import Preparation
from .statistics import ColumnStatistics


@dataclass
class Gathering:
    """The state of the pass. Stored between two chunks and resumed, it gives the same result."""

    source: RowSource
    preparation: Preparation
    position: Position = START
    rows: int = 0  # rows read, including dropped rows
    statistics: ColumnStatistics | None = None

    stage = "columns"
    tree = None

    @property
    def progress(self) -> str:
        return f"row {self.rows:,}"

    def run(self, after_chunk: Callable[[Gathering], Any]) -> None:
        """Continues from the current position; calls `after_chunk` after each chunk."""
        for chunk in self.source.chunks(self.position):
            complete = self.preparation.complete(chunk, self.source)
            found = ColumnStatistics.of(complete.rows, complete.weight)
            self.statistics = found if self.statistics is None else self.statistics.joined_with(found)
            self.rows += len(chunk)
            self.position = chunk.end
            after_chunk(self)

    # -- in checkpoints

    def to_state(self) -> tuple[dict[str, Any], container.Arrays]:
        arrays = {} if self.statistics is None else self.statistics.to_state()
        return {"position": list(self.position), "counts": {"rows": self.rows}}, container.prefixed(
            "statistics", arrays
        )

    def resume(self, state: dict[str, Any], arrays: container.Arrays) -> None:
        stored = container.under("statistics", arrays)
        self.statistics = ColumnStatistics.from_state(stored) if stored else None
        self.position = position_from(state["position"])
        self.rows = as_count(state["counts"]["rows"], "rows", least=0)


def position_from(stored: Any) -> Position:
    file, row = stored
    return Position(as_count(file, "file", least=0), as_count(row, "row", least=0))
