"""The exactly nearest of many points, for many rows: products in float32 exclude all but a few, float64 decides.

With x a row and c a point, both moved by one vector and scaled, |x − c|² = |x|² + s where s = |c|² − 2 x·c. One product
gives a lower bound of all s at once: of the rows (x, |x|, 1) and the points (−2c, −C |c|, (1 − B) |c|²).

Rounding, with u the unit of the operands and d columns: every factor is rounded once, relatively by u, and a sum of
d + 2 terms in any order by (d + 2) 2⁻²⁴ of the sum of their magnitudes [Higham 2002, section 3.1]; twice that leaves
room for adders that cut off. So the product is at most E (2 |x| |c| + C |x| |c| + |c|²) from its true value, by
Cauchy-Schwarz, with E = 2u + u² + 2 (d + 2) 2⁻²⁴. It is a lower bound if C ≥ E (2 + C) and B ≥ E. Its distance from s
is then at most 2 (C |x| |c| + B |c|²). The point with the least bound gives an upper bound of the least s, and only
points whose lower bound does not exceed it can be nearest. Rows with several such points are measured in float64 from
differences.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats
from ..progress import Report
from .device import as_tensor

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_SAMPLE = 4096
_BOUNDS = 1 << 28  # bounds that are in memory at a time
_NUMBERS = 1 << 25  # coordinates of rows or of candidates that are in memory at a time, in float64
_FARTHEST = 2.0**60  # the length of the longest row whose products float32 holds; those of points are about 1
_ROUNDING = 2.0**-53


class NearestOnDevice:
    """An index of points. It finds what `_core.NearestIndex` finds, to the bit."""

    def __init__(self, points: Floats, device: torch.device) -> None:
        import torch

        self.points, self.device = points, device
        self._points = as_tensor(points).to(device)
        count, columns = points.shape
        # A median does not follow outliers, and distances from the origin are what the bounds grow with.
        self._origin = self._points[:: max(1, count // _SAMPLE)].median(0).values
        moved = self._points - self._origin
        largest = float(moved.abs().max())
        self._scale = math.ldexp(1.0, -math.frexp(largest)[1]) if largest > 0 else 1.0
        moved *= self._scale
        unit = 2.0**-24 + (2.0**-10 if _products_are_rounded() else 0)
        error = 2 * unit + unit**2 + 2 * (columns + 2) * 2.0**-24
        self._of_lengths, self._of_squares = 2 * error / (1 - error), error
        self._length = moved.norm(dim=1)
        constants = torch.stack([-self._of_lengths * self._length, (1 - error) * self._length.square()], 1)
        self._factors = torch.cat([-2 * moved, constants], 1).float()

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(None), ())  # a pickled or copied model makes its own, maybe on a machine without this device

    def nearest(self, rows: Any, report: Report | None = None) -> NDArray[np.int64]:
        """The number of the nearest point for each row, the lowest among equally near ones.

        The rows are an array in main memory or a tensor on the device, of finite values.
        """
        count, columns = rows.shape
        found = np.empty(count, dtype=np.int64)
        step = max(1, min(_BOUNDS // len(self._points), _NUMBERS // columns))
        array = as_tensor(rows)
        for begin in range(0, count, step):
            piece = array[begin : begin + step].to(self.device).double()
            found[begin : begin + step] = self._nearest(piece).cpu().numpy()
            if report is not None:
                report(min(count, begin + step), count)
        return found

    def _nearest(self, rows: Tensor) -> Tensor:
        import torch

        moved = (rows - self._origin) * self._scale
        length = moved.norm(dim=1)
        far = ~(length <= _FARTHEST)
        moved[far] = 0
        factors = torch.cat([moved, torch.where(far, 0, length)[:, None], torch.ones_like(length)[:, None]], 1)
        bounds = factors.float() @ self._factors.T
        least, nearest = bounds.min(1)
        reach = self._reach(least.double(), length, self._length[nearest], rows.shape[1])
        reach[far] = math.inf
        several = ((bounds <= reach[:, None]).sum(1) > 1).nonzero().squeeze(1)
        step = max(1, _NUMBERS // len(self._points))
        for begin in range(0, len(several), step):
            some = several[begin : begin + step]
            row, point = (bounds[some] <= reach[some, None]).nonzero(as_tuple=True)
            nearest[some] = self._measured(rows, some[row], point)
        return nearest

    def _reach(self, least: Tensor, length: Tensor, length_of_point: Tensor, columns: int) -> Tensor:
        """The largest lower bound that the nearest point may have, in float32.

        What is added last is the rounding of the float64 distances that decide, the one of moving the rows, and float32
        numbers that vanish.
        """
        import torch

        error = self._of_lengths * length * length_of_point + self._of_squares * length_of_point.square()
        tiny = 64 * (columns + 4) * (_ROUNDING * (length + length_of_point).square() + 2.0**-120 * (1 + length))
        reach = (least + 2 * error + tiny).float()
        return torch.nextafter(reach, torch.full_like(reach, math.inf))

    def _measured(self, rows: Tensor, row: Tensor, point: Tensor) -> Tensor:
        """The nearest point of each row, of the pairs (row[i], point[i]) that are sorted by row and then by point."""
        import torch

        columns = rows.shape[1]
        step = max(1, _NUMBERS // columns)
        pieces = [slice(begin, begin + step) for begin in range(0, len(row), step)]
        squared = torch.cat([(rows[row[at]] - self._points[point[at]]).square().sum(1) for at in pieces])
        # Sums in another order differ by rounding alone: one pair is left, or the order of the core decides.
        kept = squared <= _least_of_each(squared, row) * (1 + 4 * (columns + 4) * _ROUNDING)
        row, point = row[kept], point[kept]
        if len(row) == len(row.unique_consecutive()):
            return point
        in_order = torch.cat([self._in_order(rows, row[at], point[at]) for at in pieces])
        at_least = torch.where(in_order == _least_of_each(in_order, row), point.double(), math.inf)
        return _least_of_each(at_least, row, of_each=False).long()

    def _in_order(self, rows: Tensor, row: Tensor, point: Tensor) -> Tensor:
        """The squared distances as the core adds them up, column by column."""
        squares = (rows[row] - self._points[point]).square().T.contiguous()
        total = squares[0].clone()
        for column in squares[1:]:
            total += column
        return total


def _least_of_each(values: Tensor, row: Tensor, *, of_each: bool = True) -> Tensor:
    """The least value of each run of equal rows; with `of_each` for every element of the run, else once."""
    import torch

    runs = row.unique_consecutive(return_counts=True)[1]
    least = torch.segment_reduce(values, "min", lengths=runs)
    return least.repeat_interleave(runs) if of_each else least


def _products_are_rounded() -> bool:
    """Whether torch may round the factors of float32 products, to TF32 at the least."""
    import torch

    settings = (torch.backends.cuda.matmul.fp32_precision, torch.backends.fp32_precision)
    return "tf32" in settings or torch.get_float32_matmul_precision() != "highest"
