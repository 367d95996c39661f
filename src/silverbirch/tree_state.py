"""The compiled trees: which one to make, and how one becomes plain arrays and comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _core
from .checks import Floats, as_count
from .features import ClusterFeatures

Core: TypeAlias = _core.CfTree | _core.PartitionedTree
Arrays: TypeAlias = dict[str, NDArray[Any]]
_LEVEL = ("count", "weight", "mean", "sse")
Level: TypeAlias = tuple[NDArray[np.uint32], Floats, Floats, Floats]

# Parts for each thread, so that one thread does not wait for another with more to do. Every part is a smaller tree,
# with finer leaves where clusters are compact; in many dimensions a plane runs through too many of them.
# Measured by benchmarks/tree_threads.py.
_PARTS_FEW_DIMENSIONS, _PARTS_MANY_DIMENSIONS, _FEW_DIMENSIONS = 4, 1, 16
_MOST_PARTS = 128
_LEAST_LEAVES, _LEAST_NODES = 128, 8  # of a part


class Options(NamedTuple):
    """As the compiled trees take them."""

    distance: str
    absorption: str
    squared_threshold: float
    max_leaves: int
    max_nodes: int
    branching: int


def part_count(n_dimensions: int, options: Options, threads: int) -> int:
    """A power of two, so that the parts can be halves of halves; one if the limits are too small to divide."""
    wanted = min(
        _MOST_PARTS, threads * (_PARTS_FEW_DIMENSIONS if n_dimensions <= _FEW_DIMENSIONS else _PARTS_MANY_DIMENSIONS)
    )
    affordable = min(options.max_leaves // _LEAST_LEAVES, options.max_nodes // _LEAST_NODES)
    if threads == 1 or affordable < 2:
        return 1
    return int(min(1 << (wanted - 1).bit_length(), 1 << (affordable.bit_length() - 1)))


def new(n_dimensions: int, options: Options, threads: int) -> Core:
    parts = part_count(n_dimensions, options, threads)
    if parts == 1:
        return _core.CfTree(n_dimensions, *options)
    return _core.PartitionedTree(n_dimensions, *options, parts, threads)


def stored(core: Core | None) -> tuple[dict[str, Any], Arrays]:
    if core is None or core.leaf_count == 0:
        return {"levels": 0}, {}
    if isinstance(core, _core.CfTree):
        return _stored_tree(core.levels(), core.squared_threshold, core.rebuild_count, core.total_weight, prefix="")
    normals, offsets = core.planes()
    arrays = {"normals": normals, "offsets": offsets}
    parts = []
    for number, (levels, squared_threshold, max_leaves, max_nodes, rebuilds, points) in enumerate(core.parts()):
        own_levels = levels if points > 0 else []  # a part may be empty
        header, own_arrays = _stored_tree(own_levels, squared_threshold, rebuilds, points, prefix=f"{number}.")
        parts.append(header | {"max_leaves": max_leaves, "max_nodes": max_nodes})
        arrays |= own_arrays
    return {"parts": parts, "stream": core.stream()}, arrays


def _stored_tree(
    levels: Any, squared_threshold: float, rebuilds: int, points: float, *, prefix: str
) -> tuple[dict[str, Any], Arrays]:
    header = {
        "levels": len(levels),
        "squared_threshold": squared_threshold,
        "rebuilds": rebuilds,
        "points": points,
    }
    arrays: Arrays = {}
    for i, (count, weight, mean, sse) in enumerate(levels):
        names = (f"{prefix}{i}.{name}" for name in _LEVEL)
        arrays |= dict(zip(names, (count, weight, mean, sse), strict=True))
    return header, arrays


def restored(
    header: dict[str, Any], arrays: Arrays, options_for: Callable[[int, float], Options], threads: int
) -> Core | None:
    """The tree that was stored; ValueError, KeyError or TypeError where it cannot be one."""
    arrays = dict(arrays)
    if "parts" not in header:
        levels, squared_threshold, rebuilds, points = _restored_tree(header, arrays, prefix="")
        _check_all_used(arrays)
        if not levels:
            return None
        dim = levels[0][2].shape[1]
        return _core.CfTree.from_levels(dim, *options_for(dim, squared_threshold), levels, rebuilds, points)

    normals, offsets = (np.ascontiguousarray(arrays.pop(name), dtype=np.float64) for name in ("normals", "offsets"))
    if normals.ndim != 2 or offsets.ndim != 1 or not (np.isfinite(normals).all() and np.isfinite(offsets).all()):
        raise ValueError("its planes are not planes")
    parts = []
    for number, own in enumerate(header["parts"]):
        levels, squared_threshold, rebuilds, points = _restored_tree(own, arrays, prefix=f"{number}.")
        max_leaves, max_nodes = (as_count(own[name], name) for name in ("max_leaves", "max_nodes"))
        parts.append((levels, squared_threshold, max_leaves, max_nodes, rebuilds, points))
    _check_all_used(arrays)
    dim = normals.shape[1]
    options = options_for(dim, 0.0)
    position, block_end, rebuilds = (as_count(value, "stream", least=0) for value in header["stream"][:3])
    stream = (position, block_end, rebuilds, float(header["stream"][3]))
    count = part_count(dim, options, threads)
    return _core.PartitionedTree.from_parts(dim, *options, count, threads, (normals, offsets), parts, stream)


def _check_all_used(arrays: Arrays) -> None:
    if arrays:
        raise ValueError("it has other arrays than its levels need")


def _restored_tree(header: dict[str, Any], arrays: Arrays, *, prefix: str) -> tuple[list[Level], float, int, float]:
    """Takes what belongs to one tree out of the arrays."""
    depth = as_count(header["levels"], "levels", least=0, most=64)
    if not {f"{prefix}{level}.{name}" for level in range(depth) for name in _LEVEL} <= set(arrays):
        raise ValueError("it has other arrays than its levels need")
    levels = [_checked_level([arrays.pop(f"{prefix}{level}.{name}") for name in _LEVEL]) for level in range(depth)]
    if not depth and "points" not in header:
        return [], 0.0, 0, 0.0
    squared_threshold, points = float(header["squared_threshold"]), float(header["points"])
    held = levels[-1][1].sum() if levels else 0.0
    if not 0 <= squared_threshold < np.inf or not np.isclose(held, points, rtol=1e-6):
        raise ValueError("its threshold or its number of points cannot be")
    return levels, squared_threshold, as_count(header["rebuilds"], "rebuilds", least=0), points


def _checked_level(arrays: list[NDArray[Any]]) -> Level:
    count, weight, mean, sse = arrays
    if count.dtype != np.uint32 or count.ndim != 1:
        raise ValueError("its counts are not counts")
    if weight.ndim != 1 or sse.ndim != 1:
        raise ValueError("its weights or sses are not one for each entry")
    features = ClusterFeatures(weight, mean, sse)
    if not (features.weight > 0).all():
        raise ValueError("it has entries of no weight")
    return np.ascontiguousarray(count), *features.arrays()
