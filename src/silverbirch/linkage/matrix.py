"""A linkage matrix with the prototype of each cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
