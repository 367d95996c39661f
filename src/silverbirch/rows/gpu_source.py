"""The source of an array on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..checks import as_any_rows, require_table
from ..gpu.device import as_tensor, in_main_memory
from .memory_source import MemorySource
from .source import START, Chunk, Position, usual_chunk_rows

_LARGER = 16  # than usual: every copy takes some time, whatever its size


class GpuSource(MemorySource):
    """An array on a GPU, copied to main memory a chunk at a time."""

    def __init__(self, array: Any) -> None:
        self.array = array if hasattr(array, "shape") else as_tensor(array)  # of DLPack alone
        require_table(tuple(self.array.shape), "X")
        super().__init__(tuple(self.array.shape), None)
        self.device = f"cuda:{array.__dlpack_device__()[1]}"

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        size = _LARGER * usual_chunk_rows(self.n_dimensions)
        for start in range(begin.row, self.n_rows, size):
            rows = as_any_rows(in_main_memory(self.array[start : start + size]), name="X")
            yield Chunk(rows, Position(0, start), Position(0, start + len(rows)))

    def fraction(self, position: Position) -> float | None:
        return position.row / self.n_rows
