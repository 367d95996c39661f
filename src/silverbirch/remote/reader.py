"""A remote file as a file of Python: reads ranges, and tries again where the connection breaks."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from .failures import retried

BUFFER = 1 << 20  # a request takes as long as some hundred kilobytes


class RemoteReader(io.RawIOBase):
    """A file of `size` bytes. A read returns all bytes that were asked for, up to the end of the file, or raises.

    opened : returns an object with `read_at(count, offset)`; called again after a failure
    """

    def __init__(self, label: str, size: int, opened: Callable[[], Any]) -> None:
        self._label, self._size, self._opened = label, size, opened
        self._file: Any = None
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def size(self) -> int:
        return self._size

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        return self._place

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._size - self._place))
        if count:
            view[:count] = retried(lambda: self._range(count), self._label, self._forget)
            self._place += count
        return count

    def _range(self, count: int) -> bytes:
        if self._file is None:
            self._file = self._opened()
        found: bytes = self._file.read_at(count, self._place)
        if len(found) != count:
            raise ConnectionError(f"{len(found)} bytes came of {count}")
        return found

    def _forget(self) -> None:
        self._file = None


def buffered(raw: RemoteReader) -> io.BufferedReader:
    return io.BufferedReader(raw, BUFFER)
