"""Cluster features in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import as_rows, as_sses, as_weights
from ..features import ClusterFeatures
from .container import Arrays

_NAMES = ("weight", "mean", "sse")


def to_file(features: ClusterFeatures) -> tuple[dict[str, Any], Arrays]:
    return {}, dict(zip(_NAMES, features.arrays(), strict=True))


def from_file(state: dict[str, Any], arrays: Arrays, cls: type[ClusterFeatures] = ClusterFeatures) -> ClusterFeatures:
    """The stored features; raises ValueError, KeyError or TypeError if the arrays are not features."""
    weight, mean, sse = (arrays[name] for name in _NAMES)
    if {weight.dtype, mean.dtype, sse.dtype} != {np.dtype(np.float64)} or weight.ndim != 1 or sse.ndim != 1:
        raise ValueError("its weights, means or sses are not float64, one for each feature")
    # The checks of the constructor without its copies: no other object refers to these arrays.
    as_rows(mean, name="mean")
    return cls._adopt(as_weights(weight, len(mean), "weight"), mean, as_sses(sse, weight))
