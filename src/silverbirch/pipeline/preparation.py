"""Prepares rows for the model: fills missing values, scales columns, leaves rows out.

The model file stores the preparation, because aggregated rows, labelled rows and rows of later runs need the same one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats, Rows, as_choice, is_sparse
from ..directions import METRICS, no_direction, without_direction
from ..rows import Chunk, RowSource
from ..wording import parameter
from .statistics import ColumnStatistics, column_name

MISSING = ("error", "drop", "mean")
SCALES = ("none", "standard", "minmax")
_LARGEST = np.float64(_core.LARGEST_COORDINATE)
_SMALLEST_SPREAD = np.finfo(np.float64).tiny  # the inverse of a smaller one may be infinite


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
        if self.scale != "minmax" or self.missing != "error" or not self.needs_statistics:
            return self  # with dropped rows, one of them may hold an extreme
        extremes = source.extremes()
        return self if extremes is None else self._scaled_by_extremes(*extremes)

    def from_statistics(self, columns: ColumnStatistics) -> Preparation:
        """This preparation with `fill`, `shift` and `factor` from the statistics of a pass."""
        if self.scale == "standard":
            scaled = replace(self, shift=columns.mean, factor=_inverse(columns.deviation))
        elif self.scale == "minmax":
            scaled = self._scaled_by_extremes(columns.least, columns.most)
        else:
            scaled = self
        return replace(scaled, fill=columns.mean) if self.missing == "mean" else scaled

    def _scaled_by_extremes(self, least: Floats, most: Floats) -> Preparation:
        return replace(self, shift=least, factor=_inverse(most - least))

    def apply(self, chunk: Chunk, source: RowSource) -> Chunk:
        """The prepared chunk, in the precision of its rows. Rows that are left out have weight 0."""
        chunk = self.complete(chunk, source)
        if self.factor is not None and self.shift is not None:
            chunk = replace(chunk, rows=self._scaled(chunk, self.shift, self.factor, source), checked=True)
        return self._with_direction(chunk, source)

    def _scaled(self, chunk: Chunk, shift: Floats, factor: Floats, source: RowSource) -> Rows:
        with np.errstate(over="ignore"):  # refused below
            # shift and factor are float64: the difference of large float32 numbers would lose digits.
            rows: Any = ((chunk.rows - shift) * factor).astype(chunk.rows.dtype)
        if chunk.left_out is not None:
            rows[chunk.left_out] = 0
        if (bad := _core.check_coordinates(rows)) is not None:
            row, column, _ = bad
            raise ValueError(
                f"{column_name(source.names, column)} is {chunk.rows[row, column]:g} in {source.place_in(chunk, row)}, "
                f"too far from {shift[column]:g} to be scaled by {factor[column]:g}: leave that row out"
            )
        scaled: Rows = rows
        return scaled

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
        if self.changes_rows and is_sparse(rows):
            name = "scale" if self.scale != "none" else "missing"
            raise TypeError(
                f"X is sparse: {parameter(name, getattr(self, name))} would make it dense; leave it out, and scale the "
                "rows before by MaxAbsScaler of scikit-learn if need be"
            )
        if chunk.checked or _core.check_coordinates(rows) is None:
            return replace(chunk, checked=True)
        with np.errstate(invalid="ignore"):  # signalling NaN
            absent: NDArray[np.bool_] = np.isnan(rows)
            large = np.abs(rows) > _LARGEST
        _refuse(np.isinf(rows), "is infinite", "leave that row out", chunk, source)
        _refuse(large, f"is beyond {_LARGEST:g}", "rescale it, or leave that row out", chunk, source)
        if self.missing == "error":
            remedy = f"drop such rows or fill in the column's mean ({parameter('missing')})"
            _refuse(absent, "is missing", remedy, chunk, source)
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
        if is_sparse(chunk.rows):  # they are projected first
            return chunk
        without = without_direction(chunk.rows, self.metric)
        if chunk.left_out is not None:
            without &= ~chunk.left_out
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
    def from_state(
        cls, state: dict[str, Any], arrays: dict[str, NDArray[Any]], n_dimensions: int, *, complete: bool = True
    ) -> Preparation:
        """The stored preparation; raises ValueError, KeyError or TypeError if the state is not one.

        complete : whether it must have its numbers
        """
        known = {name: np.asarray(arrays[name], dtype=np.float64) for name in cls.ARRAYS if name in arrays}
        for name, array in known.items():
            if array.shape != (n_dimensions,) or not np.isfinite(array).all():
                raise ValueError(f"its {name} is not one number for each column")
        preparation = cls(state["missing"], state["scale"], state["metric"], **known)
        half = (preparation.shift is None) != (preparation.factor is None)
        if half or (complete and preparation.needs_statistics):
            raise ValueError("its preparation of rows is not complete")
        return preparation


def _inverse(spread: Floats) -> Floats:
    """The factor for each column; 1 for a constant column, and for one so narrow that it cannot be scaled."""
    return 1 / np.where(spread >= _SMALLEST_SPREAD, spread, 1.0)


def _without(chunk: Chunk, left_out: NDArray[np.bool_]) -> Chunk:
    """The chunk with the rows to leave out set to 0 and weight 0: the tree ignores them."""
    weight = np.where(left_out, 0.0, 1.0 if chunk.weight is None else chunk.weight)
    rows: Any = np.where(left_out[:, None], chunk.rows.dtype.type(0), chunk.rows)
    before = False if chunk.left_out is None else chunk.left_out
    return replace(chunk, rows=rows, weight=weight, left_out=left_out | before)


def _refuse(bad: NDArray[np.bool_], what: str, remedy: str, chunk: Chunk, source: RowSource) -> None:
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        at = source.place_in(chunk, row)
        raise ValueError(f"{column_name(source.names, column)} {what} in {at}: {remedy}")
