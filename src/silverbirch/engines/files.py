"""Partitions that are files: on what engine, in whose words, and where their labels are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ..pipeline.labels import part_writer
from ..remote import place
from ..rows import NoRowsError, RowSource
from ..wording import Spelling, current_spelling, spelled_in_task
from .job import Run
from .partial import Partial
from .work import Count, Work, in_partition


@contextmanager
def on_files(engine: str, address: str, files: Sequence[str], *, shows_progress: bool = False) -> Iterator[Run]:
    """How to do some work on files, each of them a partition, on an engine ("dask" or "spark") at an address.

    Messages of workers name parameters as those of the caller do. With `shows_progress`, an engine that has a progress
    bar may show it.
    """
    module = import_module(f"{__package__}.{engine}")
    running: AbstractContextManager[Run] = module.on_files(address, files, shows_progress=shows_progress)
    spelling = current_spelling()
    with running as run:
        yield lambda work: run(Spelled(work.reading, work, spelling))


@dataclass(frozen=True)
class Spelled(Work):
    """Does the work; messages name parameters by `spelling`."""

    work: Work
    spelling: Spelling

    def __call__(self, number: int, rows: Any, weight: Any = None) -> bytes:
        with spelled_in_task(self.spelling):
            return self.work(number, rows, weight)

    def merged(self, sent: Sequence[bytes]) -> bytes:
        with spelled_in_task(self.spelling):
            return self.work.merged(sent)

    def _done(self, source: RowSource) -> Partial:
        return self.work._done(source)

    def _merged(self, parts: Sequence[Partial]) -> Partial:
        return self.work._merged(parts)


@dataclass(frozen=True)
class WriteLabels(Count):
    """Writes the labels of file i to `paths[i]`, beside the columns `kept`, and counts the rows of each leaf.

    A file of labels appears under its name when it is complete, and a task that is repeated writes it again.

    no_rows : the columns `kept` of no rows, a record batch of pyarrow; a file without rows does not tell their types
    """

    paths: tuple[str, ...]
    kept: tuple[str, ...] = ()
    no_rows: Any = None

    def __call__(self, number: int, rows: Any, weight: Any = None) -> bytes:
        with in_partition(number), part_writer(place(self.paths[number]), self.kept) as writer:
            try:
                return self._counted(self.reading.source(rows, weight), writer.write).to_bytes()
            except NoRowsError:
                writer.write(np.empty(0, dtype=np.int64), self.no_rows)
                return self.nothing()
