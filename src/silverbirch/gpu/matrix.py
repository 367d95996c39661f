"""Complete, average, weighted and Ward linkage on the float64 matrix of all distances.

Rounds of reciprocal nearest neighbours [Bruynooghe 1977] with the formula of Lance and Williams, in place: two clusters
merge into the row and column of one of them, and rows that are gone are squeezed out from time to time. `matrix_rounds`
does the rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .history import add_merges
from .matrix_rounds import Matrix, rounds_for

if TYPE_CHECKING:
    from torch import Tensor

    from .objects import Objects

MATRIX_LINKAGES = ("complete", "average", "weighted")
_SQUEEZE_BELOW = 0.8  # the share of the rows that is left when the others are squeezed out
_MOST_ROUNDS = 256  # between two looks at the counts


def cluster_by_matrix(
    objects: Objects,
    linkage: str,
    *,
    squares: bool = False,
    kernels: bool | None = None,
    fill: Callable[[Tensor], None] | None = None,
) -> dict[str, int]:
    """Adds all merges to `objects.merges`, in `matrix_bytes` of memory. Returns counts of rounds and of rows scanned.

    `squares`: average and weighted linkage of squared distances. `kernels`: whether rounds are done by kernels or in
    plain torch. None: by kernels on a GPU. `fill` writes the distances to the rows of the matrix, for complete linkage
    their squares; None: those of the means.
    """
    if len(objects) < 2:
        return {"rounds": 0, "scanned": 0}
    roots = linkage in ("average", "weighted") and not squares
    matrix = Matrix(objects, linkage, roots, objects.mean.is_cuda if kernels is None else kernels, fill)
    rounds = rounds_for(matrix)
    ahead = 1
    while matrix.side > 1:
        left = rounds.run(ahead)
        shrinks = left < _SQUEEZE_BELOW * matrix.side
        if shrinks:
            matrix.squeeze()
        ahead = max(1, ahead // 2) if shrinks else min(2 * ahead, _MOST_ROUNDS)
        if left == 1:
            break
    a, b, height = matrix.merges()
    if linkage == "ward":
        height = 2.0 * height
    add_merges(objects, a, b, height if roots else height.sqrt(), monotone=True)
    return matrix.counts()
