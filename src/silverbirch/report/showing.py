"""Values of rows as a page shows them: short texts, and small pictures as data URIs."""

from __future__ import annotations

import base64
import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from . import numbers

if TYPE_CHECKING:
    from PIL.Image import Image

TEXT, IMAGE = "text", "image"
_MOST_LETTERS = 300
_MOST_PIXELS = 160  # of the longer side of a picture
_MOST_URI = 16_000  # letters of a data URI that is taken as it is
_URI = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,([A-Za-z0-9+/=]+)")
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"RIFF")


def shown_columns(columns: list[list[Any]]) -> tuple[list[str], list[list[str | None]]]:
    """The kind of each column, and its values as text or as data URIs of pictures; None for a missing value.

    A column is one of pictures if all values in it are pictures.
    """
    kinds, values = [], []
    for column in columns:
        pictures = [None if _is_missing(value) else _picture(value) for value in column]
        missing = [_is_missing(value) for value in column]
        if all(a is not None or b for a, b in zip(pictures, missing, strict=True)) and not all(missing):
            kinds.append(IMAGE)
            values.append(pictures)
        else:
            kinds.append(TEXT)
            values.append(shortened(column))
    return kinds, values


def shortened(column: list[Any], most: int = _MOST_LETTERS) -> list[str | None]:
    """The values as texts; None for a missing one."""
    return [None if _is_missing(value) else _text(value, most) for value in column]


def _is_missing(value: Any) -> bool:
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def _text(value: Any, most: int) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, float | np.floating):
        return numbers.trimmed(float(value))
    text = str(value).strip()
    return text if len(text) <= most else f"{text[:most].rstrip()}…"


def _picture(value: Any) -> str | None:
    """The data URI of a picture; None for anything else."""
    if isinstance(value, dict):  # a picture in a Parquet file is often {"bytes": …, "path": …}
        value = value.get("bytes")
    if isinstance(value, str):
        found = _URI.fullmatch(value)
        if found is None:
            return None
        if len(value) <= _MOST_URI:
            return value
        value = base64.b64decode(found[1])
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
        return _from_bytes(data) if data.startswith(_SIGNATURES) else None
    if isinstance(value, np.ndarray):
        return _from_array(value)
    return _uri(value) if hasattr(value, "thumbnail") and hasattr(value, "mode") else None


def _from_bytes(data: bytes) -> str | None:
    pillow = _pillow()
    try:
        return _uri(pillow.open(io.BytesIO(data)))
    except (OSError, ValueError, pillow.DecompressionBombError):
        return None


def _from_array(array: np.ndarray[Any, Any]) -> str | None:
    """A grey or coloured picture from an array of bytes."""
    if array.dtype != np.uint8 or not array.size:
        return None
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim != 2 and not (array.ndim == 3 and array.shape[2] in (3, 4)):
        return None
    return _uri(_pillow().fromarray(np.ascontiguousarray(array)))


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("pictures need Pillow: pip install pillow") from None
    return Image


def _uri(picture: Image) -> str:
    """The picture, made smaller if it is large: as JPEG if that is shorter than PNG."""
    small = picture if picture.mode in ("L", "RGB", "RGBA") else picture.convert("RGBA")
    if max(small.size) > _MOST_PIXELS:
        small = small.copy()
        small.thumbnail((_MOST_PIXELS, _MOST_PIXELS))
    data, kind = _saved(small, "PNG"), "png"
    if small.mode != "RGBA" and len(data) > _MOST_URI // 4:
        smaller = _saved(small, "JPEG")
        if len(smaller) < len(data):
            data, kind = smaller, "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _saved(picture: Image, format: str) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, format)
    return buffer.getvalue()
