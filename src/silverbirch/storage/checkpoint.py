"""An aggregation on disk: a run that was killed at any moment, started again, goes on to the same bits."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..checks import as_count
from ..errors import ModelFileError
from ..model import AggregateModel
from ..pipeline.aggregation import Aggregation, Counts
from ..pipeline.preparation import ColumnStatistics, Preparation
from ..rows import Position
from . import container as files

KIND = "checkpoint"


@dataclass
class Checkpoint:
    """Written every so many seconds, beside the old one and then in its place.

    identity : everything that decides the result; a checkpoint with another one belongs to another run
    outputs : the files the run is going to write; once it has begun, they are its own
    """

    path: Path
    seconds: float
    identity: dict[str, Any]
    outputs: list[str] = field(default_factory=list)
    _written: float = field(default_factory=time.monotonic)

    def __call__(self, aggregation: Aggregation) -> None:
        if time.monotonic() - self._written >= self.seconds:
            self.write(aggregation)

    def write(self, aggregation: Aggregation) -> None:
        model_state, arrays = aggregation.model._to_file() if hasattr(aggregation.model, "tree_") else (None, {})
        how, columns = aggregation.preparation.to_state()
        arrays = files.prefixed("model", arrays) | files.prefixed("preparation", columns)
        statistics_rows = None
        if aggregation.statistics is not None:
            statistics_rows, sums = aggregation.statistics.to_state()
            arrays |= files.prefixed("statistics", sums)
        state = {
            "silverbirch": __version__,
            "identity": self.identity,
            "outputs": self.outputs,
            "position": list(aggregation.position),
            "counts": asdict(aggregation.counts),
            "preparation": how,
            "statistics_rows": statistics_rows,
            "model": model_state,
        }
        files.write(self.path, KIND, state, arrays)
        self._written = time.monotonic()

    def resume(self, aggregation: Aggregation) -> list[str]:
        """Sets the aggregation to where the file says it was; the outputs that are its own. Nothing happens where
        there is no file."""
        if not self.path.exists():
            return []
        _, state, arrays = files.read(self.path, KIND)
        try:
            if state["silverbirch"] != __version__:
                raise ModelFileError(
                    f"{self.path} was written by silverbirch {state['silverbirch']}, this is {__version__}: go on with "
                    "that version, or remove the file to begin anew"
                )
            if state["identity"] != self.identity:
                raise ModelFileError(
                    f"{self.path} belongs to a run with other {_differences(state['identity'], self.identity)}: repeat "
                    "that command, or remove the file to begin anew"
                )
            _restore(aggregation, state, arrays)
            return [str(output) for output in state["outputs"]]
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"{self.path} does not hold a whole checkpoint: {error}") from None

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def _restore(aggregation: Aggregation, state: dict[str, Any], arrays: files.Arrays) -> None:
    if state["statistics_rows"] is not None:
        sums = files.under("statistics", arrays)
        aggregation.statistics = ColumnStatistics.from_state(int(state["statistics_rows"]), sums)
    how, columns = state["preparation"], files.under("preparation", arrays)
    aggregation.preparation = Preparation(how["missing"], how["scale"], how["metric"], **columns)
    if state["model"] is not None:
        wanted = aggregation.model.get_params()
        aggregation.model = AggregateModel._from_file(state["model"], files.under("model", arrays)).set_params(**wanted)
    file, row = state["position"]
    aggregation.position = Position(as_count(file, "file", least=0), as_count(row, "row", least=0))
    aggregation.counts = Counts(**state["counts"])


def _differences(stored: Any, wanted: dict[str, Any]) -> str:
    """Which parts of the identity differ, by name."""
    if not isinstance(stored, dict):
        return "settings"
    found = []
    for part in sorted(stored.keys() | wanted.keys()):
        was, now = stored.get(part), wanted.get(part)
        if isinstance(was, dict) and isinstance(now, dict):
            names = sorted(name for name in was.keys() | now.keys() if was.get(name) != now.get(name))
            found += [f"{name} ({was.get(name)}, now {now.get(name)})" for name in names]
        elif was != now:
            found.append(part)
    return ", ".join(found) or "settings"
