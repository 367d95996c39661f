"""The container of model files: named arrays and plain values, in the layout of safetensors.

    8 bytes     the length of the header, little-endian
    header      JSON: {"__metadata__": {format, version, sha256, kind, state}, name: {dtype, shape, data_offsets}, …}
    arrays      little-endian, in the order of the header, to the end of the file

Nothing is pickled, so a file cannot run code. Nothing is compressed, so a file cannot expand beyond its size. Before it
allocates memory, the reader compares the header with the size of the file. docs/model-files.md has the layout.
"""

import hashlib
import json
import math
import os
import re
import reprlib
import stat
from io import BytesIO
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..checks import bytes_text
from ..errors import MemoryLimitError, ModelFileError
from ..machine import physical_memory
from ..remote import Place, RemotePath, place
from .atomic import new_file

Arrays: TypeAlias = dict[str, NDArray[Any]]
Entry: TypeAlias = tuple[str, np.dtype[Any], list[int]]

FORMAT_VERSION = 3
_MAGIC = b'{"__metadata__":{"format":"silverbirch","version":"'
_BEFORE_DIGEST = b'","sha256":"'
_NO_DIGEST = "0" * 64  # in the place of the digest while it is computed
_LARGEST_HEADER = 8 << 20
_KIND = re.compile("[a-z][a-z-]{0,31}")
_DTYPES = {name: np.dtype(code) for name, code in
           {"F64": "<f8", "I64": "<i8", "F32": "<f4", "U32": "<u4", "U8": "u1"}.items()}  # fmt: skip


# -- writing


def write(path: str | os.PathLike[str], kind: str, state: dict[str, Any], arrays: Arrays) -> None:
    """Writes plain JSON values and arrays; replaces an existing file. The same content gives the same bytes."""
    pieces = _pieces(kind, state, arrays)
    with new_file(path, force=True) as file:
        for piece in pieces:
            file.write(piece)


def packed(kind: str, state: dict[str, Any], arrays: Arrays) -> bytes:
    """The bytes that `write` puts into a file."""
    return b"".join(_pieces(kind, state, arrays))


def _pieces(kind: str, state: dict[str, Any], arrays: Arrays) -> list[bytes | memoryview]:
    """The header and the arrays, one after the other."""
    # The widest types come first, so that each array begins at a multiple of its item size.
    stored = {name: _storable(name, array) for name, array in arrays.items()}
    stored = dict(sorted(stored.items(), key=lambda item: (-item[1].itemsize, item[0])))
    header = _header(kind, state, stored)
    digest = hashlib.sha256(header)
    for array in stored.values():
        digest.update(_bytes_of(array))
    return [header.replace(_NO_DIGEST.encode(), digest.hexdigest().encode(), 1), *map(_bytes_of, stored.values())]


def _storable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    dtype = np.asarray(array).dtype.newbyteorder("<")
    if dtype not in _DTYPES.values():
        raise TypeError(f"{name} holds {dtype}: a file holds arrays of {', '.join(d.name for d in _DTYPES.values())}")
    return np.asarray(array, dtype=dtype, order="C")


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _header(kind: str, state: dict[str, Any], arrays: Arrays) -> bytes:
    """The length of the header and the header, with zeros in place of the digest."""
    if not _KIND.fullmatch(kind):
        raise ValueError(f"kind={kind!r}: must be a word of small letters")
    names = {dtype: name for name, dtype in _DTYPES.items()}
    metadata = {
        "format": "silverbirch",
        "version": str(FORMAT_VERSION),
        "sha256": _NO_DIGEST,
        "kind": kind,
        "state": _json(state),
    }
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": names[array.dtype], "shape": array.shape, "data_offsets": [begin, end]}
    text = _json(header).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _LARGEST_HEADER:
        raise ValueError(
            f"names and values take {len(text)} bytes, a file has room for {_LARGEST_HEADER}: shorten them"
        )
    return len(text).to_bytes(8, "little") + text


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


# -- reading


def read(path: str | os.PathLike[str], kind: str | None = None) -> tuple[str, dict[str, Any], Arrays]:
    """The kind, the plain values and the arrays of a file.

    Raises ModelFileError if the file is not complete, or is not of the requested kind.
    """
    remote = place(path)
    if isinstance(remote, RemotePath):
        with remote.open() as file:
            found, state, arrays = _checked(file, file.raw.size(), path)
    else:
        found, state, arrays = _read_local(remote, path)
    if kind is not None and found != kind:
        raise ModelFileError(f"{path} holds a {found}, not a {kind}")
    return found, state, arrays


def _read_local(path: Place, label: Any) -> tuple[str, dict[str, Any], Arrays]:
    status = os.stat(path)
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):  # a folder raises its own error below
        raise ModelFileError(f"{label} is not a file: a pipe or a device cannot be read as a model")
    with open(path, "rb") as file:
        return _checked(file, os.fstat(file.fileno()).st_size, label)


def unpacked(data: bytes, label: str) -> tuple[str, dict[str, Any], Arrays]:
    """The kind, the plain values and the arrays in the bytes of a file; `label` names them in errors.

    Raises ModelFileError if the bytes are not those of a whole file.
    """
    return _checked(BytesIO(data), len(data), label)


def _checked(file: BinaryIO, size: int, label: Any) -> tuple[str, dict[str, Any], Arrays]:
    """What a file of `size` bytes holds; every error names the file."""
    try:
        return _read(file, size)
    except _NewerError as error:
        raise ModelFileError(
            f"{label} has format {error}, this version reads up to {FORMAT_VERSION}: update silverbirch"
        ) from None
    except MemoryLimitError as error:
        raise MemoryLimitError(f"{label} cannot be loaded: {error}") from None
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"{label} is not a whole silverbirch file: {one_line(error)}") from None


class _NewerError(Exception):
    """The file has a newer format version."""


def _read(file: BinaryIO, size: int) -> tuple[str, dict[str, Any], Arrays]:
    length, header, digest = _checked_start(file, size)
    content = _parsed(header)
    kind, state = _checked_metadata(content.pop("__metadata__"))
    entries = _checked_entries(content, size - 8 - length)
    memory = physical_memory()
    if memory is not None and size > memory:  # a sparse file can be larger than the data written to it
        raise MemoryLimitError(f"it is {bytes_text(size)} and the machine has {bytes_text(memory)}")
    hashed = hashlib.sha256(length.to_bytes(8, "little") + header.replace(digest, _NO_DIGEST.encode(), 1))
    arrays: Arrays = {}
    for name, dtype, shape in entries:
        array = np.empty(shape, dtype)
        if file.readinto(_bytes_of(array)) != array.nbytes:  # type: ignore[attr-defined]
            raise ValueError("it is cut short")
        hashed.update(_bytes_of(array))
        arrays[name] = array.astype(dtype.newbyteorder("="), copy=False)
    if hashed.hexdigest().encode() != digest:
        raise ValueError("its checksum is wrong, so it was damaged or changed")
    return kind, state, arrays


def _checked_start(file: BinaryIO, size: int) -> tuple[int, bytes, bytes]:
    """The length of the header, the header and its digest; raises ValueError if the file does not begin as it must."""
    start = file.read(8 + len(_MAGIC))
    if size == 0:
        raise ValueError("it is empty")
    if start[8:] != _MAGIC:
        raise ValueError("it does not begin as one" if size > 8 + len(_MAGIC) else "it is cut short, or another file")
    length = int.from_bytes(start[:8], "little")
    if length > min(size - 8, _LARGEST_HEADER):
        raise ValueError(f"its header claims {length} bytes of {size - 8}, at most {_LARGEST_HEADER}")
    header = _MAGIC + file.read(max(length - len(_MAGIC), 0))
    version = re.compile(rb"[1-9]\d{0,8}(?=\")").match(header, len(_MAGIC))
    if version is None:
        raise ValueError("it has no version")
    if int(version[0]) > FORMAT_VERSION:
        raise _NewerError(version[0].decode())
    digest = re.compile(re.escape(_BEFORE_DIGEST) + rb"([0-9a-f]{64})\"").match(header, version.end())
    if digest is None:
        raise ValueError("it has no checksum")
    return length, header, digest[1]


def _parsed(text: bytes) -> dict[str, Any]:
    """A JSON object; raises ValueError if a key occurs twice or a number is not finite."""
    try:
        value = json.loads(
            text.decode(), object_pairs_hook=_object, parse_int=_whole, parse_float=_finite, parse_constant=_finite
        )
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"its header is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("its header is not a JSON object")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("its header has a key twice")
    return result


def _whole(text: str) -> int:
    if text == "-0":  # not a whole number for safetensors and JavaScript
        raise ValueError("its header has -0 for a number")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"its header has {text} for a number")
    return number


def _checked_metadata(metadata: Any) -> tuple[str, dict[str, Any]]:
    keys = ["format", "version", "sha256", "kind", "state"]
    if not isinstance(metadata, dict) or [*metadata] != keys or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError(f"its metadata are not {', '.join(keys)}, all texts")
    if not _KIND.fullmatch(metadata["kind"]):
        raise ValueError("its kind is not a word")
    return metadata["kind"], _parsed(metadata["state"].encode())


def _checked_entries(header: dict[str, Any], total: int) -> list[Entry]:
    """The arrays in the header; raises ValueError unless they are contiguous and fill the rest of the file."""
    entries: list[Entry] = []
    end = 0
    for name, entry in header.items():
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"it does not describe its array {reprlib.repr(name)}")
        dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        shape, begin = entry["shape"], end
        if dtype is None or not _is_counts(shape) or len(shape) > 8:
            raise ValueError(f"its array {reprlib.repr(name)} has a type or a shape that cannot be")
        end += math.prod(shape) * dtype.itemsize
        if not _is_counts(entry["data_offsets"]) or entry["data_offsets"] != [begin, end]:
            raise ValueError(f"its array {reprlib.repr(name)} is not where its shape and the others leave room")
        if end > total:
            raise ValueError(f"it is cut short: its arrays take {end} bytes or more and {total} are there")
        entries.append((name, dtype, shape))
    if end != total:
        raise ValueError(f"it has {total} bytes of arrays where {end} are announced")
    return entries


def prefixed(prefix: str, arrays: Arrays) -> Arrays:
    """The arrays with a prefix before their names: "tree.0.mean"."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def under(prefix: str, arrays: Arrays) -> Arrays:
    """The arrays with this prefix; their names without it."""
    return {name[len(prefix) + 1 :]: array for name, array in arrays.items() if name.startswith(prefix + ".")}


def _is_counts(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


def printable(text: str) -> str:
    """The text with "?" for control characters and for characters that cannot be encoded."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def one_line(error: BaseException) -> str:
    """The error as one short printable line: it may quote a file with any content."""
    text = f"it has no {error}" if isinstance(error, KeyError) else str(error)
    text = printable(" ".join(text[:1000].split()))
    return text if len(text) <= 200 else text[:200] + "…"
