"""Journal: a file of whole numbers that grows while a pass runs, so that a checkpoint of the pass stays small."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from ..checks import as_count

_TYPE = np.dtype("<i4")
_BLOCK = 1 << 20  # bytes that are read at once


class Journal:
    """Numbers of 32 bits. What a checkpoint knows of can be read again after a crash; what came later is dropped.

    `state` is for the checkpoint. `resume` takes it; `taken` then returns the numbers from the first on, and after the
    last one `append` continues.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0  # of the numbers in the file
        self._taken = 0
        self._checksum = 0
        self._file: BinaryIO | None = None

    @classmethod
    def beside(cls, path: Path) -> Self:
        """The journal of the checkpoint at `path`."""
        return cls(path.with_name(f"{path.name}.leaves"))

    @staticmethod
    def checked(state: dict[str, Any]) -> dict[str, int]:
        """The state; raises ValueError, KeyError or TypeError if it is not one."""
        return {name: as_count(state[name], name, least=0) for name in ("count", "checksum")}

    def begin(self) -> None:
        """Begins an empty file."""
        self._file = self.path.open("w+b")
        self.count = self._taken = self._checksum = 0

    def resume(self, state: dict[str, int]) -> bool:
        """Continues a file; returns False if it does not hold what the state says."""
        left = state["count"] * _TYPE.itemsize
        if not self.path.is_file() or self.path.stat().st_size < left:
            return False
        self._file = file = self.path.open("r+b")
        checksum = 0
        while left:
            block = file.read(min(left, _BLOCK))
            checksum, left = zlib.crc32(block, checksum), left - len(block)
        file.truncate()
        file.seek(0)
        self.count, self._taken, self._checksum = state["count"], 0, checksum
        return checksum == state["checksum"]

    def taken(self, count: int) -> NDArray[np.int64] | None:
        """The next numbers; None after the last. Rows must come in the same chunks as before."""
        if self._taken == self.count:
            return None
        assert self._file is not None
        self._taken += count
        assert self._taken <= self.count
        return np.frombuffer(self._file.read(count * _TYPE.itemsize), dtype=_TYPE).astype(np.int64)

    def append(self, numbers: NDArray[np.int64]) -> None:
        assert self._file is not None
        content = numbers.astype(_TYPE).tobytes()
        self._file.write(content)
        self._checksum = zlib.crc32(content, self._checksum)
        self.count += len(numbers)
        self._taken = self.count

    def state(self) -> dict[str, int]:
        """What a checkpoint keeps, after everything is on the disk."""
        assert self._file is not None
        self._file.flush()
        os.fsync(self._file.fileno())
        return {"count": self.count, "checksum": self._checksum}
