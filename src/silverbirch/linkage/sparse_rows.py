"""Sparse rows and the distances of all their pairs; the rows are never made dense.

The metrics are Euclidean distances of rows u = (x - m) r, as in the core's sparse_mst: m = 0 and r = 1 for Euclidean
distances; r = 1 / |x| for cosine; for correlation m is the mean of the row and r = 1 / |x - m|. With d columns,

    |u - v|² = |u|² + |v|² - 2 (x·y - d m_x m_y) r_x r_y

takes one sparse product of a block of rows with all rows. Where these terms cancel, the distance is computed again from
the differences of the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats, refused_value
from ..directions import no_direction
from ..progress import Report
from .distances import condensed_distances

SPARSE_METRICS = ("euclidean", "sqeuclidean", "cosine", "correlation")

_MOST_COLUMNS = 2**31 - 1  # the core numbers columns in 32 bits
_BLOCK_DISTANCES = 1 << 21  # 16 MiB, and a few times as much while they are computed
_BLOCK_STEPS = 1 << 28  # of the products: some tenths of a second
_BLOCK_VALUES = 1 << 20  # of the rows whose differences are computed at a time
# Rounding of the products is about 1e-15 of the squared lengths. Squared distances below this share of them are
# computed from differences.
_CANCELLED = 1e-5


def as_csr(y: Any) -> Any:
    """A sparse matrix or array as float64 CSR: sorted columns, no duplicates, no zeros. y is left as it is."""
    if y.ndim != 2:
        raise ValueError(f"y is a sparse array of {y.ndim} dimensions: rows need two")
    if y.dtype.kind not in "fiub":
        raise TypeError(f"y is a sparse matrix of {y.dtype}: only real numbers can be clustered")
    if 0 in y.shape or y.shape[1] > _MOST_COLUMNS:
        raise ValueError(f"y has shape {y.shape}: at least one row and 1 to {_MOST_COLUMNS} columns are needed")
    matrix = y.tocsr().astype(np.float64, copy=False)
    if not (matrix.has_canonical_format and matrix.data.all()):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    bad = np.flatnonzero(~(np.abs(matrix.data) <= _core.LARGEST_COORDINATE))
    if bad.size:
        row = np.searchsorted(matrix.indptr, bad[0], side="right") - 1
        raise refused_value(f"y: row {row}, column {matrix.indices[bad[0]]}", matrix.data[bad[0]])
    return matrix


@dataclass(frozen=True)
class SparseRows:
    """Rows u = scaled - offset, where a row has the same offset in every column."""

    metric: str
    scaled: Any  # CSR: x r
    offset: Floats  # m r
    squared_length: Floats  # |u|²
    uncentred: Floats  # |x r|²
    group: NDArray[np.int64]  # the same number for equal rows

    @classmethod
    def under(cls, metric: str, matrix: Any, numbers: NDArray[np.int64]) -> SparseRows:
        """The rows that stand for those of `matrix`; `numbers` are the numbers of these in the data."""
        count, columns = matrix.shape
        lengths = np.diff(matrix.indptr)
        row = np.repeat(np.arange(count), lengths)
        data, offset = matrix.data, np.zeros(count)
        directional = metric in ("cosine", "correlation")
        if directional:
            without = np.flatnonzero(_constant(matrix, row) if metric == "correlation" else lengths == 0)
            if without.size:
                raise no_direction(f"y: row {numbers[without[0]]}", metric)
            # Scaling by a power of two is exact. It keeps the squares of very large and very small rows in range.
            data = np.ldexp(data, -np.frexp(_largest(np.abs(data), row, count))[1][row])
        if metric == "correlation":
            offset = np.bincount(row, data, count) / columns
            # The mean is rounded at the size of the values; the mean of what is left after it makes up for that.
            offset += (np.bincount(row, data - offset[row], count) - (columns - lengths) * offset) / columns
        squared_length = np.bincount(row, (data - offset[row]) ** 2, count) + (columns - lengths) * offset**2
        if directional:
            scale = 1 / np.sqrt(squared_length)
            data, offset, squared_length = data * scale[row], offset * scale, np.ones(count)
        scaled = type(matrix)((data, matrix.indices, matrix.indptr), matrix.shape)
        uncentred = np.bincount(row, data**2, count).astype(np.float64)
        return cls(metric, scaled, offset, squared_length, uncentred, _groups(scaled))

    def pairwise_distances(self, report: Report | None = None) -> Floats:
        """The distances of all pairs, as a condensed vector."""
        count = self.scaled.shape[0]
        block = min(_BLOCK_DISTANCES, _BLOCK_STEPS // (1 + self.scaled.nnz // count))
        return condensed_distances(count, block, self._from_block, report)

    def _from_block(self, first: int, last: int) -> Floats:
        """The distances from the rows first … last - 1 to the rows from `first` on."""
        squared: Floats = (self.scaled[first:last] @ self.scaled[first:].T).toarray()
        if self.metric == "correlation":
            squared -= self.scaled.shape[1] * np.multiply.outer(self.offset[first:last], self.offset[first:])
        squared *= -2
        squared += self.squared_length[first:last, None]
        squared += self.squared_length[first:]
        cancelled = squared < _CANCELLED * np.add.outer(self.uncentred[first:last], self.uncentred[first:])
        a, b = np.nonzero(cancelled)
        a, b = a[a < b], b[a < b]
        squared[cancelled] = 0
        different = self.group[first + a] != self.group[first + b]
        a, b = a[different], b[different]
        squared[a, b] = self._from_differences(first + a, first + b)
        if self.metric == "euclidean":
            return np.sqrt(squared, out=squared)
        if self.metric != "sqeuclidean":
            squared /= 2
        return squared

    def _from_differences(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Floats:
        """The squared distance of row a[i] and row b[i], for every i."""
        squared = np.empty(len(a))
        step = max(1, _BLOCK_VALUES * self.scaled.shape[0] // max(1, self.scaled.nnz))
        for start in range(0, len(a), step):
            block = slice(start, start + step)
            gaps = self.scaled[a[block]] - self.scaled[b[block]]
            offset = self.offset[a[block]] - self.offset[b[block]]
            lengths = np.diff(gaps.indptr)
            pair = np.repeat(np.arange(len(lengths)), lengths)
            squared[block] = np.bincount(pair, (gaps.data - offset[pair]) ** 2, len(lengths))
            squared[block] += (self.scaled.shape[1] - lengths) * offset**2  # the columns where both rows are equal
        return squared


def _largest(values: Floats, row: NDArray[np.int64], count: int) -> Floats:
    """The largest value of each row; -inf for a row without values."""
    largest = np.full(count, -np.inf)
    np.maximum.at(largest, row, values)
    return largest


def _constant(matrix: Any, row: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows have the same value in every column."""
    count, columns = matrix.shape
    lengths = np.diff(matrix.indptr)
    flat = _largest(matrix.data, row, count) == -_largest(-matrix.data, row, count)
    constant: NDArray[np.bool_] = (lengths == 0) | ((lengths == columns) & flat)
    return constant


def _groups(matrix: Any) -> NDArray[np.int64]:
    """Numbers the rows so that equal rows have the same number."""
    numbers: dict[bytes, int] = {}
    ends = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    keys = (matrix.indices[a:b].tobytes() + matrix.data[a:b].tobytes() for a, b in ends)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
