"""Compares dendrograms between libraries.

The first library that runs a case stores its sorted heights; the heights of all others are compared with them.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def compare(heights: NDArray[np.float64], folder: Path, case: str, implementation: str) -> dict[str, object]:
    """The sum and maximum of the heights, and their difference from those of the first library, for the raw row."""
    heights = np.sort(np.asarray(heights, dtype=np.float64))
    row: dict[str, object] = {"height_sum": float(heights.sum()), "height_max": float(heights[-1])}
    kept = folder / f"{case}.npz"
    if not kept.exists():
        np.savez(kept, heights=heights, implementation=implementation)
        return row
    with np.load(kept) as reference:
        row["height_reference"] = str(reference["implementation"])
        row["height_difference"] = relative_difference(heights, reference["heights"])
    return row


def relative_difference(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The largest |a - b| / max(a, b) over sorted heights; infinite if their numbers differ."""
    if len(a) != len(b):
        return float("inf")
    larger = np.maximum(np.abs(a), np.abs(b))
    return float(np.max(np.abs(a - b) / np.where(larger > 0, larger, 1.0), initial=0.0))
