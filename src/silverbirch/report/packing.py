"""Arrays in a page: a header and typed arrays in one container, compressed, as base64.

The container: the length of the header (4 bytes, as all numbers little endian), the header as JSON, zeros up to a
multiple of 8, then the arrays, each at a multiple of 8 from the start of the first. The header's `arrays` gives the
type, the length and the offset of each, and the steps that made it easier to compress. The browser unpacks it by its
own `DecompressionStream`.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"u1", "u2", "u4", "i4", "f4", "f8"}
_ALIGNMENT = 8
_LARGE = 4_000_000  # bytes from which the best compression takes ten seconds more and saves a hundredth
DELTA, PLANES = "delta", "planes"


@dataclass(frozen=True)
class Packed:
    """An array, and the steps that make it easier to compress.

    "delta" takes the differences of neighbours, of elements of 4 bytes as if they were unsigned integers, modulo 2^32.
    "planes" stores the first bytes of all elements, then all second bytes, and so on.
    """

    values: NDArray[Any]
    coding: tuple[str, ...] = (PLANES,)


def pack(header: Mapping[str, Any], arrays: Mapping[str, Packed]) -> str:
    """The container as base64."""
    described, parts, offset = {}, [], 0
    for name, packed in arrays.items():
        type_ = packed.values.dtype.newbyteorder("=").str[1:]
        if type_ not in _TYPES:
            raise TypeError(f"array {name!r} is of type {type_}: pages hold {', '.join(sorted(_TYPES))}")
        data = _padded(_coded(packed))
        described[name] = {"type": type_, "length": packed.values.size, "offset": offset, "coding": packed.coding}
        parts.append(data)
        offset += len(data)
    text = json.dumps({**header, "arrays": described}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    encoded = text.encode("utf-8", "backslashreplace")  # file names may hold bytes that are not text
    head = _padded(len(encoded).to_bytes(4, "little") + encoded)
    whole = b"".join([head, *parts])
    level = 9 if len(whole) < _LARGE else 6
    return base64.b64encode(zlib.compress(whole, level)).decode("ascii")


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNMENT)


def _coded(packed: Packed) -> bytes:
    values = np.ascontiguousarray(packed.values.ravel())
    values = values.astype(values.dtype.newbyteorder("<"), copy=False)
    data = values.view(np.uint8)
    for step in packed.coding:
        if step == DELTA:
            data = np.diff(data.view("<u4"), prepend=np.uint32(0)).view(np.uint8)
        else:
            data = data.reshape(-1, values.itemsize).T.ravel()
    return data.tobytes()
