"""Rows of unit length, on which half the squared Euclidean distance is the cosine or the correlation distance.

    |u - v|² / 2 = (1 - 2 u·v + 1) / 2 = 1 - cos(u, v)    for |u| = |v| = 1

The correlation distance is the cosine distance of rows from which their mean was subtracted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .checks import Floats, Rows
from .wording import parameter

METRICS = ("euclidean", "cosine", "correlation")

_SHORTEST_MEAN = 1e-12  # a shorter mean of unit rows is rounding
_BLOCK_VALUES = 1 << 18  # float64 values worked on at a time: 2 MiB


def directions(rows: Rows, metric: str) -> tuple[Rows, NDArray[np.bool_]]:
    """Returns the rows that stand for `rows` under a metric, and a mask of those that have no direction.

    For "cosine" these are the rows scaled to unit length, for "correlation" the rows centred and scaled, both computed
    in float64 and returned in the precision of `rows`. A row without a direction becomes zeros: a row of zeros, or a
    constant row for "correlation". For "euclidean" they are `rows` themselves. All values must be finite.
    """
    without = np.zeros(len(rows), dtype=bool)
    if metric == "euclidean":
        return rows, without
    unit = np.empty_like(rows)
    step = max(1, _BLOCK_VALUES // rows.shape[1])
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        without[block] = without_direction(rows[block], metric)
        unit[block] = _unit_rows(rows[block].astype(np.float64), without[block], centre=metric == "correlation")
    return unit, without


def without_direction(rows: Rows, metric: str) -> NDArray[np.bool_]:
    """A mask of the rows that have no direction: rows of zeros, or constant rows for "correlation"."""
    if metric == "euclidean":
        return np.zeros(len(rows), dtype=bool)
    varied: NDArray[np.bool_] = rows != rows[:, :1] if metric == "correlation" else rows != 0
    return np.asarray(~varied.any(axis=1))


def cancelled(means: Floats) -> NDArray[np.bool_]:
    """A mask of the means of unit rows that are zero up to rounding: these rows cancel, so they have no direction."""
    return np.asarray(np.einsum("ij,ij->i", means, means) < _SHORTEST_MEAN**2)


def no_direction(place: str, metric: str) -> ValueError:
    """The error for a row without a direction; `place` names it, as in "y: row 3"."""
    why = "constant" if metric == "correlation" else "zero in every column"
    return ValueError(
        f"{place} is {why}: it has no direction, so {parameter('metric', metric)} is not defined for it; drop such "
        f"rows first (--missing drop on the command line), use {parameter('metric', 'euclidean')}, or raise "
        f"{parameter('projection')} if the rows are projected"
    )


def _unit_rows(rows: Floats, without: NDArray[np.bool_], *, centre: bool) -> Floats:
    # Scaling by a power of two is exact. It keeps the squares of very large and very small rows in range.
    exponent = np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1]
    rows = np.ldexp(rows, -exponent)
    if centre:
        # The first mean is rounded at the size of a common offset; the second removes what that rounding left.
        rows -= rows.mean(axis=1, keepdims=True)
        rows -= rows.mean(axis=1, keepdims=True)
    rows[without] = 0
    length = np.sqrt(np.square(rows).sum(axis=1))
    rows /= np.where(without, 1, length)[:, None]
    return rows
