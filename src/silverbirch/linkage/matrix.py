"""A linkage matrix: checked, and with the prototype of each cluster."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats


class LinkageMatrix(np.ndarray[Any, np.dtype[np.float64]]):
    """A linkage matrix Z with prototypes: `Z.prototypes[i]` is the object that represents the cluster of row i.

    Copies and pickles keep the prototypes. Slices and computed arrays have `prototypes` None.
    """

    prototypes: NDArray[np.int64] | None

    def __array_finalize__(self, origin: Any) -> None:
        self.prototypes = None

    def copy(self, order: Any = "C") -> LinkageMatrix:
        return with_prototypes(np.array(self, order=order), self.prototypes)

    def __copy__(self) -> LinkageMatrix:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> LinkageMatrix:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return (with_prototypes, (np.array(self), self.prototypes))


def with_prototypes(Z: Floats, prototypes: NDArray[np.int64] | None) -> LinkageMatrix:
    result = Z.view(LinkageMatrix)
    result.prototypes = prototypes
    return result


def checked_z(Z: Any, *, counted: bool = True) -> Floats:
    """A copy of a linkage matrix; `counted` also checks column 4, which need not be right to draw it."""
    try:
        array = np.array(Z, dtype=np.float64, order="C")
    except TypeError:
        hint = ": give its Z" if hasattr(Z, "Z") else ""
        raise TypeError(f"a linkage matrix is expected, not a {type(Z).__name__}{hint}") from None
    if array.ndim != 2 or array.shape[1] != 4:
        raise ValueError(f"Z has shape {array.shape}: a linkage matrix has four columns")
    merges = len(array)
    nodes = array[:, :2]
    limits = merges + 1 + np.arange(merges)[:, None]
    if not (
        np.isfinite(array).all() and (nodes == np.floor(nodes)).all() and (nodes >= 0).all() and (nodes < limits).all()
    ):
        raise ValueError("Z is not a linkage matrix: each row must refer to leaves or to rows above it")
    if len(np.unique(nodes)) != 2 * merges:
        raise ValueError("Z is not a linkage matrix: each cluster must be merged exactly once")
    if counted and not np.array_equal(array[:, 3], _core.leaf_counts(array)):
        raise ValueError("Z is not a linkage matrix: column 4 must count the leaves below each row")
    return array


def warn_of_square_distances(rows: Floats, *, stacklevel: int) -> None:
    """Warns, as scipy does, if the points look like a square distance matrix: it would be clustered as points."""
    square = rows.shape[0] == rows.shape[1] > 1
    if square and (rows >= 0).all() and np.allclose(rows.diagonal(), 0) and np.allclose(rows, rows.T):
        from scipy.cluster.hierarchy import ClusterWarning

        warnings.warn(
            "y looks like a square distance matrix but is clustered as points: pass "
            "scipy.spatial.distance.squareform(y) if distances are meant",
            ClusterWarning,
            stacklevel=stacklevel,
        )
