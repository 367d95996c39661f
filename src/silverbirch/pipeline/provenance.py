"""RunState: what a run adds to a model or features file: the columns, the preparation of rows, and the record."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..checks import as_flag
from ..errors import ModelFileError
from ..storage.container import Arrays, one_line, prefixed, under
from .preparation import Preparation


@dataclass(frozen=True, repr=False)
class RunState:
    columns: tuple[str, ...] | None  # names; None for columns without names
    numbers: tuple[str, ...] | None = None  # of the chosen columns, if they have no names
    id_column: str | None = None
    weight_column: str | None = None
    times: bool = False  # whether dates, times and durations were read as seconds
    preparation: Preparation = field(default_factory=Preparation)
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def to_read(self) -> tuple[str, ...] | None:
        """The columns to read from a source; None for all columns."""
        return self.numbers if self.columns is None else self.columns

    def __repr__(self) -> str:
        how = self.preparation
        return f"RunState(missing={how.missing!r}, scale={how.scale!r}, metric={how.metric!r})"

    def added_to(self, state: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        how, columns = self.preparation.to_state()
        run = {
            "columns": None if self.columns is None else list(self.columns),
            "numbers": None if self.numbers is None else list(self.numbers),
            "id_column": self.id_column,
            "weight_column": self.weight_column,
            "times": self.times,
            "prepared": self.preparation.changes_rows,
            "preparation": how,
            "record": self.record,
        }
        return state | {"run": run}, arrays | prefixed("run", columns)

    @classmethod
    def found_in(cls, state: dict[str, Any], arrays: Arrays, n_dimensions: int) -> RunState:
        """The state in a file; if `save` wrote the file, only the metric of its model is known.

        Raises ValueError, KeyError or TypeError if the stored state is not valid.
        """
        run = state.get("run")
        if run is None:
            metric = state.get("parameters", {}).get("metric", "euclidean")
            return cls(columns=None, preparation=Preparation(metric=metric))
        columns, numbers = (
            None if run.get(key) is None else tuple(map(str, run[key])) for key in ("columns", "numbers")
        )
        for chosen in (columns, numbers):
            if chosen is not None and len(chosen) != n_dimensions:
                raise ValueError(f"it names {len(chosen)} columns of {n_dimensions}")
        id_column = None if run["id_column"] is None else str(run["id_column"])
        weight_column = run.get("weight_column")  # files of version 0.2 and earlier have neither it nor times
        times = as_flag(run.get("times", False), "times")
        preparation = Preparation.from_state(run["preparation"], under("run", arrays), n_dimensions)
        return cls(
            columns=columns,
            numbers=numbers,
            id_column=id_column,
            weight_column=None if weight_column is None else str(weight_column),
            times=times,
            preparation=preparation,
            record=dict(run["record"]),
        )

    @classmethod
    def of_file(
        cls, path: str | os.PathLike[str], state: dict[str, Any], arrays: Arrays, n_dimensions: int
    ) -> RunState:
        """Like `found_in`, but raises ModelFileError if the stored state is not valid."""
        try:
            return cls.found_in(state, arrays, n_dimensions)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path} has no valid record of its run: {one_line(error)}") from None

    def prepares_like(self, other: RunState) -> bool:
        """Whether both prepare rows alike, so that their features can be merged."""
        how, columns = self.preparation.to_state()
        other_how, other_columns = other.preparation.to_state()
        same = how["scale"] == other_how["scale"] and how["metric"] == other_how["metric"]
        return same and all(
            np.array_equal(columns.get(name, ()), other_columns.get(name, ())) for name in ("shift", "factor")
        )
