"""What every clustering shares: its parameters, its progress, and the memory that the distances of all pairs need."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..checks import LINKAGES, Floats, bytes_text
from ..directions import METRICS
from ..errors import MemoryLimitError
from ..machine import free_memory, physical_memory
from ..progress import Report, reporter
from ..wording import parameter
from .distances import require_distances
from .matrix import with_prototypes

# The distances of all pairs of objects, computed on demand.
Pairs = Callable[[Report | None], Floats]

logger = logging.getLogger("silverbirch")


@contextmanager
def core_messages() -> Iterator[None]:
    """Messages of the core name the algorithm as Python does. They hold names of the core alone, no text of a user."""
    try:
        yield
    except ValueError as error:
        text = re.sub(r"algorithm='(\w+)'", lambda found: parameter("algorithm", found[1]), str(error))
        if text == str(error):
            raise
        raise type(error)(text) from None


def require_free(task: str, needed: int, remedy: str) -> None:
    """Raises MemoryLimitError if less memory is free than the distances of all pairs need."""
    available = available_memory()
    if available is not None and needed > available:
        raise MemoryLimitError(
            f"{task} needs {bytes_text(needed)} for the distances of all pairs and "
            f"{bytes_text(available)} of memory are free: {remedy}"
        )


def available_memory() -> int | None:
    """The bytes that are free, or else those of the machine; None if the system reports neither."""
    free = free_memory()
    return physical_memory() if free is None else free


@dataclass(frozen=True)
class Job:
    """A clustering to be done."""

    method: str
    algorithm: str
    threads: int
    progress: bool
    max_memory: int | None = None
    device: Any = None  # the GPU that computes; None for the CPU
    # What to do if the distances of all pairs do not fit into memory, and what needs none; "" for the usual linkages.
    remedy: str = "aggregate first with CFTree or Betula"
    alternatives: str = ""

    def report(self, task: str | None = None) -> AbstractContextManager[Report | None]:
        return reporter(self.progress, task or f"{self.method} linkage")

    def announce_pairs(self, count: int, vectors: int = 1) -> None:
        """Logs the memory for `vectors` numbers for each pair of objects; raises MemoryLimitError if it is too much.

        Called before the memory is taken, with all that will be taken at the same time.
        """
        needed = vectors * 8 * (count * (count - 1) // 2)
        task = f"{self.method} linkage of {count} objects"
        alternatives = self.alternatives or _linear_alternatives(self.method)
        logger.info("%s: %s for the distances of all pairs", task, bytes_text(needed))
        if self.max_memory is not None and needed > self.max_memory:
            fitting = int((self.max_memory / (4 * max(1, vectors))) ** 0.5)
            raise MemoryLimitError(
                f"{task} needs {bytes_text(needed)} for the distances of all pairs, {parameter('max_memory')} leaves "
                f"{bytes_text(self.max_memory)}: lower {parameter('max_leaves')} to {fitting} or raise "
                f"{parameter('max_memory')}; {alternatives}"
            )
        require_free(task, needed, f"{self.remedy}; {alternatives}")

    def require_unsquared(self, metric: Any) -> None:
        """Raises an error, as scipy does, if the linkage is defined on squared Euclidean distances."""
        if LINKAGES[self.method].squared:
            hint = f"; Betula(metric={metric!r}) allows it on unit rows" if metric in METRICS else ""
            raise ValueError(
                f"{parameter('metric', metric)} with method {self.method!r}: only 'euclidean' is defined there{hint}"
            )

    def cluster_pairs(self, pairs: Pairs, weight: Floats, what: str) -> Floats:
        """Computes the distances of all pairs, if there is memory for them, and clusters by them."""
        self.announce_pairs(len(weight), 1 + self.vectors_beside_distances())
        with self.report("distances") as report:
            distances = pairs(report)
        require_distances(distances, what)
        return self.cluster_distances(distances, weight)

    def vectors_beside_distances(self) -> int:
        """How many numbers for each pair `cluster_distances` takes beside the distances."""
        return 1 if self.method == "minimax" else 0

    def cluster_distances(self, distances: Floats, weight: Floats) -> Floats:
        """Overwrites the distances, unless the linkage has prototypes."""
        with core_messages(), self.report() as report:
            if LINKAGES[self.method].prototypes:
                by_prototypes = _core.cluster_distances_by_prototypes
                return with_prototypes(*by_prototypes(distances, weight, self.method, self.algorithm, report))
            return _core.cluster_distances(distances, weight, self.method, self.algorithm, report)[0]


def _linear_alternatives(method: str) -> str:
    known = LINKAGES.get(method)
    text = f"{parameter('linkage.method', 'ward')} needs memory for the objects alone"
    if known and known.cf_distance and not known.squared:
        text = f"{parameter('metric', 'sqeuclidean')} or {text.replace('needs', 'need')}"
    if known and known.by_members:
        text += f", and so do Euclidean distances with {parameter('algorithm', 'rounds')}, in quadratic time"
    return text
