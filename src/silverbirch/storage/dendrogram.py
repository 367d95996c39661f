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
    """Z, and the prototypes, the names and the numbers of leaves in a larger dendrogram if there are any."""
    arrays: Arrays = {"Z": dendrogram.Z}
    if dendrogram.prototypes is not None:
        arrays["prototypes"] = dendrogram.prototypes
    if not np.array_equal(dendrogram.leaves, np.arange(dendrogram.n_leaves)):
        arrays["leaves"] = dendrogram.leaves
    if dendrogram.names:
        texts = [name.encode() for name in dendrogram.names.values()]
        arrays["names.node"] = np.array([*dendrogram.names], dtype=np.int64)
        arrays["names.end"] = np.cumsum([len(text) for text in texts], dtype=np.int64)
        arrays["names.text"] = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return arrays


def from_file(state: dict[str, Any], arrays: Arrays, cls: type[Dendrogram] = Dendrogram) -> Dendrogram:
    """The stored dendrogram; raises ValueError, KeyError or TypeError if the arrays are not a dendrogram."""
    own = under("features", arrays)
    return with_features(arrays, features_in_file.from_file({}, own) if own else None, cls)


def with_features(arrays: Arrays, features: ClusterFeatures | None, cls: type[Dendrogram] = Dendrogram) -> Dendrogram:
    """The stored dendrogram with the given features of its leaves."""
    if arrays["Z"].dtype != np.float64:
        raise ValueError("its Z is not float64")
    if features is not None and not features.weight.any():
        raise ValueError("all weights are zero")
    dendrogram = cls(arrays["Z"], features, names=_names(under("names", arrays)))
    if "leaves" in arrays:
        dendrogram.leaves = _checked_leaves(arrays["leaves"], dendrogram.n_leaves)
    if "prototypes" in arrays:
        dendrogram.prototypes = _checked_prototypes(arrays["prototypes"], dendrogram.n_leaves)
    return dendrogram


def _checked_prototypes(prototypes: NDArray[Any], leaves: int) -> NDArray[np.int64]:
    if prototypes.dtype != np.int64 or prototypes.shape != (leaves - 1,):
        raise ValueError("its prototypes are not whole numbers, one for each row of Z")
    if prototypes.size and not (prototypes.min() >= 0 and prototypes.max() < leaves):
        raise ValueError(f"its prototypes are not leaves, 0 to {leaves - 1}")
    return prototypes


def _names(arrays: Arrays) -> dict[int, str]:
    """The names of nodes: name i is the UTF-8 text that ends at byte `end[i]`."""
    if not arrays:
        return {}
    node, end, text = arrays["node"], arrays["end"], arrays["text"]
    numbers = node.dtype == end.dtype == np.int64 and node.shape == end.shape == (len(end),)
    if not numbers or text.dtype != np.uint8 or text.ndim != 1 or len(np.unique(node)) < len(node):
        raise ValueError("its names are not texts of different nodes")
    begin = np.concatenate([[0], end[:-1]])
    if not ((begin <= end).all() and len(end) and end[-1] == len(text)):
        raise ValueError("its names do not fill the text they are in")
    whole = text.tobytes()
    return {int(n): whole[b:e].decode() for n, b, e in zip(node, begin, end, strict=True)}


def _checked_leaves(leaves: NDArray[Any], count: int) -> NDArray[np.int64]:
    if leaves.dtype != np.int64 or leaves.shape != (count,) or leaves[0] < 0 or (np.diff(leaves) <= 0).any():
        raise ValueError("its leaves are not ascending numbers, one for each leaf")
    return leaves
