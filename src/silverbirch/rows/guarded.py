"""Streams of Python that Arrow reads ahead from a thread of its own.

Such a thread may still read when Python shuts down, which would abort the process. So all streams end before that.
"""

from __future__ import annotations

import atexit
import io
import threading
import weakref
from typing import Any

_SECONDS = 0.3  # for a thread to notice that its stream has ended; a thread that does not read needs no time
_READING_SECONDS = 30  # for a read that is on its way; longer than a silent server takes to fail

_streams: weakref.WeakSet[GuardedStream] = weakref.WeakSet()


class GuardedStream(io.RawIOBase):
    """A file of Python for Arrow, which ends when Python does."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._stopped, self._noticed = False, threading.Event()
        self._reading = threading.Lock()
        if not _streams:
            atexit.unregister(_stop_all)
            atexit.register(_stop_all)
        _streams.add(self)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def read(self, size: int = -1) -> bytes:
        with self._reading:
            found: bytes = b"" if self._stopped else self._file.read(size)
        if self._stopped or not found:
            self._noticed.set()
        return found

    def stop(self) -> None:
        """Lets the stream end here."""
        self._stopped = True

    def wait(self) -> None:
        """Waits until no thread reads the stream."""
        if self._reading.acquire(timeout=_READING_SECONDS):
            self._reading.release()
        self._noticed.wait(_SECONDS)


def _stop_all() -> None:
    streams = list(_streams)
    for stream in streams:
        stream.stop()
    for stream in streams:
        stream.wait()
