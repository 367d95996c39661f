"""InputFile: a file to read, on this machine or another, or the copy of a stream, which can be read only once."""

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
from typing import IO, Any, cast

from ..remote import RemotePath, is_remote, place
from ..remote.failures import explained
from ..remote.reader import BUFFER
from ..remote.stores import Info

STANDARD_INPUT = "-"

_PIECE = 1 << 20


class InputFile:
    """A file of a known format.

    path : where the bytes are
    label : the name that the user gave
    suffix : the end of the name, or of the name that it should have by its format
    buffer : the bytes that are worth a request
    """

    buffer = 1 << 16

    def __init__(self, path: Path, suffix: str, label: str | None = None) -> None:
        self.path, self.suffix = path, suffix
        self.label = str(path) if label is None else label

    @property
    def local(self) -> Path | None:
        """Where the file can be mapped; None if it is on another machine."""
        return self.path

    def size(self) -> int:
        return self.path.stat().st_size

    def open(self, *, buffering: bool = True) -> IO[bytes]:
        """The bytes. Without buffering, a read of a remote file requests what is read and no more."""
        return self.path.open("rb")

    def open_for_arrow(self) -> Any:
        """The bytes as a file of pyarrow, for reads in order."""
        import pyarrow as pa

        return pa.OSFile(str(self.path))

    def fingerprint(self) -> dict[str, Any]:
        """What changes if the file does."""
        status = self.path.stat()
        return {"name": self.label, "bytes": status.st_size, "mtime_ns": status.st_mtime_ns}


class RemoteFile(InputFile):
    """A file on another machine. Nothing of it is kept between two reads."""

    buffer = BUFFER

    def __init__(self, path: RemotePath, suffix: str) -> None:
        super().__init__(cast(Path, path), suffix)
        self._remote = path
        self._found: Info | None = None

    @property
    def local(self) -> Path | None:
        return None

    def size(self) -> int:
        self._found = self._remote.info_to_open()
        return self._found.size

    def open(self, *, buffering: bool = True) -> IO[bytes]:
        return cast(IO[bytes], self._remote.open(buffering=buffering))

    def open_for_arrow(self) -> Any:
        import pyarrow as pa

        return pa.PythonFile(self.open(), mode="r")

    def fingerprint(self) -> dict[str, Any]:
        """The entity tag is there if the server tells it: times may be those of whole seconds.

        The first one is of the file as its size was asked for, the next ones are those of later times.
        """
        found, self._found = self._found or self._remote.file_info(), None
        known = {"mtime_ns": found.mtime_ns, "etag": found.etag}
        return {"name": self.label, "bytes": found.size} | {k: v for k, v in known.items() if v is not None}


class StreamFile(InputFile):
    """A temporary copy of a stream. The copy is removed with the last reference to it, and when the process ends."""

    def __init__(self, label: str, suffix: str) -> None:
        with _opened(label) as stream:
            self._copy, digest = copied(_pieces(stream, label), label)
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


def _pieces(stream: IO[bytes], label: str) -> Iterator[bytes]:
    within = explained if is_remote(label) else contextlib.nullcontext
    while True:
        with within(label):
            piece = stream.read(_PIECE)
        if not piece:
            return
        yield piece


@contextlib.contextmanager
def _opened(label: str) -> Iterator[IO[bytes]]:
    remote = place(label)
    if isinstance(remote, RemotePath):
        with remote.stream() as stream:
            yield stream
        return
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
    """Whether a file is a pipe, a device or the answer of a server without ranges, which can be read only once."""
    remote = place(given)
    if isinstance(remote, RemotePath):
        return not remote.can_be_listed and not remote.file_info().ranges
    return not stat.S_ISREG(os.stat(given).st_mode)
