"""The CF-tree: any number of rows into a bounded number of cluster features."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _core
from .checks import (
    ABSORPTIONS,
    CF_DISTANCES,
    as_bytes,
    as_choice,
    as_count,
    as_threads,
    as_threshold,
    bytes_text,
)
from .features import ClusterFeatures
from .progress import Report, as_report
from .rows import Chunk, RowSource, source_of
from .rows.passes import gathered, reported

Core: TypeAlias = _core.CfTree
_NO_LIMIT = 2**62


class Options(NamedTuple):
    """As the compiled tree takes them."""

    distance: str
    absorption: str
    squared_threshold: float
    max_leaves: int
    max_nodes: int
    branching: int
    parts: int = 0  # as many as suit the rest


@dataclass(frozen=True)
class _Limits:
    """What max_memory allows. The nodes may take three tenths of it, because a rebuild holds them twice; a flat copy of
    the leaves a sixth, because the features and what the linkage works on and records are some."""

    leaves: int
    nodes: int
    branching: int

    @classmethod
    def within(cls, max_memory: int, n_dimensions: int, branching: int | None) -> _Limits:
        bytes_of_leaf = 8 * (n_dimensions + 2)
        leaves = max_memory // 6 // (bytes_of_leaf + 32)
        node_bytes = max_memory * 3 // 10
        entries = branching or _core.default_branching(n_dimensions, node_bytes)
        nodes = node_bytes // _core.bytes_per_node(n_dimensions, entries)
        if leaves < 2 or nodes < 2:
            raise ValueError(
                f"max_memory={bytes_text(max_memory)} does not hold a tree of rows of {n_dimensions} columns: raise it"
            )
        return cls(leaves, nodes, entries)


class CFTree:
    """A BETULA CF-tree (Lang & Schubert): one pass, bounded memory, numerically stable.

    Parameters
    ----------
    threshold : how large a leaf may grow, in the units of `absorption`; 0 merges exact duplicates only
    max_leaves : when there are more, the tree is rebuilt with a larger threshold; None for no limit
    max_memory : bytes, or a string like "256MB", turned into a limit of leaves once the width of the rows is known
    distance : which child a row goes down to: "centroid" (D0), "manhattan" (D1), "average" (D2), "diameter" (D3),
        "ward" (D4) or "radius" (R)
    absorption : which size of a leaf the threshold bounds, by the same names
    branching : entries of a node; None chooses by the number of dimensions
    dtype : float32 or float64 to round rows to that precision on the way in; None takes them as they are. Sums and
        means are float64 either way.
    n_jobs : threads for insertion; None is one, -1 all. They change the time and nothing else

    The same rows in the same order give the same tree, to the bit, in chunks of any size. The tree may be used from
    several threads; their calls follow each other.
    """

    def __init__(
        self,
        threshold: float = 0.0,
        max_leaves: int | None = None,
        max_memory: int | str | None = None,
        distance: str = "ward",
        absorption: str = "radius",
        branching: int | None = None,
        dtype: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self._initial_threshold = as_threshold(threshold)
        self.max_leaves = None if max_leaves is None else as_count(max_leaves, "max_leaves")
        self.max_memory = None if max_memory is None else as_bytes(max_memory)
        self.distance = as_choice(distance, "distance", CF_DISTANCES)
        self.absorption = as_choice(absorption, "absorption", ABSORPTIONS)
        self.branching = branching if branching is None else as_count(branching, "branching", least=2, most=4096)
        if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype={dtype!r}: must be float32, float64 or None")
        self.dtype = None if dtype is None else np.dtype(dtype)
        as_threads(n_jobs)
        self.n_jobs = n_jobs
        self._reset(None)

    def _reset(self, core: Core | None) -> None:
        self._core = core
        self._lock = threading.RLock()
        self._busy = False
        self._forget()

    def _forget(self) -> None:
        """What was computed from the leaves no longer holds."""
        self._features: ClusterFeatures | None = None
        self._index: _core.NearestIndex | None = None

    def insert(self, X: Any, weight: Any = None, *, progress: bool | Report | None = None) -> CFTree:
        """Adds rows (n, d), each counting `weight` times, or cluster features. Returns the tree.

        X : an array, a data frame, or whatever `read_chunks` takes: paths, Arrow tables and streams, iterators of
            chunks. Rows that do not come as an array are read a chunk at a time
        progress : True for a line on stderr, or a function of (done, total)

        Bad input raises and leaves the tree as it was. An interrupt leaves the rows inserted up to then.
        """
        report = as_report(progress, "tree")
        if isinstance(X, ClusterFeatures):
            if weight is not None:
                raise ValueError("cluster features have weights of their own: leave `weight` out")
            with self._changing(X.n_dimensions) as core:
                core.insert_features(*X.arrays(), report)
        else:
            source = source_of(X, weight)
            with self._lock:
                for chunk, inner in reported(source, self._undone_by_failure(source), report):
                    with self._changing(chunk.rows.shape[1]) as core:
                        bad = core.insert_rows(chunk.rows, chunk.weight, inner, chunk.checked)
                    if bad is not None:
                        raise source.refusal(chunk, *bad)
        return self

    def _undone_by_failure(self, source: RowSource) -> Iterator[Chunk]:
        """The chunks to insert. If reading one fails, or one holds a bad value, the tree is set back to what it was. An
        error outside, an interrupt of the insertion, leaves the rows inserted up to then.

        The only chunk of a source needs neither a copy of the tree nor a check here: the compiled tree checks values as
        it inserts them, and takes all rows of a chunk or none.
        """
        from .storage.tree import restored, stored

        before = None
        try:
            for chunk in map(self._rounded, source.chunks()):
                if len(chunk) == source.n_rows:
                    yield chunk
                    continue
                if before is None:
                    before = stored(self._core)
                yield source.checked(chunk)
        except Exception:
            if before is not None:
                self._core = restored(*before, self._core_options)
                self._forget()
            raise

    def _rounded(self, chunk: Chunk) -> Chunk:
        """The chunk in the precision of the tree."""
        if self.dtype is None or chunk.rows.dtype == self.dtype:
            return chunk
        with np.errstate(over="ignore"):  # what overflows float32 becomes infinite and is refused
            return replace(chunk, rows=chunk.rows.astype(self.dtype), checked=False)

    def merge(self, tree: CFTree, *, progress: bool | Report | None = None) -> CFTree:
        """Adds all that another tree holds, leaf by leaf. Returns this tree.

        The other's leaves are as coarse as its threshold, so this tree's threshold rises to that, where both bound the
        same criterion.
        """
        if not isinstance(tree, CFTree):
            raise TypeError(f"can only merge with a CFTree, not {type(tree).__name__}")
        with tree._lock:
            if tree.n_leaves == 0:
                return self
            features, threshold = tree.features, tree.threshold
        with self._changing(features.n_dimensions) as core:
            if tree.absorption == self.absorption:  # else the two thresholds have different units
                core.raise_threshold(threshold**2)
            core.insert_features(*features.arrays(), as_report(progress, "tree"))
        return self

    @contextlib.contextmanager
    def _changing(self, n_dimensions: int) -> Iterator[Core]:
        """The compiled tree, locked, for rows of that width; what was computed from the old leaves is dropped."""
        with self._lock:
            if self._busy:
                raise RuntimeError("the tree is being changed: a progress callback or signal handler can only read it")
            self._core = self._core_for(n_dimensions)
            self._core.set_threads(as_threads(self.n_jobs))
            self._busy = True
            self._forget()
            try:
                yield self._core
            finally:
                self._busy = False

    def _core_for(self, n_dimensions: int) -> Core:
        """The compiled tree for rows of that width; made when the first ones arrive."""
        if self._core is None or self._core.leaf_count == 0:
            return _core.CfTree(n_dimensions, *self._core_options(n_dimensions, self._initial_threshold**2))
        _check_width(n_dimensions, self._core.dim)
        return self._core

    def _core_options(self, n_dimensions: int, squared_threshold: float) -> Options:
        leaves = _NO_LIMIT if self.max_leaves is None else min(self.max_leaves, _NO_LIMIT)
        branching = self.branching or _core.default_branching(n_dimensions, _NO_LIMIT)
        # Far outliers leave nodes all but empty: several times the usual number of nodes, not one for each leaf.
        nodes = min(16 + 8 * leaves // branching, _NO_LIMIT)
        if self.max_memory is not None:
            limits = _Limits.within(self.max_memory, n_dimensions, self.branching)
            leaves, nodes, branching = min(leaves, limits.leaves), min(nodes, limits.nodes), limits.branching
        return Options(self.distance, self.absorption, squared_threshold, leaves, nodes, branching)

    @property
    def features(self) -> ClusterFeatures:
        """The leaves."""
        with self._lock:
            if self._features is not None:
                return self._features
            features = ClusterFeatures._adopt(*self._filled_core().leaves())
            if not self._busy:  # else the leaves are still changing
                self._features = features
            return features

    def assign(self, X: Any, *, n_jobs: int | None = None, progress: bool | Report | None = None) -> NDArray[np.int64]:
        """For each row the number of the leaf whose mean is exactly the nearest; the lowest one among equals. X is as
        in `insert`."""
        return self._assign(source_of(X), as_threads(n_jobs), as_report(progress, "nearest leaves"))

    def _assign(self, source: RowSource, threads: int, report: Report | None) -> NDArray[np.int64]:
        with self._lock:
            dim = self._filled_core().dim
            index = self._index or _core.NearestIndex(self.features.mean, may_list=self.max_memory is None)
            if not self._busy:
                self._index = index

        _check_width(source.n_dimensions, dim)

        def nearest(chunk: Chunk, inner: Report | None) -> NDArray[np.int64]:
            return index.nearest(source.checked(self._rounded(chunk)).rows, threads, inner)

        return gathered(source, nearest, report)

    def _filled_core(self) -> Core:
        if self._core is None or self._core.leaf_count == 0:
            raise ValueError("the tree is empty: insert rows first")
        return self._core

    @property
    def threshold(self) -> float:
        """The threshold now, the largest of all parts; it grows with each rebuild."""
        with self._lock:
            return self._initial_threshold if self._core is None else float(np.sqrt(self._core.squared_threshold))

    @property
    def n_leaves(self) -> int:
        with self._lock:
            return 0 if self._core is None else self._core.leaf_count

    @property
    def n_rebuilds(self) -> int:
        """How often the tree, or a part of it alone, was rebuilt with a larger threshold."""
        with self._lock:
            return 0 if self._core is None else self._core.rebuild_count

    @property
    def n_points(self) -> float:
        """The total weight inserted: the number of rows where all have weight 1."""
        with self._lock:
            return 0.0 if self._core is None else self._core.total_weight

    @property
    def memory_bytes(self) -> int:
        """What the nodes take now."""
        with self._lock:
            return 0 if self._core is None else self._core.memory_bytes

    def __len__(self) -> int:
        return self.n_leaves

    def __repr__(self) -> str:
        return f"CFTree({self.n_leaves:,} leaves, {self.n_points:,.12g} points, threshold {self.threshold:.4g})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole tree; `load` gives it back so that it goes on to the same bits."""
        from .storage.loading import save

        save(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CFTree:
        """The tree in a file, or that of the model in it."""
        from .storage.loading import load_as

        tree: CFTree = load_as(cls, path)
        return tree

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        from .storage.tree import to_file

        return to_file(self)

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, NDArray[Any]]]) -> None:
        from .storage.tree import from_file

        self.__dict__.update(from_file(*state).__dict__)


def _check_width(columns: int, expected: int) -> None:
    if columns != expected:
        raise ValueError(f"X has {columns} columns but the tree has {expected}: pass the same columns")
