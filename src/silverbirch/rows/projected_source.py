"""The source of rows that are projected to fewer columns at random: for sparse rows, and for very wide ones.

The projection is that of Achlioptas, "Database-friendly random projections: Johnson-Lindenstrauss with binary coins",
J. Comput. Syst. Sci. 66 (2003): y = √(3 / k) Rᵀx, where an entry of R is -1, 0 or 1 with probability 1/6, 2/3, 1/6.
It does not depend on the data, so streams, parts and machines agree. The expected squared distance of two rows stays
the same, and its relative standard deviation is at most √(2 / k) for any rows. Sparser matrices (Li, Hastie and Church,
"Very sparse random projections", KDD 2006) are faster, but their error grows for rows with few values, such as texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats
from ..wording import parameter
from .memory_source import MemorySource
from .source import START, Chunk, DerivedSource, Position, RowSource, usual_chunk_rows

_SIGN_OF_DRAW = np.array([-1, 0, 0, 0, 0, 1], dtype=np.int8)


class Projection:
    """A random projection to `n_components` columns. The first rows decide from how many."""

    def __init__(self, n_components: int, signs: NDArray[np.int8] | None = None) -> None:
        self.n_components = n_components
        self.signs = signs  # (columns of the rows, n_components)

    def apply(self, rows: Any) -> Floats:
        """The projected rows, of an array or a CSR matrix. The result for a row does not depend on the other rows."""
        from scipy.sparse import csr_array

        matrix = csr_array(rows)
        present = np.zeros(matrix.shape[1], dtype=bool)
        present[matrix.indices] = True
        place = np.cumsum(present) - 1  # of a column among the columns that have a value
        within = csr_array((matrix.data, place[matrix.indices], matrix.indptr), (matrix.shape[0], present.sum()))
        signs = self._signs_for(matrix.shape[1])[present].astype(np.float64)
        projected: Floats = within.astype(np.float64) @ signs * np.sqrt(3 / self.n_components)
        return projected

    def _signs_for(self, n_columns: int) -> NDArray[np.int8]:
        if self.signs is None:
            if n_columns <= self.n_components:
                raise ValueError(
                    f"{parameter('projection', self.n_components)} but the rows have {n_columns} columns: a projection "
                    "needs fewer columns than the rows have; leave it out"
                )
            # The numbers of RandomState are frozen: every version of NumPy draws the same.
            draws = np.random.RandomState(0).randint(0, 6, (n_columns, self.n_components), dtype=np.uint8)
            self.signs = _SIGN_OF_DRAW[draws]
        return self.signs


class ProjectedSource(DerivedSource):
    """The chunks of another source, projected; large chunks are divided."""

    def __init__(self, source: RowSource, projection: Projection) -> None:
        super().__init__(source)
        self._projection = projection
        self.names, self.n_dimensions = None, projection.n_components

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        for chunk in self._source.chunks(begin, with_ids=with_ids):
            for part in _parts(self._source.checked(chunk), usual_chunk_rows(self._source.n_dimensions)):
                rows: Any = self._projection.apply(part.rows).astype(part.rows.dtype, copy=False)
                yield replace(part, rows=rows, checked=False)

    def refusal(self, chunk: Chunk, row: int, column: int, value: float) -> ValueError:
        return RowSource.refusal(self, chunk, row, column, value)  # the columns are not those of the other source


class SparseSource(MemorySource):
    """The rows of a CSR matrix of finite values, in one chunk, which only a ProjectedSource can read."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(matrix.shape, None)
        self._matrix = matrix if matrix.has_sorted_indices else matrix.sorted_indices()  # sums in one order

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        if begin == START:
            yield Chunk(self._matrix, START, Position(1, 0), checked=True)


def _parts(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """The chunk in pieces of at most `size` rows."""
    for start in range(0, len(chunk), size):
        end = min(start + size, len(chunk))
        part = slice(start, end)
        yield replace(
            chunk,
            rows=chunk.rows[part],
            begin=Position(chunk.begin.file, chunk.begin.row + start),
            end=chunk.end if end == len(chunk) else Position(chunk.begin.file, chunk.begin.row + end),
            weight=None if chunk.weight is None else chunk.weight[part],
            kept=None if chunk.kept is None else chunk.kept[part],
            left_out=None if chunk.left_out is None else chunk.left_out[part],
        )
