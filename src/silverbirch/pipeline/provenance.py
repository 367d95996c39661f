"""RunState: what a run adds to a model or features file: columns, preparation of rows, record, and what went in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..checks import as_flag
from ..errors import ModelFileError
from ..storage.container import Arrays, one_line, prefixed, under
from .preparation import Preparation
from .sources import Fingerprint, abridged, checked_fingerprints, from_array, to_array
from .statistics import column_name


@dataclass(frozen=True, repr=False)
class RunState:
    columns: tuple[str, ...] | None  # names; None for columns without names
    numbers: tuple[str, ...] | None = None  # of the chosen columns, if they have no names
    id_column: str | None = None
    weight_column: str | None = None
    times: bool = False  # whether dates, times and durations were read as seconds
    preparation: Preparation = field(default_factory=Preparation)
    record: dict[str, Any] = field(default_factory=dict)
    made_of: tuple[Fingerprint, ...] = ()  # the inputs whose rows are in the file; none if they are not known

    @property
    def to_read(self) -> tuple[str, ...] | None:
        """The columns to read from a source; None for all columns."""
        return self.numbers if self.columns is None else self.columns

    def __repr__(self) -> str:
        how = self.preparation
        return f"RunState(missing={how.missing!r}, scale={how.scale!r}, metric={how.metric!r})"

    def added_to(self, state: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        how, columns = self.preparation.to_state()
        run: dict[str, Any] = {
            "columns": None if self.columns is None else list(self.columns),
            "numbers": None if self.numbers is None else list(self.numbers),
            "id_column": self.id_column,
            "weight_column": self.weight_column,
            "times": self.times,
            "prepared": self.preparation.changes_rows,
            "preparation": how,
            "record": self.record | {"input": abridged(self.record.get("input", []))},
        }
        if self.made_of:
            columns |= {"made_of": to_array(self.made_of)}
        return state | {"run": run}, arrays | prefixed("run", columns)

    @classmethod
    def found_in(cls, state: dict[str, Any], arrays: Arrays, n_dimensions: int, *, complete: bool = True) -> RunState:
        """The state in a file; if `save` wrote the file, only the metric of its model is known.

        complete : whether the preparation must have its numbers

        Raises AttributeError, ValueError, KeyError or TypeError if the stored state is not valid.
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
        weight_column = run.get("weight_column")  # files of version 0.3 and earlier have neither it nor times
        times = as_flag(run.get("times", False), "times")
        preparation = Preparation.from_state(run["preparation"], under("run", arrays), n_dimensions, complete=complete)
        record = dict(run["record"])
        return cls(
            columns=columns,
            numbers=numbers,
            id_column=id_column,
            weight_column=None if weight_column is None else str(weight_column),
            times=times,
            preparation=preparation,
            record=record,
            made_of=_made_of(record, under("run", arrays)),
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

    def difference_from(self, other: RunState) -> str | None:
        """What is prepared differently, so that the features cannot be merged; None if nothing is."""
        if self.to_read != other.to_read:
            return f"the columns are {_listed(self.to_read)}, not {_listed(other.to_read)}"
        if self.times != other.times:
            return f"--times was {'' if self.times else 'not '}given"
        own, others = self.preparation, other.preparation
        for name in ("missing", "scale", "metric"):
            if getattr(own, name) != getattr(others, name):
                return f"--{name} was {getattr(own, name)}, not {getattr(others, name)}"
        for name, text in _DIFFERENCES.items():
            values, other_values = getattr(own, name), getattr(others, name)
            if values is not None and len(differ := np.flatnonzero(values != other_values)):
                at = int(differ[0])
                return (
                    f"{column_name(self.columns, at)} was {text} {float(values[at])!r}, not {float(other_values[at])!r}"
                )
        return None


def refuse_differences(paths: Sequence[str], states: Sequence[RunState], remedy: str) -> None:
    """Raises ModelFileError if files do not have the same columns, prepared alike; says which and what differs."""
    differences = {path: state.difference_from(states[0]) for path, state in zip(paths, states, strict=True)}
    different = [(path, difference) for path, difference in differences.items() if difference is not None]
    if different:
        path, difference = different[0]
        others = f", and {len(different) - 1} of the other files too" if len(different) > 1 else ""
        raise ModelFileError(f"{path} was prepared differently from {paths[0]}: {difference}{others}; {remedy}")


def _made_of(record: dict[str, Any], arrays: Arrays) -> tuple[Fingerprint, ...]:
    if "made_of" in arrays:
        return from_array(arrays["made_of"])
    # Up to 0.3, files have the inputs in their record. If features were merged, it only names the files of features.
    return checked_fingerprints([file for file in record.get("input", []) if "bytes" in file])


_DIFFERENCES = {"fill": "filled with", "shift": "moved by", "factor": "scaled by"}


def _listed(columns: tuple[str, ...] | None) -> str:
    if columns is None:
        return "all, without names"
    return ", ".join(columns) if len(columns) <= 8 else f"{', '.join(columns[:7])} and {len(columns) - 7} more"
