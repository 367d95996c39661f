"""Cluster features: the weight, mean and sum of squared deviations of groups of points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .checks import Floats, as_flag, as_rows, as_sses, as_threads, as_weights
from .progress import Report, reporter
from .saved import Saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .rows import RowSource


class ClusterFeatures(Saved):
    """m cluster features (weight, mean, sse) in d dimensions, as read-only float64 arrays.

    Each feature summarises a group of points. A single point x is the feature (1, x, 0), so `ClusterFeatures(1, X, 0)`
    turns rows into features.

    Parameters
    ----------
    weight : array (m,) or float
        The number of points in each group. A single number applies to all groups.
    mean : array (m, d)
        The mean of each group.
    sse : array (m,) or float
        The sum of squared distances of the points to the mean of their group. A single number applies to all groups.

    Raises
    ------
    ValueError
        The lengths differ, a value is not finite, or a weight or sse is negative.

    Notes
    -----
    Merging is exact up to rounding even for data far from the origin, because only differences of means are squared.
    The features take 8 (d + 2) bytes each. Slices, masks and lists of numbers select features: `features[:10]`.

    Examples
    --------
    >>> import silverbirch as sb
    >>> points = sb.ClusterFeatures(1, [[0.0, 0.0], [2.0, 0.0], [9.0, 9.0]], 0)
    >>> pair = points[0].merged_with(points[1])
    >>> pair.weight.tolist(), pair.mean.tolist(), pair.sse.tolist()
    ([2.0], [[1.0, 0.0]], [2.0])
    """

    __slots__ = {
        "mean": "The mean of each group, (m, d).",
        "sse": "The sum of squared distances of the points to the mean of their group, (m,).",
        "weight": "The number of points in each group, (m,).",
    }

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
        """Makes features of arrays without a check or a copy: the caller vouches for them and gives them up."""
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
        """Returns (weight, mean, sse)."""
        return self.weight, self.mean, self.sse

    @property
    def n_dimensions(self) -> int:
        """The number of columns d."""
        return int(self.mean.shape[1])

    def __len__(self) -> int:
        return len(self.weight)

    def __getitem__(self, item: Any) -> ClusterFeatures:
        """The features that a slice, a mask or a list of numbers selects; a single number selects one feature."""
        if isinstance(item, int | np.integer):
            if not -len(self) <= item < len(self):
                raise IndexError(f"feature {item} does not exist: there are {len(self)}, numbered from 0")
            item = slice(item, item + 1 or None)
        weight, mean, sse = (array[item] for array in self.arrays())
        if weight.ndim != 1 or mean.ndim != 2:
            raise IndexError("this selects no list of features: use a slice, a mask or a list of numbers")
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
        return (
            f"ClusterFeatures({len(self):,} features, {self.n_dimensions} dimensions, weight {self.weight.sum():,.12g})"
        )

    def merged_with(self, other: ClusterFeatures) -> ClusterFeatures:
        """Returns feature i of this set merged with feature i of the other set, for every i.

        Parameters
        ----------
        other : ClusterFeatures
            As many features as in this set; a set of one feature is merged with each feature of the other set.

        Returns
        -------
        ClusterFeatures
            The merged features.

        Raises
        ------
        ValueError
            The numbers of features or of columns differ.
        """
        if not isinstance(other, ClusterFeatures):
            raise TypeError(f"can only merge with ClusterFeatures, not {type(other).__name__}")
        if self.n_dimensions != other.n_dimensions:
            raise ValueError(
                f"cannot merge features of {self.n_dimensions} and {other.n_dimensions} columns: use the same columns"
            )
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
        """Returns the features of rows X, each row counted in the feature whose mean is nearest.

        This is one step of Lloyd's algorithm for k-means. If X are the rows that these features summarise, the new
        features have a smaller total sse. It takes one pass over X.

        Parameters
        ----------
        X : array (n, d), data frame, path or stream
            The rows, as `CFTree.insert` takes them.
        weight : array (n,) or float, default None
            How often each row counts; None counts each row once.
        n_jobs : int, default None
            Number of threads; None is one, -1 is one for each physical core that this process may use.
            It changes the time and nothing else.
        progress : bool or function, default None
            True shows a bar; a function is called with (done, total).

        Returns
        -------
        ClusterFeatures
            One feature for each mean that is nearest to a row; means without rows are left out. The last bits depend
            on how the rows are chunked.

        Raises
        ------
        ValueError
            A value is not finite, or the number of columns differs.
        """
        from .rows import source_of

        with reporter(progress, "nearest leaves") as report:
            return self._refined(source_of(X, weight), as_threads(n_jobs), report)

    def _refined(
        self, source: RowSource, threads: int, report: Report | None, *, may_list: bool = True
    ) -> ClusterFeatures:
        from .rows.passes import reported

        if source.n_dimensions != self.n_dimensions:
            raise ValueError(
                f"X has {source.n_dimensions} columns but the features have {self.n_dimensions}: pass the same columns"
            )
        index = _core.NearestIndex(self.mean, threads, may_list=may_list)
        groups: ClusterFeatures | None = None
        for chunk, inner in reported(source, source.chunks(), report):
            nearest = source.nearest(index, chunk, threads, inner)
            more = ClusterFeatures._adopt(*_core.grouped(chunk.rows, chunk.weight, nearest, len(self), None))
            groups = more if groups is None else groups.merged_with(more)
        assert groups is not None  # a source without rows raises an error
        return groups[groups.weight > 0]

    def total(self) -> ClusterFeatures:
        """Returns all features merged into one.

        Returns
        -------
        ClusterFeatures
            A set of one feature.

        Raises
        ------
        ValueError
            All weights are zero.
        """
        weight = self.weight.sum()
        if not weight > 0:
            raise ValueError("all weights are zero: at least one feature needs a positive weight")
        origin = self.mean[0]  # sums are relative to a point of the data, so that data far from 0 lose no digits
        mean = origin + (self.weight / weight) @ (self.mean - origin)
        sse = self.sse[self.weight > 0].sum() + self.weight @ ((self.mean - mean) ** 2).sum(axis=1)
        return ClusterFeatures._adopt(np.array([weight]), mean[None], np.array([sse]))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        labels: Any = None,
        columns: tuple[int, int] | None = None,
        radii: bool | None = None,
        colors: Any = None,
        **style: Any,
    ) -> Axes:
        """Draws the features with matplotlib: discs at the means, whose area follows the weight, and pale rings.

        The radius of a ring is √(sse / weight), the root mean squared distance of its points to the mean, in the units
        of the axes.

        Parameters
        ----------
        ax : matplotlib Axes, default None
            Where to draw; None makes a new figure.
        labels : int array (m,), default None
            The cluster of each feature, shown by its colour; features of negative labels are grey.
        columns : (int, int), default None
            The two columns to draw. None takes the first two principal axes of the weighted means, or the columns
            themselves if there are no more than two.
        radii : bool, default None
            Whether to draw the rings; None draws them for up to 500 features. In many dimensions they are wide: the
            radius counts the spread in all columns.
        colors : list of str, default None
            A colour for each label 0, 1, …; `Dendrogram.colors` gives those of its plot. None takes ten in turn.
        **style : optional
            Passed to matplotlib's scatter.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing. Both axes have the same scale.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        ValueError
            There is no such column, the number of labels is not that of the features, or all weights are zero.
        """
        from .plot.scatter import draw_features

        return draw_features(
            self, ax, labels, columns, None if radii is None else as_flag(radii, "radii"), colors, style
        )
