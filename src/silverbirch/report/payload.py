"""What the script of a page knows: the layout of the dendrogram, and the facts about its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats
from ..dendrogram import Dendrogram
from .packing import DELTA, PLANES, Packed, pack

_EXACT_UP_TO = 5_000  # leaves whose sums of squares keep all digits
# With more leaves than this, numbers are rounded, so that the page of a million leaves takes about 10 MB. A sum of
# squares keeps 8 binary digits beside the first: a relative error of up to 0.2 %, half of it in the rmsd. Errors of
# different leaves and merges cancel: the rmsd of a cut, and that of a branch of many leaves, has all its digits.
ROUNDED_FROM = 200_000
_BITS_OF_SQUARES, _BITS_OF_HEIGHTS = 8, 16
_SMALLEST, _LARGEST = 1e-30, 1e38  # what a float32 holds without loss of digits


@dataclass
class Payload:
    """The header and the arrays of a page; each part of the page adds its own."""

    header: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Packed] = field(default_factory=dict)

    def text(self) -> str:
        return pack(self.header, self.arrays)


def add_layout(payload: Payload, dendrogram: Dendrogram, absorbed: Floats | None = None) -> None:
    """Adds the topology, the heights, the order of the leaves, their weights and the sums of squares.

    Row i of Z joins the branch that ends at drawing position boundary[i] with the one that begins after it: with the
    order of the leaves this is the whole topology in one number for each row.

    absorbed : the weights that number the clusters, if they are not those of the dendrogram
    """
    hierarchy, features = dendrogram._hierarchy, dendrogram.features
    left = hierarchy.children[:, 0]
    height = dendrogram.Z[:, 2]
    arrays = payload.arrays
    arrays["boundary"] = Packed((hierarchy.first[left] + hierarchy.count[left] - 1).astype(np.uint32))
    arrays["leaf"] = Packed(hierarchy.leaf_order.astype(np.uint32))
    payload.header["n"] = dendrogram.n_leaves
    if features is None:
        arrays["height"] = _heights(height)
        return
    if (features.weight != 1).any():
        arrays["weight"] = _weights(features.weight)
    if absorbed is not None and not np.array_equal(absorbed, features.weight):
        arrays["absorbed"] = _weights(absorbed)
    if features.sse.any():
        arrays["leaf_sse"] = _squares(features.sse)
    gain = np.maximum(np.diff(dendrogram._sse_by_merges), 0)
    if dendrogram.n_leaves > _EXACT_UP_TO and _is_ward(height, gain):
        payload.header["gain"] = "ward"
        arrays["height"] = _heights(height, exact=True)
    else:
        arrays["gain"] = _squares(gain)
        arrays["height"] = _heights(height)


def _is_ward(height: Floats, gain: Floats) -> bool:
    """Whether the heights determine what each merge adds to the sum of squares."""
    return bool(np.allclose(height**2 / 2, gain, rtol=1e-6, atol=1e-12 * gain.max(initial=0)))


def _heights(height: Floats, exact: bool = False) -> Packed:
    """Heights as float32, whose differences are small because they mostly ascend."""
    if _exceeds_float32(height):
        return Packed(height)
    short = height.astype(np.float32)
    if len(height) > ROUNDED_FROM and not exact:
        short = rounded(short, _BITS_OF_HEIGHTS)
    return Packed(short, (DELTA, PLANES))


def _weights(weight: Floats) -> Packed:
    """Whole numbers of rows as integers; other weights keep all digits, because they decide the order of clusters."""
    if (weight == np.floor(weight)).all() and weight.max(initial=0) < 2**32:
        return Packed(weight.astype(np.uint32))
    return Packed(weight.astype(np.float64))


def _squares(values: Floats) -> Packed:
    if len(values) <= _EXACT_UP_TO or _exceeds_float32(values):
        return Packed(values)
    short = values.astype(np.float32)
    return Packed(rounded(short, _BITS_OF_SQUARES) if len(values) > ROUNDED_FROM else short)


def rounded(values: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """The values with fewer than their 23 binary digits: the others are 0 and compress to nothing."""
    dropped = 23 - bits
    kept = values.view(np.uint32) + np.uint32(1 << (dropped - 1))
    return (kept >> dropped << dropped).view(np.float32)


def _exceeds_float32(values: Floats) -> bool:
    size = np.abs(values)
    return bool(((size > _LARGEST) | ((size < _SMALLEST) & (size > 0))).any())
