"""A tree in a file: the compiled tree as plain arrays, and back."""

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
_NEVER = _core.NEVER
_FIRST_ROWS = 2048  # of a tree of 0.1, before it was divided


def to_file(tree: CFTree) -> tuple[dict[str, Any], Arrays]:
    with tree._lock:
        header, arrays = stored(tree._core)
    return {"parameters": parameters_of(tree), **header}, arrays


def parameters_of(tree: CFTree) -> dict[str, Any]:
    """The parameters that decide the tree, as plain values."""
    return {
        "threshold": tree._initial_threshold,
        "max_leaves": tree.max_leaves,
        "max_memory": tree.max_memory,
        "distance": tree.distance,
        "absorption": tree.absorption,
        "branching": tree.branching,
        "dtype": None if tree.dtype is None else tree.dtype.name,
    }


def from_file(state: dict[str, Any], arrays: Arrays, cls: type[CFTree] = CFTree) -> CFTree:
    """The stored tree; raises ValueError, KeyError or TypeError if the content is not a tree."""
    tree = cls(**state["parameters"])
    own = {name: array for name, array in arrays.items() if not name.startswith("run.")}
    tree._reset(restored(state, own, tree._core_options))
    return tree


def stored(core: Core | None) -> tuple[dict[str, Any], Arrays]:
    if core is None or core.leaf_count == 0:
        return {"parts": []}, {}
    parts, planes, interval, rebuilds = core.state()
    header = {
        "parts": [
            {
                "levels": len(levels),
                "points": points,
                "squared_threshold": squared,
                "limits": [*limits],
                "rebuilds": own,
            }
            for levels, points, squared, limits, own in parts
        ],
        "interval": [*interval],
        "rebuilds": rebuilds,
        "points": core.total_weight,
        "squared_threshold": core.squared_threshold,
    }
    arrays: Arrays = dict(zip(("normals", "offsets"), planes, strict=True))
    for number, part in enumerate(parts):
        for depth, level in enumerate(part[0]):
            for name, array in zip(_LEVEL, level, strict=True):
                arrays[f"{number}.{depth}.{name}"] = np.asarray(array)
    return header, arrays


def restored(header: dict[str, Any], arrays: Arrays, options_for: Callable[[int, float], Options]) -> Core | None:
    """The stored tree; raises ValueError, KeyError or TypeError if the content is not a tree."""
    header, left = _as_parts(header, dict(arrays))
    if not header["parts"]:
        if left:
            raise ValueError("it has other arrays than its levels need")
        return None
    levels = [_taken_levels(part, left, f"{number}.") for number, part in enumerate(header["parts"])]
    normals, offsets = (np.ascontiguousarray(left.pop(name), dtype=np.float64) for name in ("normals", "offsets"))
    if left:
        raise ValueError("it has other arrays than its levels need")
    if normals.ndim != 2 or offsets.ndim != 1 or not (np.isfinite(normals).all() and np.isfinite(offsets).all()):
        raise ValueError("its planes are not planes")
    if not 0 < _number(header, "points") < np.inf:
        raise ValueError("its number of points cannot be")
    parts = [
        (
            own,
            _number(part, "points"),
            _number(part, "squared_threshold"),
            _counts(part, "limits", 2, least=1),
            as_count(part["rebuilds"], "rebuilds", least=0),
        )
        for own, part in zip(levels, header["parts"], strict=True)
    ]
    interval = _counts(header, "interval", 4, least=0)
    rebuilds = as_count(header["rebuilds"], "rebuilds", least=0)
    dim = normals.shape[1]
    options = options_for(dim, _number(header, "squared_threshold"))
    return _core.CfTree.from_state(dim, *options, (parts, (normals, offsets), interval, rebuilds))


def _number(header: dict[str, Any], name: str) -> float:
    value = float(header[name])
    if not 0 <= value < np.inf:
        raise ValueError(f"its {name} cannot be")
    return value


def _counts(header: dict[str, Any], name: str, length: int, least: int) -> Any:
    counts = tuple(as_count(count, name, least=least, most=_NEVER + 1) for count in header[name])
    if len(counts) != length:
        raise ValueError(f"its {name} are not {length} counts")
    return counts


def _as_parts(header: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """The content of a file of 0.1 in the current form; current content is returned as it is.

    In 0.1 only a tree of several threads had parts. Any other tree continues as one part. The parts meet at the next
    row.
    """
    if "interval" in header or header.get("parts") == []:
        return header, arrays
    if "parts" not in header:
        if header["levels"] == 0:
            return {"parts": []}, arrays
        left = _NEVER
        dim = arrays["0.mean"].shape[1]
        parts = [{"levels": header["levels"], "points": header["points"]}]
        arrays = {f"0.{name}": array for name, array in arrays.items()}
        arrays |= {"normals": np.empty((0, dim)), "offsets": np.empty(0)}
    else:
        parts = header["parts"]
        left = 0 if len(parts) > 1 else _FIRST_ROWS - as_count(header["rows"], "rows", least=0, most=_FIRST_ROWS - 1)
    later = {"squared_threshold": header["squared_threshold"], "limits": (_NEVER, _NEVER), "rebuilds": 0}
    return header | {"parts": [part | later for part in parts], "interval": (0, left, 0, 0)}, arrays


def _taken_levels(header: dict[str, Any], arrays: Arrays, prefix: str) -> list[Level]:
    """The levels of one part, checked and removed from the arrays."""
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
