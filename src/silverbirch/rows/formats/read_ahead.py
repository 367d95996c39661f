"""ReadAhead: a reader of Arrow over a stream of Python, whose thread never outlives Python.

Arrow reads ahead from a thread of its own, even if nobody wants more rows. When Python has shut down, such a thread
cannot call it any more: the process hangs or is aborted.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Self

_readers: weakref.WeakSet[ReadAhead] = weakref.WeakSet()
_failed: weakref.WeakSet[_Text] = weakref.WeakSet()  # which the thread reads on: an error does not end it


class _Text(io.RawIOBase):
    """A stream that can be ended in the middle."""

    def __init__(self, text: Any) -> None:
        self._read = text.read
        self._reading, self._end_is_read = threading.Lock(), threading.Event()
        self.is_ended = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        with self._reading:
            found: bytes = b"" if self.is_ended else self._read(size)
        if not found:
            self._end_is_read.set()
        return found

    def wait_for_end(self) -> None:
        """Waits for the thread to find the end, after the read that it is in; not for a thread that does not read."""
        with self._reading:
            pass
        self._end_is_read.wait(timeout=1)


class ReadAhead:
    """The batches of `open_reader(text)`; `close` ends the thread that reads the text."""

    def __init__(self, text: Any, open_reader: Callable[[Any], Any]) -> None:
        self._text = _Text(text)
        self._reader = self._noting_errors(lambda: open_reader(self._text))
        self.schema = self._reader.schema
        _readers.add(self)
        # Python calls the last handler first, so the text still has all that it needs.
        atexit.unregister(_close_all)
        atexit.register(_close_all)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self._noting_errors(lambda: next(self._reader))

    def close(self) -> None:
        """Ends the text here and reads to its end, after which the thread does not call Python again."""
        self._text.is_ended = True
        with contextlib.suppress(Exception):
            for _ in self:
                pass

    def _noting_errors(self, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except StopIteration:
            raise
        except BaseException:
            self._text.is_ended = True
            _failed.add(self._text)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _close_all() -> None:
    for reader in list(_readers):
        reader.close()
    for text in list(_failed):
        text.wait_for_end()
    time.sleep(0.2)  # for the threads to return to Arrow, also those of readers that were closed just now
