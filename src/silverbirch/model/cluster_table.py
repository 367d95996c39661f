"""The table of the clusters of a model: sizes, centres, neighbours, names and the columns that distinguish them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats, as_count, as_flag
from ..features import ClusterFeatures

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

MOST_DISTINGUISHING = 4
_SHOWN_ROWS = 20
_BLOCK_BYTES = 32 << 20


class Cluster(NamedTuple):
    """One row of a `ClusterTable`."""

    number: int
    name: str
    rows: int
    weight: float
    rmsd: float
    center: Floats
    nearest: int
    nearest_distance: float
    distinguishing: dict[str, float]  # column: effect size

    def __repr__(self) -> str:
        """All but the centre, which may have hundreds of columns."""
        facts = (f"{name}={value!r}" for name, value in self._asdict().items() if name != "center")
        return f"Cluster({', '.join(facts)})"


@dataclass(frozen=True, eq=False, repr=False)
class ClusterTable:
    """The clusters of a model as a table, one row for each cluster; `Betula.clusters_` makes it.

    `table[3]` is cluster 3, and iterating gives one cluster after the other. All arrays are read-only.

    Parameters
    ----------
    number : int64 array (k,)
        0 … k - 1, the labels.
    name : tuple of str
        The name of each cluster, "" without a name.
    rows : int64 array (k,)
        The number of rows. If `labelled` is False it is the weight, rounded.
    weight : float64 array (k,)
        The sum of the weights of the rows.
    rmsd : float64 array (k,)
        The root mean squared distance of the rows to the centre; 0 for a cluster without rows.
    center : float64 array (k, d)
        The mean of the rows; for a cluster without rows the mean of the rows that its leaves absorbed.
    nearest : int64 array (k,)
        The other cluster whose centre is nearest; -1 if there is no other cluster.
    nearest_distance : float64 array (k,)
        The Euclidean distance of the two centres; NaN if there is no other cluster.
    distinguishing : int64 array (k, min(d, 4))
        The columns in which the centre differs most from the mean of all rows, by `effect`, the largest first.
    effect : float64 array (k, min(d, 4))
        The difference of the centre from the mean of all rows in these columns, divided by `deviation`.
    columns : tuple of str
        The names of the columns, "column 0", … if they have none, "projection 0", … if rows are projected.
    mean : float64 array (d,)
        The mean of all rows.
    deviation : float64 array (d,)
        The standard deviation of each column over all rows, see Notes.
    labelled : bool
        True: the numbers are those of the rows as `fit` labelled them. False: as the leaves absorbed them.
    order : int64 array (k,), default None
        The clusters from left to right as the dendrogram draws them, so that neighbours are similar; None if that is
        not known.

    Notes
    -----
    The variance of a column is that of the means of the leaves plus the share 1/d of the variance within leaves, which
    is known only as a sum over all d columns: Σ w (mean - total mean)² / Σ w + Σ sse / (d Σ w). It is exact where each
    leaf holds equal rows, and nearly so where the leaves are small. A column whose values vary far less than those of
    other columns gets too large a deviation: scale the columns, which the clustering needs too.

    Examples
    --------
    >>> import silverbirch as sb
    >>> table = sb.Betula(2).fit([[0.0, 1.0], [0.0, 3.0], [8.0, 2.0]]).clusters_
    >>> table.rows.tolist(), table.center.tolist(), table[1].rmsd
    ([2, 1], [[0.0, 2.0], [8.0, 2.0]], 0.0)
    """

    number: NDArray[np.int64]
    name: tuple[str, ...]
    rows: NDArray[np.int64]
    weight: Floats
    rmsd: Floats
    center: Floats
    nearest: NDArray[np.int64]
    nearest_distance: Floats
    distinguishing: NDArray[np.int64]
    effect: Floats
    columns: tuple[str, ...]
    mean: Floats
    deviation: Floats
    labelled: bool
    order: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for value in self.__dict__.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __len__(self) -> int:
        return len(self.number)

    @property
    def overall_rmsd(self) -> float:
        """The root mean squared distance of the rows of all clusters to the centre of their cluster."""
        weight = float(self.weight.sum())
        return float(np.sqrt(self.weight @ self.rmsd**2 / weight)) if weight > 0 else 0.0

    def __getitem__(self, number: int) -> Cluster:
        if not -len(self) <= number < len(self):
            raise IndexError(f"cluster {number} does not exist: there are {len(self)}, numbered from 0")
        return Cluster(
            int(self.number[number]),
            self.name[number],
            int(self.rows[number]),
            float(self.weight[number]),
            float(self.rmsd[number]),
            self.center[number],
            int(self.nearest[number]),
            float(self.nearest_distance[number]),
            self._distinguishing(number),
        )

    def __iter__(self) -> Iterator[Cluster]:
        return (self[number] for number in range(len(self)))

    def _distinguishing(self, number: int) -> dict[str, float]:
        found = zip(self.distinguishing[number].tolist(), self.effect[number].tolist(), strict=True)
        return {self.columns[column]: effect for column, effect in found if effect != 0}

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the table as a data frame, indexed by the number of the cluster.

        Returns
        -------
        pandas.DataFrame
            The columns name, rows, weight, rmsd, nearest, nearest_distance and distinguishing (as text), then the
            coordinates of the centre as "center of " and the name of the column.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        names = ("rows", "weight", "rmsd", "nearest", "nearest_distance")
        facts = pandas.DataFrame(
            {"name": self.name}
            | {name: getattr(self, name) for name in names}
            | {"distinguishing": [self._text(number) for number in range(len(self))]},
            index=pandas.Index(self.number, name="cluster"),
        )
        centers = pandas.DataFrame(
            self.center, index=facts.index, columns=[f"center of {column}" for column in self.columns]
        )
        return pandas.concat([facts, centers], axis=1)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_clusters: int = 60,
        max_columns: int = 40,
        colorbar: bool = True,
        **style: Any,
    ) -> Axes:
        """Draws a heat map of the centres with matplotlib: a row for each cluster, a column for each column.

        Colours are the differences from the mean of all rows, in standard deviations. Clusters are in the order of the
        dendrogram, so that neighbours are similar. Where cells are large enough they show the coordinates.

        Parameters
        ----------
        ax : matplotlib Axes, default None
            Where to draw; None makes a new figure.
        max_clusters : int, default 60
            The number of clusters to draw; the heaviest are drawn.
        max_columns : int, default 40
            The number of columns to draw; those in which the centres differ most are drawn.
        colorbar : bool, default True
            Whether to draw a bar with the colours beside it.
        **style : optional
            Passed to matplotlib's imshow, for example `cmap` and `vmax`.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        from ..plot.heat_map import draw_table

        return draw_table(
            self,
            ax,
            as_count(max_clusters, "max_clusters"),
            as_count(max_columns, "max_columns"),
            as_flag(colorbar, "colorbar"),
            style,
        )

    def _text(self, number: int) -> str:
        return ", ".join(f"{column} {effect:+.2f}" for column, effect in self._distinguishing(number).items())

    def _cells(self) -> list[list[str]]:
        """The heads and the first rows of the table as texts."""
        named, weighted = any(self.name), not np.array_equal(self.rows, self.weight)
        heads = ["cluster", *["name"] * named, "rows", *["weight"] * weighted, "rmsd", "nearest", "differs most in"]
        lines = [heads]
        for cluster in (self[number] for number in range(min(_SHOWN_ROWS, len(self)))):
            nearest = "" if cluster.nearest < 0 else f"{cluster.nearest} at {cluster.nearest_distance:.4g}"
            lines.append(
                [
                    str(cluster.number),
                    *[cluster.name] * named,
                    f"{cluster.rows:,}",
                    *[f"{cluster.weight:,.6g}"] * weighted,
                    f"{cluster.rmsd:.4g}",
                    nearest,
                    self._text(cluster.number),
                ]
            )
        return lines

    def _rest(self) -> str:
        """What the shown rows leave out."""
        return f"… {len(self) - _SHOWN_ROWS:,} more" if len(self) > _SHOWN_ROWS else ""

    def __repr__(self) -> str:
        lines = self._cells()
        texts = {lines[0].index(name) for name in ("name", "differs most in") if name in lines[0]}
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = (
            "  ".join(
                cell.ljust(width) if place in texts else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )
        return "\n".join([*aligned, *filter(None, [self._rest()])])

    def _repr_html_(self) -> str:
        from ..report.markup import joined, tag

        heads, *lines = self._cells()
        body = (tag("tr", *(tag("td", cell) for cell in line)) for line in lines)
        rest = tag("caption", self._rest(), style="caption-side: bottom") if self._rest() else None
        head = tag("thead", tag("tr", *(tag("th", name) for name in heads)))
        return str(joined(tag("table", rest, head, tag("tbody", *body))))


def merged_by_label(leaves: ClusterFeatures, labels: NDArray[np.int64], count: int) -> ClusterFeatures:
    """Merges the leaves of each of `count` clusters; leaves with label -1 belong to none.

    A cluster of weight 0 has the mean of leaf 0. Sums are relative to a point of the data, so that data far from 0
    lose no digits.
    """
    if (labels < 0).any():
        leaves, labels = leaves[labels >= 0], labels[labels >= 0]
    weight, sse = (np.bincount(labels, sums, count).astype(np.float64) for sums in (leaves.weight, leaves.sse))
    mean, divisor = np.empty((count, leaves.n_dimensions)), np.where(weight > 0, weight, 1.0)
    for column, values in enumerate(leaves.mean.T):
        origin = values[0] if len(values) else 0.0
        mean[:, column] = origin + np.bincount(labels, leaves.weight * (values - origin), count) / divisor
        sse += np.bincount(labels, leaves.weight * (values - mean[labels, column]) ** 2, count)
    return ClusterFeatures._adopt(weight, mean, sse)


def table_of(
    clusters: ClusterFeatures,
    leaves: ClusterFeatures,
    rows: NDArray[np.int64] | None,
    names: tuple[str, ...],
    columns: tuple[str, ...],
    order: NDArray[np.int64] | None = None,
) -> ClusterTable:
    """The table of the clusters that are made of these leaves.

    rows : the number of rows of each cluster as they were labelled; None if only the absorbed weight is known
    order : the clusters as the dendrogram draws them
    """
    weight, center, sse = clusters.arrays()
    mean = leaves.total().mean[0]
    deviation = column_deviation(leaves, mean)
    most, effect = _distinguishing(center, mean, deviation)
    nearest = nearest_other(center)
    return ClusterTable(
        number=np.arange(len(weight)),
        name=names,
        rows=np.rint(weight).astype(np.int64) if rows is None else rows,
        weight=weight,
        rmsd=np.sqrt(np.divide(sse, weight, out=np.zeros_like(sse), where=weight > 0)),
        center=center,
        nearest=nearest,
        nearest_distance=np.where(nearest < 0, np.nan, np.linalg.norm(center - center[nearest], axis=1)),
        distinguishing=most,
        effect=effect,
        columns=columns,
        mean=mean,
        deviation=deviation,
        labelled=rows is not None,
        order=order,
    )


def in_other_units(table: ClusterTable, leaves: ClusterFeatures, convert: Callable[[Floats], Floats]) -> ClusterTable:
    """The table with centres, means and distinguishing columns as `convert` returns them, perhaps in other columns.

    The deviation is that of the converted means of the leaves: the spread within leaves is not known in these units.
    Distances of centres and the rmsd stay as they were.
    """
    center, mean, means = (np.asarray(convert(a), float) for a in (table.center, table.mean[None], leaves.mean))
    deviation = column_deviation(ClusterFeatures(leaves.weight, means, 0), mean[0])
    width = center.shape[1]
    columns = table.columns if len(table.columns) == width else tuple(f"column {i}" for i in range(width))
    most, effect = _distinguishing(center, mean[0], deviation)
    return replace(
        table,
        center=center,
        mean=mean[0],
        deviation=deviation,
        columns=columns,
        distinguishing=most,
        effect=effect,
    )


def _distinguishing(center: Floats, mean: Floats, deviation: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The columns in which each centre differs most from the mean, and the differences relative to the deviation."""
    effects = standardised(center, mean, deviation)
    most = _largest(np.abs(effects), min(MOST_DISTINGUISHING, center.shape[1]))
    return most, np.take_along_axis(effects, most, axis=1)


def standardised(rows: Floats, mean: Floats, deviation: Floats) -> Floats:
    """The differences from the mean in standard deviations; 0 where a column is constant."""
    result: Floats = np.divide(rows - mean, deviation, out=np.zeros_like(rows), where=deviation > 0)
    return result


def column_deviation(leaves: ClusterFeatures, mean: Floats) -> Floats:
    """The standard deviation of each column, see the notes of `ClusterTable`."""
    total = leaves.weight.sum()
    within = leaves.sse.sum() / (total * leaves.n_dimensions)
    between = leaves.weight @ (leaves.mean - mean) ** 2 / total
    deviation: Floats = np.sqrt(between + within)
    return deviation


def nearest_other(centers: Floats) -> NDArray[np.int64]:
    """The nearest other centre of each centre, up to rounding; -1 if there is only one.

    All pairs of a block of rows are compared by |b|² - 2 ab, relative to the mean of the centres.
    """
    count = len(centers)
    if count < 2:
        return np.full(count, -1, dtype=np.int64)
    centered = centers - centers.mean(axis=0)
    squares = np.einsum("ij,ij->i", centered, centered)
    result = np.empty(count, dtype=np.int64)
    block = max(1, _BLOCK_BYTES // (8 * count))
    for begin in range(0, count, block):
        some = np.arange(begin, min(begin + block, count))
        compared = centered[some] @ centered.T
        compared *= -2
        compared += squares
        compared[np.arange(len(some)), some] = np.inf
        result[some] = compared.argmin(axis=1)
    return result


def _largest(magnitude: Floats, count: int) -> NDArray[np.int64]:
    """The columns of the `count` largest values of each row, the largest first and the lowest column among equal ones.

    Overwrites the values, which are not negative.
    """
    every = np.arange(len(magnitude))
    found = np.empty((len(magnitude), count), dtype=np.int64)
    for place in range(count):
        found[:, place] = magnitude.argmax(axis=1)
        magnitude[every, found[:, place]] = -1
    return found
