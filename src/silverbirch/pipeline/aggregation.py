"""The first pass: prepares the chunks of a source and inserts them into the tree of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..checks import as_count
from ..model import AggregateModel
from ..rows import START, Position, RowSource
from ..storage import container
from ..storage import model as model_in_file
from .preparation import ColumnStatistics, Preparation


@dataclass
class Counts:
    rows: int = 0  # rows read, including dropped rows
    dropped: int = 0  # rows left out because of missing values
    filled: int = 0  # missing values filled in


@dataclass
class Aggregation:
    """The state of the pass. Stored between two chunks and resumed, it gives the same result.

    If scaling or filling needs statistics of the columns, another pass gathers them first.
    """

    source: RowSource
    model: AggregateModel
    preparation: Preparation
    position: Position = START
    counts: Counts = field(default_factory=Counts)
    statistics: ColumnStatistics | None = None

    @property
    def stage(self) -> str:
        return "columns" if self.preparation.needs_statistics else "tree"

    @property
    def rows_of_stage(self) -> int:
        """The number of rows that the current pass has read."""
        if self.stage == "tree":
            return self.counts.rows
        return 0 if self.statistics is None else self.statistics.rows

    @property
    def progress(self) -> str:
        return f"row {self.rows_of_stage:,}" + ("" if self.stage == "tree" else " of the first pass")

    def run(self, after_chunk: Callable[[Aggregation], Any]) -> None:
        """Continues from the current position; calls `after_chunk` after each chunk."""
        self.preparation = self.preparation.from_metadata(self.source)
        if self.preparation.needs_statistics:
            if not self.source.repeatable:
                raise ValueError("scaling and filling need two passes, but a stream can be read only once: use files")
            self._gather(after_chunk)
        for chunk in self.source.chunks(self.position):
            prepared = self.preparation.apply(chunk, self.source)
            counted = len(prepared.counted)
            if counted:
                self.model.insert(prepared)
            self.counts.rows += len(chunk)
            self.counts.dropped += len(chunk) - counted
            if self.preparation.missing == "mean":
                self.counts.filled += int(np.isnan(chunk.rows).sum())
            self.position = chunk.end
            after_chunk(self)
        if not hasattr(self.model, "tree_"):
            raise ValueError(
                f"no row is left of {self.counts.rows:,}: each one has a missing value; fill them (--missing mean)"
            )

    def _gather(self, after_chunk: Callable[[Aggregation], Any]) -> None:
        for chunk in self.source.chunks(self.position):
            found = ColumnStatistics.of(self.preparation.complete(chunk, self.source).counted)
            self.statistics = found if self.statistics is None else self.statistics.joined_with(found)
            self.position = chunk.end
            after_chunk(self)
        if self.statistics is None or self.statistics.rows == 0:
            raise ValueError("no row is left: each one has a missing value; fill them (--missing mean)")
        self.preparation = self.preparation.from_statistics(self.statistics.checked(self.source.names))
        self.position = START

    # -- in checkpoints

    def to_state(self) -> tuple[dict[str, Any], container.Arrays]:
        fitted = hasattr(self.model, "tree_")
        model, arrays = model_in_file.to_file(self.model) if fitted else (None, {})
        how, columns = self.preparation.to_state()
        arrays = container.prefixed("model", arrays) | container.prefixed("preparation", columns)
        statistics_rows = None
        if self.statistics is not None:
            statistics_rows, sums = self.statistics.to_state()
            arrays |= container.prefixed("statistics", sums)
        state = {
            "position": list(self.position),
            "counts": asdict(self.counts),
            "preparation": how,
            "statistics_rows": statistics_rows,
            "model": model,
        }
        return state, arrays

    def resume(self, state: dict[str, Any], arrays: container.Arrays) -> None:
        """Restores a stored state; the model keeps its current parameters."""
        if state["statistics_rows"] is not None:
            sums = container.under("statistics", arrays)
            self.statistics = ColumnStatistics.from_state(int(state["statistics_rows"]), sums)
        how, columns = state["preparation"], container.under("preparation", arrays)
        self.preparation = Preparation(how["missing"], how["scale"], how["metric"], **columns)
        if state["model"] is not None:
            stored = model_in_file.from_file(state["model"], container.under("model", arrays), AggregateModel)
            self.model = stored.set_params(**self.model.get_params())
            self.model._metric = self.model.metric  # up to 0.2 the preparation knew the metric, not the model
            # A run that was labelling rows had clustered its leaves. The linkage and the cut may be others now.
            self.model._take(self.model.tree_)
            self.model._adaptive = None
        file, row = state["position"]
        self.position = Position(as_count(file, "file", least=0), as_count(row, "row", least=0))
        self.counts = Counts(**state["counts"])
