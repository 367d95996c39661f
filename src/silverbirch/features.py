"""Cluster features: groups of points, each known by its weight, mean and sum of squared deviations."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .checks import Floats, as_rows, as_sses, as_threads, as_weights
from .progress import Report, as_report

if TYPE_CHECKING:
    from .rows import RowSource


class ClusterFeatures:
    """m cluster features (weight, mean, sse) in d dimensions, in read-only float64 arrays.

    weight : (m,) how many points each stands for
    mean : (m, d) their mean
    sse : (m,) the sum of their squared distances to that mean

    A point is the feature (1, x, 0): `ClusterFeatures(1, X, 0)` turns rows into features. Merging keeps all three exact
    up to rounding, wherever the data lies, because only differences of means are ever squared.
    """

    __slots__ = ("mean", "sse", "weight")

    weight: Floats
    mean: Floats
    sse: Floats

    def __init__(self, weight: Any, mean: Any, sse: Any) -> None:
        mean = np.array(as_rows(mean, name="mean", dtype=np.dtype(np.float64)))
        count = len(mean)
        weight = as_weights(weight, count, "weight").copy()
        self._set(weight, mean, as_sses(sse, weight).copy())

    @classmethod
    def _adopt(cls, weight: Floats, mean: Floats, sse: Floats) -> ClusterFeatures:
        """Arrays that are known to be right and that nobody else writes to."""
        features = cls.__new__(cls)
        features._set(weight, mean, sse)
        return features

    def _set(self, weight: Floats, mean: Floats, sse: Floats) -> None:
        for name, array in (("weight", weight), ("mean", mean), ("sse", sse)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cluster features are frozen: {name} cannot be set; make new ones")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cluster features are frozen: {name} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return (ClusterFeatures._adopt, (self.weight, self.mean, self.sse))

    def arrays(self) -> tuple[Floats, Floats, Floats]:
        return self.weight, self.mean, self.sse

    @property
    def n_dimensions(self) -> int:
        return int(self.mean.shape[1])

    def __len__(self) -> int:
        return len(self.weight)

    def __getitem__(self, item: Any) -> ClusterFeatures:
        """A selection of features, by slice, mask or numbers; a single number gives a selection of one."""
        if isinstance(item, int | np.integer):
            if not -len(self) <= item < len(self):
                raise IndexError(f"feature {item} of {len(self)}")
            item = slice(item, item + 1 or None)
        weight, mean, sse = (array[item] for array in self.arrays())
        if weight.ndim != 1 or mean.ndim != 2:
            raise IndexError("features are selected by a slice, a mask or a list of numbers")
        return ClusterFeatures._adopt(weight.copy(), mean.copy(), sse.copy())

    def __iter__(self) -> Iterator[ClusterFeatures]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClusterFeatures):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self.arrays(), other.arrays(), strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "cluster features are not rows: give them to CFTree.insert, linkage or Betula.partial_fit, or use the mean"
        )

    def __repr__(self) -> str:
        return f"ClusterFeatures({len(self)} features, {self.n_dimensions} dimensions, weight {self.weight.sum():g})"

    def merged_with(self, other: ClusterFeatures) -> ClusterFeatures:
        """Feature i of this merged with feature i of the other; one feature merges with each of many."""
        if not isinstance(other, ClusterFeatures):
            raise TypeError(f"can only merge with ClusterFeatures, not {type(other).__name__}")
        if self.n_dimensions != other.n_dimensions:
            raise ValueError(f"cannot merge features of {self.n_dimensions} and {other.n_dimensions} dimensions")
        count = max(len(self), len(other))
        if {len(self), len(other)} - {1, count}:
            raise ValueError(
                f"cannot merge {len(self)} with {len(other)} features one by one: lengths must agree or be 1"
            )
        return ClusterFeatures._adopt(*_core.merged_pairs(*self._repeated(count), *other._repeated(count)))

    def _repeated(self, count: int) -> tuple[Floats, ...]:
        return self.arrays() if len(self) == count else tuple(np.repeat(a, count, axis=0) for a in self.arrays())

    def refined(
        self, X: Any, weight: Any = None, *, n_jobs: int | None = None, progress: bool | Report | None = None
    ) -> ClusterFeatures:
        """The features of rows X (n, d), each row counted where the mean is exactly the nearest: one step of Lloyd's
        algorithm for k-means. Features that no row is nearest to are left out.

        Given the rows these features are made of, the new ones are finer, at the cost of one more pass. X is as in
        `CFTree.insert`; groups of rows that come in chunks are merged, so the last bits depend on the chunks.
        """
        from .rows import source_of

        return self._refined(source_of(X, weight), as_threads(n_jobs), as_report(progress, "nearest leaves"))

    def _refined(
        self, source: RowSource, threads: int, report: Report | None, *, may_list: bool = True
    ) -> ClusterFeatures:
        from .rows.passes import reported

        if source.n_dimensions != self.n_dimensions:
            raise ValueError(f"X has {source.n_dimensions} columns but the features have {self.n_dimensions}")
        index = _core.NearestIndex(self.mean, may_list=may_list)
        groups: ClusterFeatures | None = None
        for chunk, inner in reported(source, source.chunks(), report):
            rows = source.checked(chunk).rows
            nearest = index.nearest(rows, threads, inner)
            more = ClusterFeatures._adopt(*_core.grouped(rows, chunk.weight, nearest, len(self), None))
            groups = more if groups is None else groups.merged_with(more)
        assert groups is not None  # a source without rows raises an error
        return groups[groups.weight > 0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes weight, mean and sse to a file for `load`."""
        from .storage.loading import save

        save(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ClusterFeatures:
        """The features in a file; of a tree, a dendrogram or a model, those of its leaves."""
        from .storage.loading import load_as

        features: ClusterFeatures = load_as(cls, path)
        return features

    def total(self) -> ClusterFeatures:
        """All features merged into one."""
        weight = self.weight.sum()
        if not weight > 0:
            raise ValueError("there is nothing to add up: all weights are zero")
        origin = self.mean[0]  # sums are taken relative to a point of the data, so that a far origin costs no digits
        mean = origin + (self.weight / weight) @ (self.mean - origin)
        sse = self.sse[self.weight > 0].sum() + self.weight @ ((self.mean - mean) ** 2).sum(axis=1)
        return ClusterFeatures._adopt(np.array([weight]), mean[None], np.array([sse]))
