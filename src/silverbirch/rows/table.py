"""A table: columns of one length in a file or in memory, read from any row on."""

from __future__ import annotations

import contextlib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..checks import Floats
from .columns import Field, Wanted, cut, ids_of, rows_of
from .source import Chunk, Position

if TYPE_CHECKING:
    import pyarrow as pa


class Table(ABC):
    """What a file format or a kind of table in memory has to say."""

    label: str  # what it is called in messages
    named: bool = True  # else its columns are known by their numbers: "0", "1", …
    ids_are_text: bool = False  # whatever the id column looks like
    fields: tuple[Field, ...]
    n_rows: int | None = None
    n_bytes: int = 0  # of a file

    @abstractmethod
    def chunks(self, wanted: Wanted, begin: Position, chunk_rows: int) -> Iterator[Chunk]:
        """The rows from `begin` on, in chunks of exactly `chunk_rows` but for the last; `begin` also says which table
        of its source this one is."""

    def share(self, row: int) -> float | None:
        """How much of the table lies before a row, from 0 to 1."""
        return None if self.n_rows is None else min(1.0, row / max(1, self.n_rows))

    def extremes(self, names: tuple[str, ...]) -> tuple[Floats, Floats] | None:
        """The least and greatest value of each column, where they are known without reading; inf and -inf where it has
        none."""
        return None


class ArrowTable(Table):
    """A table that comes as record batches."""

    @abstractmethod
    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        """The wanted columns from a row on, in batches as they come."""

    def chunks(self, wanted: Wanted, begin: Position, chunk_rows: int) -> Iterator[Chunk]:
        for batches, last in cut(self.batches(wanted, begin.row, chunk_rows), chunk_rows):
            table = needed("pyarrow").Table.from_batches(batches)
            ids = None if wanted.id_column is None else ids_of(table, wanted.id_column)
            rows = rows_of(table, wanted.names, wanted.dtype)
            here, begin = begin, end_of(begin, len(rows), last=last)
            yield Chunk(rows, here, begin, ids=ids)


class FileTable(ArrowTable):
    """A file; where the rows are not counted in it, how far one is goes by the bytes that were read."""

    suffixes: ClassVar[tuple[str, ...]]  # how the names of such files end

    def __init__(self, path: Path) -> None:
        self.path = path
        self.label = str(path)
        self.n_bytes = path.stat().st_size
        self._bytes_of_row = 0.0  # so far
        if self.n_bytes == 0:
            raise ValueError(f"{path} is empty")
        with reading(self.label):
            self._open()

    def _open(self) -> None:
        """Reads what the file says of itself: `fields`, and `n_rows` where it does."""
        raise NotImplementedError

    def share(self, row: int) -> float | None:
        return min(1.0, row * self._bytes_of_row / self.n_bytes) if self.n_rows is None else super().share(row)

    def _noting_bytes(self, batches: Any, bytes_read: Callable[[int], int]) -> Iterator[pa.RecordBatch]:
        """The batches, while it is noted how many bytes of the file a row takes; `bytes_read` after so many batches."""
        rows = 0
        for number, batch in enumerate(batches, start=1):
            rows += batch.num_rows
            if rows:
                self._bytes_of_row = bytes_read(number) / rows
            yield batch


def end_of(begin: Position, count: int, *, last: bool) -> Position:
    """Where a chunk of so many rows ends; after the last one the next table begins."""
    return Position(begin.file + 1, 0) if last else Position(begin.file, begin.row + count)


@contextlib.contextmanager
def reading(label: str) -> Iterator[None]:
    """Whatever a file format's library says of a broken file becomes one ValueError that names it."""
    try:
        yield
    except (MemoryError, ImportError, FileNotFoundError, PermissionError):
        raise
    except Exception as error:
        if type(error) is ValueError:  # ours, and names the file already
            raise
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ValueError(f"{label} cannot be read: {reason}; is the file whole, and what its name says?") from None


def needed(module: str) -> Any:
    """A module of the `files` extra."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(f"this input is read by {package}: pip install 'silverbirch[files]'") from None
