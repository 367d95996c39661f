"""A table: columns of one length in a file or in memory, read from any row on."""

from __future__ import annotations

import contextlib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..checks import Floats, Rows
from .columns import Field, Wanted, cut, ids_of, rows_of

if TYPE_CHECKING:
    import pyarrow as pa


class Piece(NamedTuple):
    """Some rows of a table."""

    rows: Rows
    ids: Any | None
    last: bool


class Table(ABC):
    """What a file format or a kind of table in memory has to say."""

    label: str  # what it is called in messages
    named: bool = True  # else its columns are known by their numbers: "0", "1", …
    ids_are_text: bool = False  # whatever the id column looks like
    fields: tuple[Field, ...]
    n_rows: int | None = None
    n_bytes: int = 0  # of a file

    @abstractmethod
    def pieces(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[Piece]:
        """The rows from `begin` on, in pieces of exactly `chunk_rows` but for the last."""

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

    def pieces(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[Piece]:
        for batches, last in cut(self.batches(wanted, begin, chunk_rows), chunk_rows):
            table = needed("pyarrow").Table.from_batches(batches)
            ids = None if wanted.id_column is None else ids_of(table, wanted.id_column)
            yield Piece(rows_of(table, wanted.names, wanted.dtype), ids, last)


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
