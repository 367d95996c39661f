"""Prepares rows for the model: fills missing values, scales columns, leaves rows out.

The model file stores the preparation, because aggregated rows, labelled rows and rows of later runs need the same one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats, as_choice
from ..directions import METRICS, no_direction, without_direction
from ..rows import Chunk, RowSource

MISSING = ("error", "drop", "mean")
SCALES = ("none", "standard", "minmax")
_LARGEST = np.float64(_core.LARGEST_COORDINATE)


@dataclass(frozen=True)
class Preparation:
    """Handles missing values, then scales the columns, then looks for rows without a direction.

    missing : "error", "drop" (leaves out rows with a missing value or without a direction) or "mean" (fills in the
        mean of the column)
    scale : "none", "standard" (mean 0, standard deviation 1) or "minmax" (0 to 1)
    metric : the metric of the model, which turns rows into directions itself for "cosine" and "correlation"
    fill, shift, factor : one value for each column; None if not needed or not known yet
    """

    missing: str = "error"
    scale: str = "none"
    metric: str = "euclidean"
    fill: Floats | None = None
    shift: Floats | None = None
    factor: Floats | None = None

    ARRAYS: ClassVar = ("fill", "shift", "factor")

    def __post_init__(self) -> None:
        as_choice(self.missing, "missing", MISSING)
        as_choice(self.scale, "scale", SCALES)
        as_choice(self.metric, "metric", METRICS)

    @property
    def changes_rows(self) -> bool:
        """Whether rows must be prepared before the model can take them."""
        return self.missing == "mean" or self.scale != "none"

    @property
    def needs_statistics(self) -> bool:
        return (self.missing == "mean" and self.fill is None) or (self.scale != "none" and self.factor is None)

    def from_metadata(self, source: RowSource) -> Preparation:
        """This preparation with the extremes of the columns from the metadata of the files, if they have them."""
        if self.scale != "minmax" or self.missing != "error":  # a dropped row may hold an extreme
            return self
        extremes = source.extremes()
        return self if extremes is None else self._scaled_by_extremes(*extremes)

    def from_statistics(self, columns: ColumnStatistics) -> Preparation:
        """This preparation with `fill`, `shift` and `factor` from the statistics of a pass."""
        if self.scale == "standard":
            deviation = np.sqrt(columns.squares / columns.rows)
            factor = 1 / np.where(deviation > 0, deviation, 1.0)
            scaled = replace(self, shift=columns.mean, factor=factor)
        elif self.scale == "minmax":
            scaled = self._scaled_by_extremes(columns.least, columns.most)
        else:
            scaled = self
        return replace(scaled, fill=columns.mean) if self.missing == "mean" else scaled

    def _scaled_by_extremes(self, least: Floats, most: Floats) -> Preparation:
        width = most - least
        return replace(self, shift=least, factor=1 / np.where(width > 0, width, 1.0))

    def apply(self, chunk: Chunk, source: RowSource) -> Chunk:
        """The prepared chunk, in the precision of its rows. Rows that are left out have weight 0."""
        chunk = self.complete(chunk, source)
        if self.factor is not None and self.shift is not None:
            # shift and factor are float64: the difference of large float32 numbers would lose digits.
            rows: Any = ((chunk.rows - self.shift) * self.factor).astype(chunk.rows.dtype)
            chunk = replace(chunk, rows=rows, checked=False)
        return self._with_direction(chunk, source)

    @property
    def can_be_undone(self) -> bool:
        """Whether rows were only scaled: `undo` then takes means back to their units."""
        return self.shift is not None and self.factor is not None and self.metric == "euclidean"

    def undo(self, rows: Floats) -> Floats:
        """The rows before they were scaled."""
        assert self.shift is not None
        assert self.factor is not None
        return self.shift + rows / self.factor

    def complete(self, chunk: Chunk, source: RowSource) -> Chunk:
        """The chunk without missing values: filled in, or their rows with weight 0; unchanged without known means."""
        rows = chunk.rows
        self._check_width(rows.shape[1])
        if chunk.checked or _core.check_coordinates(rows) is None:
            return replace(chunk, checked=True)
        absent: NDArray[np.bool_] = np.isnan(rows)
        _refuse(np.isinf(rows), "is infinite", "leave that row out", chunk, source)
        _refuse(np.abs(rows) > _LARGEST, f"is beyond {_LARGEST:g}", "rescale it, or leave that row out", chunk, source)
        if self.missing == "error":
            _refuse(absent, "is missing", "drop such rows or fill in the column's mean (--missing)", chunk, source)
        if self.missing == "drop":
            return replace(_without(chunk, np.any(absent, axis=1)), checked=True)
        if self.fill is None:
            return chunk
        return replace(chunk, rows=np.where(absent, self.fill.astype(rows.dtype), rows), checked=True)

    def _check_width(self, columns: int) -> None:
        """Raises ValueError for a different width: numpy would broadcast a single column."""
        for known in (self.fill, self.factor):
            if known is not None and len(known) != columns:
                raise ValueError(
                    f"the rows have {columns} columns but the model has {len(known)}: pass the same columns"
                )

    def _with_direction(self, chunk: Chunk, source: RowSource) -> Chunk:
        """The chunk after rows without a direction were left out or refused."""
        without = without_direction(chunk.rows, self.metric)
        if chunk.weight is not None:
            without &= chunk.weight > 0
        if not without.any():
            return chunk
        if self.missing != "drop":
            raise no_direction(source.place_in(chunk, int(np.argmax(without))), self.metric)
        return _without(chunk, without)

    # -- in model files

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        known = {name: getattr(self, name) for name in self.ARRAYS if getattr(self, name) is not None}
        return {"missing": self.missing, "scale": self.scale, "metric": self.metric}, known

    @classmethod
    def from_state(cls, state: dict[str, Any], arrays: dict[str, NDArray[Any]], n_dimensions: int) -> Preparation:
        """The stored preparation; raises ValueError, KeyError or TypeError if the state is not one."""
        known = {name: np.asarray(arrays[name], dtype=np.float64) for name in cls.ARRAYS if name in arrays}
        for name, array in known.items():
            if array.shape != (n_dimensions,) or not np.isfinite(array).all():
                raise ValueError(f"its {name} is not one number for each column")
        preparation = cls(state["missing"], state["scale"], state["metric"], **known)
        if preparation.needs_statistics or (preparation.shift is None) != (preparation.factor is None):
            raise ValueError("its preparation of rows is not complete")
        return preparation


@dataclass(frozen=True)
class ColumnStatistics:
    """The count, mean, sum of squared deviations and extremes of each column.

    The statistics of chunks are joined without loss of digits for data far from 0 (Chan, Golub & LeVeque 1983).
    """

    rows: int
    values: Floats  # number of values that are not missing
    mean: Floats
    squares: Floats
    least: Floats
    most: Floats

    ARRAYS: ClassVar = ("values", "mean", "squares", "least", "most")

    @classmethod
    def of(cls, rows: NDArray[Any]) -> ColumnStatistics:
        table = rows.astype(np.float64, copy=False)
        present = ~np.isnan(table)
        values = present.sum(axis=0).astype(np.float64)
        shares = 1 / np.maximum(values, 1)
        origin = np.where(present, table, 0.0).sum(axis=0) * shares
        deviation = np.where(present, table - origin, 0.0)
        correction = deviation.sum(axis=0) * shares
        squares = np.square(deviation).sum(axis=0) - values * correction**2
        least = np.where(present, table, np.inf).min(axis=0, initial=np.inf)
        most = np.where(present, table, -np.inf).max(axis=0, initial=-np.inf)
        return cls(len(table), values, origin + correction, np.maximum(squares, 0.0), least, most)

    def joined_with(self, other: ColumnStatistics) -> ColumnStatistics:
        values = self.values + other.values
        share = other.values / np.maximum(values, 1)
        gap = other.mean - self.mean
        return ColumnStatistics(
            rows=self.rows + other.rows,
            values=values,
            mean=self.mean + gap * share,
            squares=self.squares + other.squares + gap**2 * self.values * share,
            least=np.minimum(self.least, other.least),
            most=np.maximum(self.most, other.most),
        )

    def checked(self, names: tuple[str, ...] | None) -> ColumnStatistics:
        empty = np.flatnonzero(self.values == 0)
        if empty.size:
            raise ValueError(f"{_column(names, int(empty[0]))} has no value in any row: leave that column out")
        return self

    def to_state(self) -> tuple[int, dict[str, Floats]]:
        return self.rows, {name: getattr(self, name) for name in self.ARRAYS}

    @classmethod
    def from_state(cls, rows: int, arrays: dict[str, NDArray[Any]]) -> ColumnStatistics:
        return cls(rows, *(np.asarray(arrays[name], dtype=np.float64) for name in cls.ARRAYS))


def _without(chunk: Chunk, left_out: NDArray[np.bool_]) -> Chunk:
    """The chunk with the rows to leave out set to 0 and weight 0: the tree ignores them."""
    weight = np.ones(len(chunk)) if chunk.weight is None else chunk.weight
    rows: Any = np.where(left_out[:, None], chunk.rows.dtype.type(0), chunk.rows)
    return replace(chunk, rows=rows, weight=np.where(left_out, 0.0, weight))


def _refuse(bad: NDArray[np.bool_], what: str, remedy: str, chunk: Chunk, source: RowSource) -> None:
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        at = source.place_in(chunk, row)
        raise ValueError(f"{_column(source.names, column)} {what} in {at}: {remedy}")


def _column(names: tuple[str, ...] | None, number: int) -> str:
    return f"column {number}" if names is None else f"column {names[number]!r}"
