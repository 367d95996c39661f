"""Counts, means, deviations and ranges of columns, to the bit the same however the rows are divided."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats
from ..wording import parameter
from .exact_sums import SMALLEST, Sums, exact_sums

_LARGEST = _core.LARGEST_COORDINATE
_MOST_BYTES = 1024  # of a stored number; sums of 2**64 of the largest values and weights are below


@dataclass(frozen=True)
class ColumnStatistics:
    """The statistics of rows: exact sums, so that those of parts join to those of the whole.

    weight : of all rows, as a multiple of 2**-1074; a row without weights has weight 1
    sums : for each column the sums over the values that are not missing
    least, most : the extremes of each column; inf and -inf without values
    """

    weight: int
    sums: Sums
    least: Floats
    most: Floats

    EXTREMES: ClassVar = ("least", "most")

    @classmethod
    def of(cls, rows: NDArray[Any], weight: Floats | None = None) -> ColumnStatistics:
        """The statistics of `rows` (n, d), NaN where a value is missing. A row of weight 0 is left out."""
        if weight is not None:
            rows, weight = rows[weight > 0], weight[weight > 0]
            if (weight == 1).all():
                weight = None
        every = exact_sums(np.ones((len(rows), 1)), weight).weights[0]
        present = ~np.isnan(rows)
        least = np.min(rows, axis=0, initial=np.inf, where=present).astype(np.float64)
        most = np.max(rows, axis=0, initial=-np.inf, where=present).astype(np.float64)
        # Which of 0 and -0 is the least depends on their order; -0 + 0 is 0.
        return cls(every, exact_sums(rows, weight), least + 0.0, most + 0.0)

    def joined_with(self, other: ColumnStatistics) -> ColumnStatistics:
        return ColumnStatistics(
            self.weight + other.weight,
            self.sums.joined_with(other.sums),
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
        )

    @property
    def n_columns(self) -> int:
        return len(self.least)

    @property
    def rows(self) -> float:
        """The weight of all rows; without weights, their number."""
        return self.weight / (1 << -SMALLEST)

    @property
    def values(self) -> Floats:
        """The weight of the values of each column that are not missing; without weights, their number."""
        return np.array([weight / (1 << -SMALLEST) for weight in self.sums.weights])

    @property
    def mean(self) -> Floats:
        """The mean of each column, correctly rounded; 0 without values."""
        pairs = zip(self.sums.sums, self.sums.weights, strict=True)
        return np.array([0.0 if weight == 0 else total / (weight << -SMALLEST) for total, weight in pairs])

    @property
    def deviation(self) -> Floats:
        """The standard deviation of each column, correctly rounded, as if missing values were filled by the mean."""
        return np.array([self._deviation(*sums) for sums in zip(*self.sums, strict=True)])

    def _deviation(self, weight: int, total: int, squares: int) -> float:
        if weight == 0:
            return 0.0
        # Var = (Σwx² − (Σwx)²/Σw) / weight of all rows. Numerator and denominator are powers 4 and 2 of the unit.
        return _root(squares * weight - total**2, (weight * self.weight) << (-2 * SMALLEST))

    def checked(self, names: tuple[str, ...] | None) -> ColumnStatistics:
        """Returns itself; raises ValueError if there are no rows, or a column has no value."""
        if self.weight == 0:
            remedy = f"fill them ({parameter('missing', 'mean')})"
            raise ValueError(f"no row is left: each one has a missing value; {remedy}")
        empty = [number for number, weight in enumerate(self.sums.weights) if weight == 0]
        if empty:
            raise ValueError(f"{column_name(names, empty[0])} has no value in any row: leave that column out")
        return self

    # -- in files

    def to_state(self) -> dict[str, NDArray[Any]]:
        stored = {name: _as_bytes(numbers) for name, numbers in self.sums._asdict().items()}
        return stored | {"weight": _as_bytes((self.weight,))} | {name: getattr(self, name) for name in self.EXTREMES}

    @classmethod
    def from_state(cls, arrays: dict[str, NDArray[Any]]) -> ColumnStatistics:
        """The stored statistics; raises ValueError, KeyError or TypeError if no rows could have them."""
        least, most = (np.asarray(arrays[name], dtype=np.float64) for name in cls.EXTREMES)
        if least.ndim != 1 or least.shape != most.shape or not len(least):
            raise ValueError("its extremes are not one for each column")
        sums = Sums(*(_from_bytes(arrays[name], len(least)) for name in Sums._fields))
        found = cls(_from_bytes(arrays["weight"], 1)[0], sums, least, most)
        for number, (low, high, *own) in enumerate(zip(least.tolist(), most.tolist(), *sums, strict=True)):
            if not found._possible(low, high, *own):
                raise ValueError(f"no rows have such sums and extremes of column {number}")
        return found

    def _possible(self, least: float, most: float, weight: int, total: int, squares: int) -> bool:
        if weight == 0:
            return (least, most, total, squares) == (math.inf, -math.inf, 0, 0) and self.weight >= 0
        if not (0 < weight <= self.weight and -_LARGEST <= least <= most <= _LARGEST):
            return False
        low, high = (_in_smallest(bound) * weight for bound in (least, most))
        return low <= total <= high and total**2 <= squares * weight <= total**2 + (high - low) ** 2


def column_name(names: tuple[str, ...] | None, number: int) -> str:
    return f"column {number}" if names is None else f"column {names[number]!r}"


def _root(above: int, below: int) -> float:
    """The root of a fraction, correctly rounded."""
    if above == 0:
        return 0.0
    scale = max(0, 60 + (below.bit_length() - above.bit_length() + 1) // 2)  # for 60 bits of the root or more
    whole, left = divmod(above << (2 * scale), below)
    root = math.isqrt(whole)
    # A last bit that stands for all that follow: it decides which of two numbers is nearer.
    root = 2 * root + (left != 0 or root * root != whole)
    return root / (1 << (scale + 1))


def _in_smallest(value: float) -> int:
    above, below = value.as_integer_ratio()
    return (above << -SMALLEST) // below


def _as_bytes(numbers: tuple[int, ...]) -> NDArray[np.uint8]:
    """Whole numbers as rows of bytes of equal length: little-endian, two's complement."""
    length = max(number.bit_length() // 8 + 1 for number in numbers)
    content = b"".join(number.to_bytes(length, "little", signed=True) for number in numbers)
    return np.frombuffer(content, dtype=np.uint8).reshape(len(numbers), length)


def _from_bytes(array: NDArray[Any], count: int) -> tuple[int, ...]:
    if array.dtype != np.uint8 or array.ndim != 2 or len(array) != count or not 0 < array.shape[1] <= _MOST_BYTES:
        raise ValueError("its sums are not one whole number for each column")
    return tuple(int.from_bytes(row.tobytes(), "little", signed=True) for row in array)
