"""A tree in a file, and the compiled trees: which one to make, and how one becomes plain arrays and comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats, as_count
from ..features import ClusterFeatures
from ..tree import CFTree, Core, Options
from .container import Arrays

_LEVEL = ("count", "weight", "mean", "sse")
Level: TypeAlias = tuple[NDArray[np.uint32], Floats, Floats, Floats]

# Parts for each thread, so that one thread does not wait for another with more to do. Every part is a smaller tree,
# with finer leaves where clusters are compact; in many dimensions a plane runs through too many of them.
# Measured by benchmarks/studies/tree_threads.py.
_PARTS_FEW_DIMENSIONS, _PARTS_MANY_DIMENSIONS, _FEW_DIMENSIONS = 4, 1, 16
_MOST_PARTS = 128
_LEAST_LEAVES, _LEAST_NODES = 128, 8  # of a part


def to_file(tree: CFTree) -> tuple[dict[str, Any], Arrays]:
    with tree._lock:
        header, arrays = stored(tree._core)
    return {"parameters": parameters_of(tree), **header}, arrays


def parameters_of(tree: CFTree) -> dict[str, Any]:
    """What decides the tree, as plain values."""
    parameters = {
        "threshold": tree._initial_threshold,
        "max_leaves": tree.max_leaves,
        "max_memory": tree.max_memory,
        "distance": tree.distance,
        "absorption": tree.absorption,
        "branching": tree.branching,
        "dtype": None if tree.dtype is None else tree.dtype.name,
    }
    return parameters | {"n_jobs": tree._threads} if tree._threads > 1 else parameters


def from_file(state: dict[str, Any], arrays: Arrays, cls: type[CFTree] = CFTree) -> CFTree:
    """The tree that was stored; ValueError, KeyError or TypeError where it cannot be one."""
    tree = cls(**state["parameters"])
    own = {name: array for name, array in arrays.items() if not name.startswith("run.")}
    tree._reset(restored(state, own, tree._core_options, tree._threads))
    return tree


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
        levels = core.levels()
        header: dict[str, Any] = {"levels": len(levels), "rebuilds": core.rebuild_count, "points": core.total_weight}
        arrays = _stored_levels(levels, "")
    else:
        rows, rebuilds, points = core.counts()
        parts = core.parts()
        shape = [{"levels": len(levels), "points": own_points} for levels, own_points in parts]
        header = {"parts": shape, "rows": rows, "rebuilds": rebuilds, "points": points}
        arrays = dict(zip(("normals", "offsets"), core.planes(), strict=True))
        for number, (levels, _) in enumerate(parts):
            arrays |= _stored_levels(levels, f"{number}.")
    return header | {"squared_threshold": core.squared_threshold}, arrays


def _stored_levels(levels: Any, prefix: str) -> Arrays:
    return {
        f"{prefix}{number}.{name}": array
        for number, level in enumerate(levels)
        for name, array in zip(_LEVEL, level, strict=True)
    }


def restored(
    header: dict[str, Any], arrays: Arrays, options_for: Callable[[int, float], Options], threads: int
) -> Core | None:
    """The tree that was stored; ValueError, KeyError or TypeError where it cannot be one."""
    left = dict(arrays)
    trees = [_taken_levels(tree, left, f"{number}.") for number, tree in enumerate(header.get("parts", []))]
    planes = [left.pop(name) for name in ("normals", "offsets")] if trees else []
    levels = [] if trees else _taken_levels(header, left, "")
    if left:
        raise ValueError("it has other arrays than its levels need")
    if not trees and not levels:
        return None
    squared_threshold, points = float(header["squared_threshold"]), float(header["points"])
    if not 0 <= squared_threshold < np.inf or not 0 < points < np.inf:
        raise ValueError("its threshold or its number of points cannot be")
    rebuilds = as_count(header["rebuilds"], "rebuilds", least=0)
    if levels:
        dim = levels[0][2].shape[1]
        return _core.CfTree.from_levels(dim, *options_for(dim, squared_threshold), levels, rebuilds, points)

    normals, offsets = (np.ascontiguousarray(plane, dtype=np.float64) for plane in planes)
    if normals.ndim != 2 or offsets.ndim != 1 or not (np.isfinite(normals).all() and np.isfinite(offsets).all()):
        raise ValueError("its planes are not planes")
    dim = normals.shape[1]
    options = options_for(dim, squared_threshold)
    parts = [(own, float(tree["points"])) for own, tree in zip(trees, header["parts"], strict=True)]
    counts = (as_count(header["rows"], "rows", least=0), rebuilds, points)
    count = part_count(dim, options, threads)
    return _core.PartitionedTree.from_parts(dim, *options, count, threads, (normals, offsets), parts, counts)


def _taken_levels(header: dict[str, Any], arrays: Arrays, prefix: str) -> list[Level]:
    """The levels of one tree, checked and taken out of the arrays."""
    depth = as_count(header["levels"], "levels", least=0, most=1024)
    if not {f"{prefix}{level}.{name}" for level in range(depth) for name in _LEVEL} <= set(arrays):
        raise ValueError("it has other arrays than its levels need")
    levels = [_checked_level([arrays.pop(f"{prefix}{level}.{name}") for name in _LEVEL]) for level in range(depth)]
    held = levels[-1][1].sum() if levels else 0.0
    if not np.isclose(held, float(header.get("points", 0.0)), rtol=1e-6):
        raise ValueError("its number of points cannot be")
    return levels


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
