"""The first pass: prepares the chunks of a source and inserts them into the tree of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..model import AggregateModel
from ..rows import START, Position, RowSource
from ..storage import container
from ..storage import model as model_in_file
from ..tree import CFTree
from ..wording import parameter
from .gathering import Gathering, position_from
from .preparation import Preparation


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
    counts: Counts = field(default_factory=Counts)
    gathering: Gathering | None = None  # the pass before this one, while it runs
    _position: Position = START

    @property
    def stage(self) -> str:
        return "tree" if self.gathering is None else self.gathering.stage

    @property
    def rows(self) -> int:
        """The number of rows that the current pass has read."""
        return self.counts.rows if self.gathering is None else self.gathering.rows

    @property
    def position(self) -> Position:
        """Where the current pass is."""
        return self._position if self.gathering is None else self.gathering.position

    @property
    def tree(self) -> CFTree | None:
        return getattr(self.model, "tree_", None)

    @property
    def progress(self) -> str:
        return f"row {self.rows:,}" + ("" if self.stage == "tree" else " of the first pass")

    def run(self, after_chunk: Callable[[Aggregation], Any]) -> None:
        """Continues from the current position; calls `after_chunk` after each chunk."""
        self.preparation = self.preparation.from_metadata(self.source)
        if self.preparation.needs_statistics:
            self._gather(after_chunk)
        for _ in self.inserted():
            after_chunk(self)
        if self.tree is None:
            raise nothing_left(self.counts.rows, self.source.weight_column)

    def inserted(self) -> Iterator[None]:
        """Inserts the chunks from the current position on. The preparation must have its numbers."""
        for chunk in self.source.chunks(self._position):
            prepared = self.preparation.apply(chunk, self.source)
            if prepared.weight is None or prepared.weight.any():
                self.model.insert(prepared)
            self.counts.rows += len(chunk)
            if prepared.left_out is not None:
                self.counts.dropped += int(prepared.left_out.sum())
            if self.preparation.missing == "mean":
                self.counts.filled += int(np.isnan(chunk.rows).sum())
            self._position = chunk.end
            yield

    def _gather(self, after_chunk: Callable[[Aggregation], Any]) -> None:
        if not self.source.repeatable:
            raise ValueError("scaling and filling need two passes, but a stream can be read only once: use files")
        self.gathering = self.gathering or Gathering(self.source, self.preparation)
        self.gathering.run(lambda _: after_chunk(self))
        statistics = self.gathering.statistics
        assert statistics is not None  # a source has a chunk, or it raises an error
        if statistics.weight == 0:
            raise nothing_left(self.gathering.rows, self.source.weight_column)
        self.preparation = self.preparation.from_statistics(statistics.checked(self.source.names))
        self.gathering = None

    # -- in checkpoints

    def to_state(self) -> tuple[dict[str, Any], container.Arrays]:
        model, arrays = (None, {}) if self.tree is None else model_in_file.to_file(self.model)
        how, columns = self.preparation.to_state()
        gathering, sums = (None, {}) if self.gathering is None else self.gathering.to_state()
        arrays = container.prefixed("model", arrays) | container.prefixed("preparation", columns)
        state = {
            "position": list(self._position),
            "counts": asdict(self.counts),
            "preparation": how,
            "gathering": gathering,
            "model": model,
        }
        return state, arrays | container.prefixed("gathering", sums)

    def resume(self, state: dict[str, Any], arrays: container.Arrays) -> None:
        """Restores a stored state; the model keeps its current parameters."""
        how, columns = state["preparation"], container.under("preparation", arrays)
        self.preparation = Preparation(how["missing"], how["scale"], how["metric"], **columns)
        if state["gathering"] is not None:
            self.gathering = Gathering(self.source, self.preparation)
            self.gathering.resume(state["gathering"], container.under("gathering", arrays))
        if state["model"] is not None:
            self.model = resumed_model(self.model, state["model"], container.under("model", arrays))
        self._position = position_from(state["position"])
        self.counts = Counts(**state["counts"])


def nothing_left(rows: int, weight_column: str | None) -> ValueError:
    weight = "" if weight_column is None else " or weight 0"
    return ValueError(
        f"no row is left of {rows:,}: each one has a missing value{weight}; fill missing values "
        f"({parameter('missing', 'mean')})"
    )


def resumed_model(model: AggregateModel, state: dict[str, Any], arrays: container.Arrays) -> AggregateModel:
    """The stored model with the parameters of `model`.

    Only its tree is taken over. The model of a run that was labelling rows is clustered, but the linkage and the cut
    may be others now.
    """
    stored = model_in_file.from_file(state, arrays, AggregateModel)
    stored.set_params(**model.get_params())
    stored._metric = stored.metric
    stored._take(stored.tree_)
    stored._adaptive = None
    return stored
