"""What the script of a page knows: the layout of the dendrogram, and the facts about its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..checks import Floats
from ..dendrogram import Dendrogram
from .packing import DELTA, PLANES, Packed, pack
from .squares import EXACT_UP_TO, ROUNDED_FROM, exceeds_float32, gains_of, rounded, squares_of

_BITS_OF_HEIGHTS = 16  # of very many leaves


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
    many = dendrogram.n_leaves > ROUNDED_FROM
    short = dendrogram.n_leaves > EXACT_UP_TO and not (many and features.sse.any())  # else rounding takes less
    if short and _is_ward(height, gains_of(dendrogram)):
        payload.header["gain"] = "ward"
        arrays["height"] = _heights(height, exact=True)
        leaf_sse, _ = squares_of(dendrogram)
    else:
        arrays["height"] = _heights(height)
        leaf_sse, arrays["gain"] = squares_of(dendrogram)
    if leaf_sse is not None:
        arrays["leaf_sse"] = leaf_sse


def _is_ward(height: Floats, gain: Floats) -> bool:
    """Whether the heights determine what each merge adds to the sum of squares."""
    return bool(np.allclose(height**2 / 2, gain, rtol=1e-6, atol=1e-12 * gain.max(initial=0)))


def _heights(height: Floats, exact: bool = False) -> Packed:
    """Heights as float32, whose differences are small because they mostly ascend."""
    if exceeds_float32(height):
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
