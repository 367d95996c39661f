"""A remote file as a file of Python: reads ranges, and tries again where the connection breaks."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from .failures import retried
from .stores import Opened

BUFFER = 1 << 20  # a request takes as long as some hundred kilobytes


class RemoteReader(io.RawIOBase):
    """A file, which is opened at once. A read returns all bytes asked for, up to the end of the file, or raises.

    opened : opens the file; called again after a failure
    """

    def __init__(self, label: str, opened: Callable[[], Opened]) -> None:
        self._label, self._opened = label, opened
        self._file: Opened | None = retried(opened, label)
        self.info = self._file.info
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def size(self) -> int:
        return self.info.size

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self.info.size}[whence]
        return self._place

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self.info.size - self._place))
        if count:
            view[:count] = retried(lambda: self._range(count), self._label, self._forget)
            self._place += count
        return count

    def _range(self, count: int) -> bytes:
        if self._file is None:
            self._file = self._opened()
        found = self._file.read_at(count, self._place)
        if len(found) != count:
            raise ConnectionError(f"{len(found)} bytes came of {count}")
        return found

    def _forget(self) -> None:
        self._file = None


def buffered(raw: RemoteReader) -> io.BufferedReader:
    return io.BufferedReader(raw, BUFFER)
