"""Arrays in memory and in .npy files: columns without names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...checks import Floats, Rows, as_array, as_weight_column
from ..columns import Field, Wanted
from ..input_file import InputFile
from ..parsing import DEFAULT, Parsing
from ..source import Chunk, Position
from ..table import Table, end_of, needed, reading


class ArrayTable(Table):
    """An array in memory or a memory map. Contiguous float32 or float64 rows are not copied."""

    named = False
    in_memory = True

    def __init__(self, array: Any, label: str = "the array", names: Sequence[str] | None = None) -> None:
        self.label = label
        self.named = names is not None
        if np.ma.is_masked(array):
            raise ValueError(f"{label} has masked values: drop or fill missing values first")
        self._array = as_array(array, label)
        self._describe(self._array.shape, self._array.dtype, names)

    def _describe(self, shape: tuple[int, ...], dtype: np.dtype[Any], names: Sequence[str] | None = None) -> None:
        if len(shape) != 2:
            raise ValueError(f"{self.label} is {len(shape)}-D: rows need a 2-D array of (rows, columns)")
        if dtype.kind not in "fiubOMm":
            raise ValueError(f"{self.label} holds {dtype}: only real numbers can be clustered")
        single = dtype.kind == "f" and dtype.itemsize <= 4
        time = {"M": "moments", "m": "durations"}.get(dtype.kind)
        self.n_rows = shape[0]
        known = map(str, range(shape[1])) if names is None else names
        self.fields = tuple(Field(name, str(dtype), time is None, single, time=time) for name in known)
        self._numbers = {field.name: number for number, field in enumerate(self.fields)}

    def chunks(self, wanted: Wanted, begin: Position, chunk_rows: int) -> Iterator[Chunk]:
        assert self.n_rows is not None
        chosen = [self._numbers[name] for name in wanted.names]
        take: Any = slice(None) if chosen == list(range(len(self.fields))) else chosen
        for start in range(begin.row, self.n_rows, chunk_rows):
            end = min(start + chunk_rows, self.n_rows)
            block = self._block(start, end)
            kept = [_arrow(block[:, self._numbers[name]]) for name in wanted.kept]
            rows = _as_rows(block[:, take], wanted.dtype, self.label)
            here, begin = begin, end_of(begin, len(rows), last=end == self.n_rows)
            beside = needed("pyarrow").RecordBatch.from_arrays(kept, names=list(wanted.kept)) if kept else None
            yield Chunk(rows, here, begin, self._weights(block, wanted, start), beside, wanted.id_column)

    def _weights(self, block: NDArray[Any], wanted: Wanted, start: int) -> Floats | None:
        name = wanted.weight_column
        if name is None:
            return None
        return as_weight_column(block[:, self._numbers[name]], name, partial(self._place, start))

    def _block(self, start: int, end: int) -> NDArray[Any]:
        return self._array[start:end]


def _arrow(values: NDArray[Any]) -> Any:
    """The values as an Arrow array, which needs native byte order and at most 8 bytes for each number."""
    kind = np.dtype(np.float64) if values.dtype.kind == "f" and values.itemsize > 8 else values.dtype.newbyteorder("=")
    return needed("pyarrow").array(np.ascontiguousarray(values, dtype=kind))


def _as_rows(block: NDArray[Any], dtype: np.dtype[Any], label: str) -> Rows:
    try:
        if block.dtype.kind in "Mm":
            start = np.datetime64(0, "s") if block.dtype.kind == "M" else np.timedelta64(0, "s")
            block = (block - start) / np.timedelta64(1, "s")
        rows: Rows = np.ascontiguousarray(block, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{label} holds values that are not numbers: {error}") from None
    return rows


class NpyTable(ArrayTable):
    """A .npy file. It is not mapped: a map counts as memory in use, and crashes if the file becomes shorter."""

    suffixes: ClassVar[tuple[str, ...]] = (".npy",)
    takes: ClassVar[tuple[str, ...]] = ()
    in_memory = False

    def __init__(self, file: InputFile, parsing: Parsing = DEFAULT) -> None:
        self.file, self.label = file, file.label
        self.n_bytes = self._array_file.size()
        if self.n_bytes == 0:
            raise ValueError(f"{self.label} is empty: at least one row is needed")
        with reading(self.label), self._array_file.open() as opened:
            shape, self._columns_first, self._dtype = self._header(opened)
            self._begin = opened.tell()
        self._describe(shape, self._dtype)
        if self._dtype.hasobject:
            raise ValueError(f"{self.label} holds pickled objects, which are never loaded: save it with a number type")
        if min(shape) < 0:
            raise ValueError(f"{self.label} claims to have shape {shape}, which is negative: the file is damaged")
        needed_bytes = self._begin + int(shape[0]) * int(shape[1]) * self._dtype.itemsize
        if self.n_bytes < needed_bytes:
            raise ValueError(f"{self.label} is cut short: it has {self.n_bytes} bytes of {needed_bytes}")

    @property
    def _array_file(self) -> InputFile:
        """The file that holds the array."""
        return self.file

    def _header(self, file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        try:
            version = np.lib.format.read_magic(file)
            if version == (1, 0):
                return np.lib.format.read_array_header_1_0(file)
            if version == (2, 0):
                return np.lib.format.read_array_header_2_0(file)
        except ValueError as error:
            reason = str(error).partition("\n")[0]
            raise ValueError(f"{self.label} is not an array written by numpy.save: {reason}") from None
        raise ValueError(f"{self.label} holds an array of named fields: save its numbers as a plain 2-D array")

    def _block(self, start: int, end: int) -> NDArray[Any]:
        assert self.n_rows is not None
        columns = len(self.fields)
        with reading(self.label), self._array_file.open(buffering=False) as file:
            if not self._columns_first:
                return self._values(file, start * columns, (end - start) * columns).reshape(-1, columns)
            block = np.empty((end - start, columns), dtype=self._dtype)
            for column in range(columns):
                block[:, column] = self._values(file, column * self.n_rows + start, end - start)
            return block

    def _values(self, file: Any, first: int, count: int) -> NDArray[Any]:
        file.seek(self._begin + first * self._dtype.itemsize, os.SEEK_SET)
        values = np.empty(count, dtype=self._dtype)
        if file.readinto(values.view(np.uint8)) < values.nbytes:
            raise ValueError(f"{self.label} was cut short while it was read")
        return values
