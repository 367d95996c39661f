"""What a file of features is made of: fingerprints of its inputs, so that no row is counted twice unnoticed.

A fingerprint is a dictionary of plain values: name, bytes, mtime_ns and content, or the digest of a stream. Files up
to 0.3 have no content.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelFileError
from ..remote import RemotePath, is_remote, of_each, place, same_place, size_of

Fingerprint: TypeAlias = dict[str, Any]

_BLOCK, _BLOCKS = 1 << 16, 16  # one megabyte of a large file is read
_MOST_LISTED = 1000
_STREAM = "blake2b"  # the digest of a stream, which cannot be read again
_ALLOW = "or let its rows count twice (--allow-overlap)"


def fingerprint_of(path: str | os.PathLike[str]) -> Fingerprint:
    return {"name": str(path), "bytes": size_of(path), "content": content_of(path)}


def with_contents(files: Sequence[Fingerprint], *, allow_overlap: bool) -> list[Fingerprint]:
    """The fingerprints of a source of rows with what the files hold; raises ValueError if a file occurs twice.

    What the files hold says more than the entity tag of a remote file, which is left out.
    """
    if not allow_overlap:
        _refuse_repeated([str(file["name"]) for file in files if _STREAM not in file])
    return of_each(_with_content, files, remote=any(is_remote(file["name"]) for file in files))


def _with_content(file: Fingerprint) -> Fingerprint:
    if _STREAM in file:
        return file
    return {name: value for name, value in file.items() if name != "etag"} | {"content": content_of(file["name"])}


def _refuse_repeated(paths: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for path in paths:
        if same_place(path) in seen:
            raise ValueError(f"{path} is given twice: give it once, {_ALLOW}")
        seen[same_place(path)] = path


def content_of(path: str | os.PathLike[str]) -> str | None:
    """A hash of the size of a file and of its bytes, of blocks throughout a large file; None for what is not a file."""
    where = place(path)
    if not isinstance(where, RemotePath) and not stat.S_ISREG(os.stat(where).st_mode):  # a pipe can be read only once
        return None
    size = size_of(where)
    digest = hashlib.sha256(size.to_bytes(8, "little"))
    blocks = min(_BLOCKS, -(-size // _BLOCK))
    with where.open(buffering=False) if isinstance(where, RemotePath) else open(where, "rb") as file:
        for number in range(blocks):
            begin = number * _BLOCK if size <= _BLOCKS * _BLOCK else number * (size - _BLOCK) // (blocks - 1)
            file.seek(begin)
            digest.update(file.read(_BLOCK))
    return digest.hexdigest()[:32]


def refuse_overlap(made_of: Iterable[tuple[str, Sequence[Fingerprint]]]) -> None:
    """Raises ModelFileError if two files, each with what it is made of, have an input in common."""
    seen: dict[tuple[Any, ...], tuple[str, str]] = {}
    for path, sources in made_of:
        for source in sources:
            for key in _as_which_it_may_occur(source):
                if key in seen:
                    raise _overlap(*seen[key], path, source["name"])
        for source in sources:  # later, because files of one input may be equal
            for key in _as_which_it_occurs(source):
                seen.setdefault(key, (path, source["name"]))


def _as_which_it_may_occur(source: Fingerprint) -> list[tuple[Any, ...]]:
    content = source.get("content", source.get(_STREAM))
    if content is None:
        return [("any", *_by_time(source))] if "mtime_ns" in source else []
    return [("content", content), ("old", *_by_time(source))]


def _as_which_it_occurs(source: Fingerprint) -> list[tuple[Any, ...]]:
    content = source.get("content", source.get(_STREAM))
    return [("any", *_by_time(source)), ("old", *_by_time(source)) if content is None else ("content", content)]


def _by_time(source: Fingerprint) -> tuple[Any, ...]:
    return place(source["name"]).name, source["bytes"], source.get("mtime_ns")


def abridged(files: Sequence[Fingerprint]) -> list[Fingerprint]:
    """The fingerprints, of which the last stands for all that follow the first thousand: a header has little room."""
    if len(files) <= _MOST_LISTED:
        return list(files)
    rest = files[_MOST_LISTED:]
    content = hashlib.sha256(json.dumps(rest).encode()).hexdigest()[:32]
    return [*files[:_MOST_LISTED], {"name": f"{len(rest):,} more files", "files": len(rest), "content": content}]


def to_array(files: Sequence[Fingerprint]) -> NDArray[np.uint8]:
    """The fingerprints as JSON, for a file: an array may be large, a header may not."""
    return np.frombuffer(json.dumps(files, separators=(",", ":")).encode(), dtype=np.uint8)


def from_array(array: NDArray[Any]) -> tuple[Fingerprint, ...]:
    """The fingerprints of a file; raises ValueError, KeyError or TypeError if they are not valid."""
    if array.dtype != np.uint8:
        raise TypeError("its inputs are not a text")
    try:
        return checked_fingerprints(json.loads(array.tobytes()))
    except RecursionError:
        raise ValueError("its inputs are not a list") from None


def checked_fingerprints(stored: Any) -> tuple[Fingerprint, ...]:
    """The fingerprints of a file; raises ValueError, KeyError or TypeError if they are not valid."""
    for source in stored:
        kinds = {"name": str, "bytes": int, "mtime_ns": int, "content": str | None, _STREAM: str}
        if not {"name", "bytes"} <= source.keys() <= kinds.keys() or not all(
            isinstance(value, kinds[key]) for key, value in source.items()
        ):
            raise ValueError("its inputs have no valid names and sizes")
    return tuple(stored)


def _overlap(path: str, name: str, other_path: str, other_name: str) -> ModelFileError:
    if path == other_path:
        return ModelFileError(f"{path} is given twice: give it once, {_ALLOW}")
    if path == name and other_path == other_name:  # nothing else is known of them
        return ModelFileError(f"{path} and {other_path} hold the same: leave one of them out, {_ALLOW}")
    rows = name if name == other_name else f"{name}, which holds the same as {other_name}"
    return ModelFileError(f"{path} and {other_path} both hold the rows of {rows}: leave one of them out, {_ALLOW}")
