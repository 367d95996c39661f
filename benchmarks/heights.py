"""Do two libraries build the same dendrogram? The sorted heights of a case are kept by the first one that runs it and
compared with by all others."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def compare(heights: NDArray[np.float64], folder: Path, case: str, implementation: str) -> dict[str, object]:
    """What a raw row says about heights: their sum, and how far they are from those of the first that ran the case."""
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
    """The largest |a - b| / max(a, b) over sorted heights; infinite where there is not the same number of them."""
    if len(a) != len(b):
        return float("inf")
    larger = np.maximum(np.abs(a), np.abs(b))
    return float(np.max(np.abs(a - b) / np.where(larger > 0, larger, 1.0), initial=0.0))
