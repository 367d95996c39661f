"""The CF-tree: aggregates any number of rows into a bounded number of cluster features."""

from __future__ import annotations

import contextlib
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
from .names import Absorption, CFDistance
from .progress import Report, reporter
from .rows import Chunk, RowSource, source_of
from .rows.passes import ForEachChunk, gathered, reported
from .saved import Saved
from .wording import parameter

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
    """The limits that follow from max_memory.

    The nodes may take three tenths of it, because a rebuild holds them twice. A flat copy of the leaves may take a
    sixth, because the features and the linkage hold several such copies.
    """

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
                f"a memory of {bytes_text(max_memory)} does not hold a tree of rows of {n_dimensions} columns: raise "
                f"{parameter('max_memory')}"
            )
        return cls(leaves, nodes, entries)


class CFTree(Saved):
    """A BETULA CF-tree (Lang & Schubert): aggregates rows in one pass, in bounded memory, numerically stable.

    Parameters
    ----------
    threshold : float, default 0.0
        The size up to which a leaf absorbs rows, measured by `absorption`; 0 absorbs exact duplicates only.
    max_leaves : int, default None
        The largest number of leaves; None for no limit. A tree with more leaves is rebuilt with a larger threshold.
    max_memory : int or str, default None
        Bytes, or a string like "256MB". It limits the number of leaves once the number of columns is known.
    distance : str, default "ward"
        The CF distance by which a row descends to the nearest child: "centroid" (D0), "manhattan" (D1), "average" (D2),
        "diameter" (D3), "ward" (D4) or "radius" (R).
    absorption : str, default "radius"
        Which size of a leaf `threshold` bounds; the same names.
    branching : int, default None
        The largest number of entries in a node; None chooses by the number of columns.
    dtype : float32, float64 or None, default None
        Round rows to this precision before insertion; None inserts them as they are. Sums and means are always float64.
    n_jobs : int, default None
        Number of threads for insertion; None is one, -1 is one for each physical core that this process may use.
        It changes the time and nothing else.

    Raises
    ------
    ValueError
        A parameter is not allowed.

    Notes
    -----
    The same rows in the same order give the same leaves, to the bit, whatever the chunks. Memory is O(max_leaves · d),
    whatever the number of rows. Several threads may use one tree; it carries out one call at a time.

    Examples
    --------
    >>> import numpy as np, silverbirch as sb
    >>> tree = sb.CFTree(max_leaves=100)
    >>> for seed in range(3):  # chunks of a stream
    ...     _ = tree.insert(np.random.default_rng(seed).normal(size=(10_000, 2)))
    >>> tree.n_points, tree.n_leaves <= 100
    (30000.0, True)
    >>> Z = sb.linkage(tree.features, "ward")
    >>> len(Z) == tree.n_leaves - 1
    True
    """

    def __init__(
        self,
        threshold: float = 0.0,
        max_leaves: int | None = None,
        max_memory: int | str | None = None,
        distance: CFDistance = "ward",
        absorption: Absorption = "radius",
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
        """Drops what was computed from earlier leaves."""
        self._features: ClusterFeatures | None = None
        self._index: _core.NearestIndex | None = None

    def insert(self, X: Any, weight: Any = None, *, progress: bool | Report | None = None) -> CFTree:
        """Adds rows or cluster features to the tree.

        It takes time O(d log(max_leaves)) for each row. An interrupt keeps the rows inserted so far.

        Parameters
        ----------
        X : array (n, d), data frame, path, stream or ClusterFeatures
            The rows: anything that `read_chunks` takes. All but arrays are read in chunks.
        weight : array (n,) or float, default None
            How often each row counts; None counts each row once. A weight of 0 is the same as no row.
        progress : bool or function, default None
            True shows a bar; a function is called with (done, total).

        Returns
        -------
        CFTree
            The tree itself.

        Raises
        ------
        ValueError
            A value is not finite, a weight is negative, or the number of columns differs. The tree is left as it was.
        TypeError
            The rows are not numbers. The tree is left as it was.
        """
        with reporter(progress, "tree") as report:
            self._insert(X, weight, report)
        return self

    def _insert(self, X: Any, weight: Any, report: Report | None) -> None:
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

    def _undone_by_failure(self, source: RowSource) -> Iterator[Chunk]:
        """The chunks to insert. If a chunk cannot be read or holds a bad value, the tree becomes what it was before.

        An interrupt of the insertion is raised outside this generator, so it keeps the rows inserted so far. The only
        chunk of a source needs neither a copy of the tree nor a check here: the compiled tree takes all rows of a
        chunk, or none if a value is bad.
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

    @contextlib.contextmanager
    def _unchanged_by_failure(self) -> Iterator[None]:
        """A failure or an interrupt brings back the tree as it was before."""
        from .storage.tree import restored, stored

        before = None if self._core is None else stored(self._core)
        try:
            yield
        except BaseException:
            self._core = None if before is None else restored(*before, self._core_options)
            self._forget()
            raise

    def _rounded(self, chunk: Chunk) -> Chunk:
        """The chunk in the precision of the tree."""
        if self.dtype is None or chunk.rows.dtype == self.dtype:
            return chunk
        with np.errstate(over="ignore"):  # what overflows float32 becomes infinite and is refused
            return replace(chunk, rows=chunk.rows.astype(self.dtype), checked=False)

    def merge(self, tree: CFTree, *, progress: bool | Report | None = None) -> CFTree:
        """Adds the leaves of another tree to this tree.

        If both trees have the same `absorption`, the threshold of this tree becomes the larger of the two, because the
        inserted leaves are as coarse as the threshold of their own tree.

        Parameters
        ----------
        tree : CFTree
            A tree of rows with the same columns; it is not changed.
        progress : bool or function, default None
            True shows a bar; a function is called with (done, total).

        Returns
        -------
        CFTree
            The tree itself.

        Raises
        ------
        ValueError
            The number of columns differs.
        """
        if not isinstance(tree, CFTree):
            raise TypeError(f"can only merge with a CFTree, not {type(tree).__name__}")
        with tree._lock:
            if tree.n_leaves == 0:
                return self
            features, threshold = tree.features, tree.threshold
        with reporter(progress, "tree") as report, self._changing(features.n_dimensions) as core:
            if tree.absorption == self.absorption:  # else the two thresholds have different units
                core.raise_threshold(threshold**2)
            core.insert_features(*features.arrays(), report)
        return self

    def decay(self, factor: float, lightest: float = 0.01) -> CFTree:
        """Makes everything inserted so far count less, so that the tree follows a stream that moves.

        The weight and sse of every leaf are multiplied by `factor`; means, threshold and limits stay. Leaves that
        are then too light are removed; the others keep their order. `n_points` becomes the weight that is left. A
        tree without leaves is as it was when new. An interrupt leaves the tree as it was. It takes time and memory
        O(n_leaves · d).

        Parameters
        ----------
        factor : float
            What is left of each weight: greater than 0 and at most 1. With 0.9 after every batch, a row counts 0.35
            after ten batches.
        lightest : float, default 0.01
            Leaves of less weight are removed. 0 keeps a leaf as long as its weight can be represented (1e-30).

        Returns
        -------
        CFTree
            The tree itself.

        Raises
        ------
        ValueError
            A parameter is not allowed. The tree is left as it was.

        Examples
        --------
        >>> import silverbirch as sb
        >>> tree = sb.CFTree().insert([[0.0], [5.0]], weight=[100, 1])
        >>> tree.decay(0.5).features.weight
        array([50. ,  0.5])
        >>> tree.decay(0.5, lightest=1).features.weight
        array([25.])
        """
        kept = as_threshold(factor, "factor")
        if not 0 < kept <= 1:
            raise ValueError(f"factor={factor!r}: must be greater than 0 and at most 1, the share of weight to keep")
        lightest = as_threshold(lightest, "lightest")
        with self._lock:
            if self._core is None or self._core.leaf_count == 0:
                return self
            with self._changing(self._core.dim) as core:
                core.decay(kept, lightest, None)
            if core.leaf_count == 0:
                self._core = None
        return self

    @contextlib.contextmanager
    def _changing(self, n_dimensions: int) -> Iterator[Core]:
        """The compiled tree for rows of that width, locked; drops what was computed from earlier leaves."""
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
        """The compiled tree for rows of that width; the first rows make it."""
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
        """The cluster features of the leaves."""
        with self._lock:
            if self._features is not None:
                return self._features
            features = ClusterFeatures._adopt(*self._filled_core().leaves())
            if not self._busy:  # else the leaves are still changing
                self._features = features
            return features

    def assign(self, X: Any, *, n_jobs: int | None = None, progress: bool | Report | None = None) -> NDArray[np.int64]:
        """Returns the number of the leaf whose mean is nearest, for each row.

        The result is exact: of equally near leaves it is the lowest.

        Parameters
        ----------
        X : array (n, d), data frame, path or stream
            The rows, as `insert` takes them.
        n_jobs : int, default None
            Number of threads; None is one, -1 is one for each physical core that this process may use.
            It changes the time and nothing else.
        progress : bool or function, default None
            True shows a bar; a function is called with (done, total).

        Returns
        -------
        int64 array (n,)
            Row i belongs to `features[result[i]]`.

        Raises
        ------
        ValueError
            The tree is empty, a value is not finite, or the number of columns differs.
        """
        with reporter(progress, "nearest leaves") as report:
            return self._assign(source_of(X), as_threads(n_jobs), report)

    def _assign(
        self, source: RowSource, threads: int, report: Report | None, also: ForEachChunk | None = None
    ) -> NDArray[np.int64]:
        with self._lock:
            dim = self._filled_core().dim
            index = self._index or _core.NearestIndex(self.features.mean, threads, may_list=self.max_memory is None)
            if not self._busy:
                self._index = index

        _check_width(source.n_dimensions, dim)

        def nearest(chunk: Chunk, inner: Report | None) -> NDArray[np.int64]:
            return source.nearest(index, self._rounded(chunk), threads, inner)

        return gathered(source, nearest, report, also)

    def _filled_core(self) -> Core:
        if self._core is None or self._core.leaf_count == 0:
            raise ValueError("the tree is empty: insert rows first")
        return self._core

    @property
    def threshold(self) -> float:
        """The current threshold, the largest of all parts of the tree; it grows with each rebuild."""
        with self._lock:
            return self._initial_threshold if self._core is None else float(np.sqrt(self._core.squared_threshold))

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        with self._lock:
            return 0 if self._core is None else self._core.leaf_count

    @property
    def n_rebuilds(self) -> int:
        """How often the tree, or a part of it, was rebuilt with a larger threshold."""
        with self._lock:
            return 0 if self._core is None else self._core.rebuild_count

    @property
    def n_points(self) -> float:
        """The total weight inserted, less what `decay` took: the number of rows if each has weight 1."""
        with self._lock:
            return 0.0 if self._core is None else self._core.total_weight

    @property
    def memory_bytes(self) -> int:
        """The bytes that the nodes take."""
        with self._lock:
            return 0 if self._core is None else self._core.memory_bytes

    def __len__(self) -> int:
        return self.n_leaves

    def __repr__(self) -> str:
        return f"CFTree({self.n_leaves:,} leaves, {self.n_points:,.12g} points, threshold {self.threshold:.4g})"

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        from .storage.tree import to_file

        return to_file(self)

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, NDArray[Any]]]) -> None:
        from .storage.tree import from_file

        self.__dict__.update(from_file(*state).__dict__)


def _check_width(columns: int, expected: int) -> None:
    if columns != expected:
        raise ValueError(f"X has {columns} columns but the tree has {expected}: pass the same columns")
