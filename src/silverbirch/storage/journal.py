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
    """Numbers of 32 bits. What was synced before a crash can be read again; what came later is dropped.

    `state` is for the checkpoint. `resume` takes it, `taken` then returns the numbers again from the first on, and when
    there are no more, `append` continues.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        self.count = 0  # of numbers in the file
        self._taken = 0
        self._checksum = 0

    @classmethod
    def beside(cls, path: Path) -> Self:
        """The journal of the checkpoint at `path`."""
        return cls(path.with_name(f"{path.name}.leaves"))

    @staticmethod
    def checked(state: dict[str, Any]) -> dict[str, Any]:
        """The state; raises ValueError, KeyError or TypeError if it is not one."""
        return {name: as_count(state[name], name, least=0) for name in ("count", "checksum")}

    def begin(self) -> None:
        """Begins an empty file."""
        self._open("w+b", 0, 0)

    def resume(self, state: dict[str, Any]) -> bool:
        """Continues a file; returns False if it does not hold what the state says."""
        count, checksum = state["count"], state["checksum"]
        if not self.path.is_file() or self.path.stat().st_size < count * _TYPE.itemsize:
            return False
        file = self._open("r+b", count, checksum)
        found, left = 0, count * _TYPE.itemsize
        while left:
            block = file.read(min(left, _BLOCK))
            found, left = zlib.crc32(block, found), left - len(block)
        file.truncate()
        file.seek(0)
        return found == checksum

    def taken(self, count: int) -> NDArray[np.int64] | None:
        """The next numbers; None if all were taken. Chunks must end where they ended before."""
        if self._taken == self.count:
            return None
        assert self._file is not None
        assert self._taken + count <= self.count
        self._taken += count
        return np.frombuffer(self._file.read(count * _TYPE.itemsize), dtype=_TYPE).astype(np.int64)

    def append(self, numbers: NDArray[np.int64]) -> None:
        assert self._file is not None
        assert self._taken == self.count
        content = numbers.astype(_TYPE).tobytes()
        self._file.write(content)
        self._checksum = zlib.crc32(content, self._checksum)
        self.count += len(numbers)
        self._taken = self.count

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps, after everything is on the disk."""
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
        return {"count": self.count, "checksum": self._checksum}

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def remove(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)

    def _open(self, mode: str, count: int, checksum: int) -> BinaryIO:
        self.close()
        self._file = file = self.path.open(mode)  # type: ignore[assignment]
        self.count, self._taken, self._checksum = count, 0, checksum
        assert file is not None
        return file  # type: ignore[return-value]
