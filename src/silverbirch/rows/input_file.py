"""InputFile: a file to read, or the copy of a stream, which can be read only once."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

STANDARD_INPUT = "-"

_PIECE = 1 << 20


class InputFile:
    """A file of a known format.

    path : where the bytes are
    label : the name that the user gave
    suffix : the end of the name, or of the name that it should have by its format
    """

    def __init__(self, path: Path, suffix: str, label: str | None = None) -> None:
        self.path, self.suffix = path, suffix
        self.label = str(path) if label is None else label

    def fingerprint(self) -> dict[str, Any]:
        """What changes if the file does."""
        status = self.path.stat()
        return {"name": self.label, "bytes": status.st_size, "mtime_ns": status.st_mtime_ns}


class StreamFile(InputFile):
    """A temporary copy of a stream. The copy is removed with the last reference to it, and when the process ends."""

    def __init__(self, label: str, suffix: str) -> None:
        with _opened(label) as stream:
            self._copy, digest = copied(iter(lambda: stream.read(_PIECE), b""), label)
        super().__init__(self._copy.path, suffix, label)
        self._fingerprint = {"name": label, "bytes": self.path.stat().st_size, "blake2b": digest}

    def fingerprint(self) -> dict[str, Any]:
        """The digest of the bytes: a run is resumed if the stream gives the same bytes again."""
        return self._fingerprint


class TemporaryCopy:
    """A file in the folder for temporary files, which exists as long as this object does."""

    def __init__(self) -> None:
        self.file = tempfile.NamedTemporaryFile(prefix="silverbirch-", delete=False)  # noqa: SIM115
        self.path = Path(self.file.name)
        descriptor = Path(f"/proc/self/fd/{self.file.fileno()}")
        if descriptor.exists():  # Linux opens a file without a name by its descriptor: a kill leaves nothing behind
            self.path.unlink()
            self.path = descriptor
        else:
            weakref.finalize(self, self.path.unlink, missing_ok=True)


def copied(pieces: Iterator[bytes], label: str) -> tuple[TemporaryCopy, str]:
    """A temporary file of the pieces, and the digest of their bytes."""
    copy, digest = TemporaryCopy(), hashlib.blake2b(digest_size=16)
    for piece in pieces:
        digest.update(piece)
        _write(copy.file, piece, label)
    _write(copy.file, None, label)
    return copy, digest.hexdigest()


def _write(file: IO[bytes], piece: bytes | None, label: str) -> None:
    """Writes a piece, or what is still in the buffer."""
    try:
        file.flush() if piece is None else file.write(piece)
    except OSError as error:
        raise OSError(
            error.errno,
            f"{label} is copied to {tempfile.gettempdir()} to be read twice, but {error.strerror}: let TMPDIR name a "
            "folder with more room",
        ) from None


@contextlib.contextmanager
def _opened(label: str) -> Iterator[IO[bytes]]:
    if label != STANDARD_INPUT:
        with open(label, "rb") as stream:
            _refuse_terminal(stream, label)
            yield stream
        return
    standard: IO[bytes] | None = getattr(sys.stdin, "buffer", None)  # notebooks have none
    if standard is None or standard.closed:
        raise ValueError("- stands for the standard input, which is closed: name a file, or pipe rows into the command")
    _refuse_terminal(standard, "-, the standard input,")
    yield standard


def _refuse_terminal(stream: IO[bytes], label: str) -> None:
    if stream.isatty():
        raise ValueError(f"{label} is a terminal: name a file, or pipe rows into the command")


def is_stream(given: str | os.PathLike[str]) -> bool:
    """Whether a file is a pipe or a device, which can be read only once."""
    return not stat.S_ISREG(os.stat(given).st_mode)
