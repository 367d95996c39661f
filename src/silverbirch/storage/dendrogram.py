"""A dendrogram in a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dendrogram import Dendrogram
from ..features import ClusterFeatures
from . import features as features_in_file
from .container import Arrays, prefixed, under


def to_file(dendrogram: Dendrogram) -> tuple[dict[str, Any], Arrays]:
    arrays = tree_arrays(dendrogram)
    if dendrogram.features is not None:
        arrays |= prefixed("features", features_in_file.to_file(dendrogram.features)[1])
    return {}, arrays


def tree_arrays(dendrogram: Dendrogram) -> Arrays:
    """Z, and the prototypes if there are any."""
    arrays: Arrays = {"Z": dendrogram.Z}
    if dendrogram.prototypes is not None:
        arrays["prototypes"] = dendrogram.prototypes
    return arrays


def from_file(state: dict[str, Any], arrays: Arrays, cls: type[Dendrogram] = Dendrogram) -> Dendrogram:
    """The stored dendrogram; raises ValueError, KeyError or TypeError if the arrays are not a dendrogram."""
    own = under("features", arrays)
    return with_features(arrays, features_in_file.from_file({}, own) if own else None, cls)


def with_features(arrays: Arrays, features: ClusterFeatures | None, cls: type[Dendrogram] = Dendrogram) -> Dendrogram:
    """The stored dendrogram with the given features of its leaves."""
    if arrays["Z"].dtype != np.float64:
        raise ValueError("its Z is not float64")
    dendrogram = cls(arrays["Z"], features)
    if "prototypes" in arrays:
        dendrogram.prototypes = _checked_prototypes(arrays["prototypes"], dendrogram.n_leaves)
    return dendrogram


def _checked_prototypes(prototypes: NDArray[Any], leaves: int) -> NDArray[np.int64]:
    if prototypes.dtype != np.int64 or prototypes.shape != (leaves - 1,):
        raise ValueError("its prototypes are not whole numbers, one for each row of Z")
    if prototypes.size and not (prototypes.min() >= 0 and prototypes.max() < leaves):
        raise ValueError(f"its prototypes are not leaves, 0 to {leaves - 1}")
    return prototypes
