"""Table: the interface of a file format or of a table in memory, which can be read from any row on."""

from __future__ import annotations

import contextlib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..checks import Floats
from .arrow_rows import first_length, kept_of, rows_of, weights_of
from .columns import Field, Wanted, cut
from .input_file import InputFile
from .parsing import DEFAULT, Parsing
from .source import Chunk, Position, ReadingBytes

if TYPE_CHECKING:
    import pyarrow as pa

_FIRST_ROWS = 256  # read at first to find the length of the lists in a column


class Table(ABC):
    """Columns of equal length, in a file or in memory."""

    label: str  # its name in error messages
    named: bool = True  # else the names of the columns are their numbers: "0", "1", …
    in_memory: bool = False
    keeps_text: bool = False  # whether kept columns are read as text, even if they look like numbers
    fields: tuple[Field, ...]
    n_rows: int | None = None
    n_bytes: int = 0  # of a file
    allowed: int | None = None  # the bytes that reading may take beside the chunk; None for no limit

    @abstractmethod
    def chunks(self, wanted: Wanted, begin: Position, chunk_rows: int) -> Iterator[Chunk]:
        """The rows from `begin` on, in chunks of `chunk_rows` rows; only the last chunk may be shorter.

        `begin.file` is the number of this table in its source.
        """

    def reading_bytes(self, wanted: Wanted, chunk_rows: int) -> ReadingBytes:
        """The memory that reading takes beside the chunk."""
        return ReadingBytes(0, 0)

    def allow(self, reading_bytes: int) -> None:
        """Bounds the bytes that reading takes; the bound must be at least `reading_bytes(…).least`."""
        self.allowed = reading_bytes

    def check(self, wanted: Wanted) -> None:
        """Raises ValueError if the wanted columns can be seen to be unreadable."""
        return None

    def list_length(self, name: str) -> int | None:
        """The length of the first list in a column that is not missing; None if all are."""
        return None

    def _place(self, first: int, row: int) -> str:
        return f"row {first + row} of {self.label}"

    def share(self, row: int) -> float | None:
        """The fraction of the table before a row, from 0 to 1; None if it is not known."""
        return None if self.n_rows is None else min(1.0, row / max(1, self.n_rows))

    def extremes(self, names: tuple[str, ...]) -> tuple[Floats, Floats] | None:
        """The least and greatest value of each column from metadata; None without it.

        A column without values has inf and -inf.
        """
        return None


class ArrowTable(Table):
    """A table that is read as Arrow record batches."""

    @abstractmethod
    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        """The wanted columns from row `begin` on, in batches of any size."""

    def list_length(self, name: str) -> int | None:
        lengths = (first_length(batch.column(name)) for batch in self._first_batches(name))
        return next((length for length in lengths if length is not None), None)

    def _first_batches(self, name: str) -> Iterator[pa.RecordBatch]:
        """One column from the first row on, in batches of any size."""
        return self.batches(Wanted((name,), np.dtype(np.float64), (None,)), 0, _FIRST_ROWS)

    def chunks(self, wanted: Wanted, begin: Position, chunk_rows: int) -> Iterator[Chunk]:
        for batches, last in cut(self.batches(wanted, begin.row, chunk_rows), chunk_rows):
            table = needed("pyarrow").Table.from_batches(batches)
            place = partial(self._place, begin.row)
            rows, weight = rows_of(table, wanted, place), weights_of(table, wanted, place)
            here, begin = begin, end_of(begin, len(rows), last=last)
            kept = kept_of(table, wanted)
            del batches, table  # they may be part of a large block, and the next one is read meanwhile
            yield Chunk(rows, here, begin, weight, kept, wanted.id_column)


class FileTable(ArrowTable):
    """A file. If it does not store its number of rows, progress is measured in bytes."""

    suffixes: ClassVar[tuple[str, ...]]  # of the names of such files
    takes: ClassVar[tuple[str, ...]] = ()  # the fields of `Parsing` that mean something to this format

    def __init__(self, file: InputFile, parsing: Parsing = DEFAULT) -> None:
        self.file, self.path, self.label = file, file.path, file.label
        self.parsing = parsing
        self.n_bytes = file.size()
        self._bytes_of_row = 0.0  # mean over the rows read so far
        if self.n_bytes == 0:
            raise ValueError(f"{self.label} is empty: at least one row is needed")
        with reading(self.label):
            self._open()

    def _open(self) -> None:
        """Reads the metadata of the file: sets `fields`, and `n_rows` if the file stores it."""
        raise NotImplementedError

    def share(self, row: int) -> float | None:
        return min(1.0, row * self._bytes_of_row / self.n_bytes) if self.n_rows is None else super().share(row)

    def _noting_bytes(self, batches: Any, bytes_read: Callable[[int], int]) -> Iterator[pa.RecordBatch]:
        """The batches; records the bytes per row. `bytes_read(n)` is the number of bytes read after n batches."""
        rows = 0
        for number, batch in enumerate(batches, start=1):
            rows += batch.num_rows
            if rows:
                self._bytes_of_row = bytes_read(number) / rows
            yield batch


def end_of(begin: Position, count: int, *, last: bool) -> Position:
    """Where a chunk of `count` rows ends; after the last chunk of a table, that is the begin of the next table."""
    return Position(begin.file + 1, 0) if last else Position(begin.file, begin.row + count)


@contextlib.contextmanager
def reading(label: str) -> Iterator[None]:
    """Turns the errors that a library raises for a broken file into a ValueError that names the file."""
    try:
        yield
    except (MemoryError, ImportError, FileNotFoundError, PermissionError, ConnectionError):
        raise
    except Exception as error:
        if type(error) is ValueError:  # raised by this package; it names the file already
            raise
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ValueError(f"{label} cannot be read: {reason}; is it complete, and of the format of its name?") from None


@contextlib.contextmanager
def released() -> Iterator[None]:
    """Gives memory that Arrow no longer uses back to the system at the end."""
    try:
        yield
    finally:
        needed("pyarrow").default_memory_pool().release_unused()


def needed(module: str) -> Any:
    """Imports a module of the extra `files`."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(f"this input is read by {package}: pip install 'silverbirch[files]'") from None
