"""Rows that stand for a branch: for each leaf the row nearest to its mean, for each node those nearest to its mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats, Rows
from ..dendrogram import Dendrogram
from ..dendrogram.nodes import Nodes
from ..model import AggregateModel
from ..progress import reporter
from ..rows import RowSource, source_of
from ..rows.passes import reported
from ..rows.source import usual_chunk_rows
from .facts import means_of
from .payload import Payload
from .showing import shown_columns

Integers = NDArray[np.int64]

# The values of rows by their ascending numbers: a list for each of these columns, by their places.
Values = Callable[[Integers, Sequence[int]], list[list[Any]]]

MOST_ROWS_OF_PAGE = 200_000  # whose leaves are on the page
_OF_NODE = 4
_MOST_ITEMS = 6_000
_MOST_LETTERS = 3_000_000  # of all texts and pictures together
_MOST_COMPARED = 4_000_000  # numbers of a node that are compared with its mean
_MOST_COMPARED_IN_ALL = 200_000_000  # of all nodes: some seconds
_COST_OF_LEAF = 10  # in numbers: what a leaf costs beside its own


@dataclass
class Shown:
    """What is shown of rows.

    Attributes
    ----------
    names, values : the names of what is shown of a row, and the values
    row_of_leaf : int array (m,), the number of the row that stands for each leaf; -1 if there is none
    points : array (m, d), those rows as the model sees them; None if each is the mean of its leaf
    """

    names: list[str]
    values: Values
    row_of_leaf: Integers
    points: Floats | None = None


class NearestRowOfLeaves:
    """Finds the row nearest to the mean of each leaf, chunk by chunk, and keeps the leaf of each row."""

    def __init__(self, means: Floats) -> None:
        self._means = means
        self.seen = 0
        self._squared = np.full(len(means), np.inf)
        self.row = np.full(len(means), -1, dtype=np.int64)
        self.points = means.copy()  # the nearest rows themselves
        self._leaves: list[Integers] | None = []

    def add(self, rows: Rows, leaves: Integers, counts: NDArray[np.bool_] | None = None) -> None:
        """counts : whether a row counts; None if all do"""
        size = usual_chunk_rows(rows.shape[1])
        for begin in range(0, len(rows), size):
            some = slice(begin, begin + size)
            self._add(rows[some], leaves[some], None if counts is None else counts[some])
        if self._leaves is not None:
            self._leaves.append(leaves)
        if self.seen > MOST_ROWS_OF_PAGE:
            self._leaves = None

    def _add(self, rows: Rows, leaves: Integers, counts: NDArray[np.bool_] | None) -> None:
        squared = ((rows - self._means[leaves]) ** 2).sum(axis=1, dtype=np.float64)
        if counts is not None:
            squared[~counts] = np.inf
        order = np.lexsort((squared, leaves))  # stable: of equally near rows the first
        found, first = np.unique(leaves[order], return_index=True)
        nearest = order[first]
        better = squared[nearest] < self._squared[found]
        found, nearest = found[better], nearest[better]
        self._squared[found] = squared[nearest]
        self.row[found] = self.seen + nearest
        self.points[found] = rows[nearest]
        self.seen += len(rows)

    @property
    def leaf_of_row(self) -> Integers | None:
        """The leaf of each row; None if there are too many for a page."""
        return None if self._leaves is None else np.concatenate([np.empty(0, dtype=np.int64), *self._leaves])


def nearest_rows(model: AggregateModel, source: RowSource) -> NearestRowOfLeaves:
    """One pass over the rows, which are as the model takes them."""
    directed = model._directed(source)
    nearest = NearestRowOfLeaves(model.features_.mean)
    with reporter(model.progress, "rows that stand for leaves") as report:
        for chunk, inner in reported(directed, map(directed.checked, directed.chunks()), report):
            leaves = model._leaf_of(source_of(chunk), inner)
            nearest.add(chunk.rows, leaves, None if chunk.weight is None else chunk.weight > 0)
    return nearest


def first_rows(leaf_of_row: NDArray[Any], n_leaves: int) -> Integers:
    """The first row of each leaf, -1 without one: it stands for a leaf that holds equal rows only."""
    first = np.full(n_leaves, -1, dtype=np.int64)
    first[leaf_of_row[::-1]] = np.arange(len(leaf_of_row))[::-1]  # reversed: the write of the first row is the last
    return first


def kept_values(source: RowSource, names: Sequence[str]) -> Values:
    """The columns that the source keeps, read in another pass."""

    def values(rows: Integers, places: Sequence[int]) -> list[list[Any]]:
        columns: list[list[Any]] = [[] for _ in places]
        begin = 0
        for chunk in source.chunks(with_ids=True):
            low, high = np.searchsorted(rows, (begin, begin + len(chunk)))
            if low < high:
                wanted = chunk.kept.take((rows[low:high] - begin).tolist())  # type: ignore[union-attr]
                for column, place in zip(columns, places, strict=True):
                    column += wanted.column(names[place]).to_pylist()
            begin += len(chunk)
            if high == len(rows):
                break
        return columns

    return values


def values_in_memory(columns: Sequence[Sequence[Any]]) -> Values:
    return lambda rows, places: [[columns[place][row] for row in rows.tolist()] for place in places]


def add_representatives(payload: Payload, dendrogram: Dendrogram, nodes: Nodes, shown: Shown) -> None:
    """Adds a few rows for each node, the first nodes first, as far as the size allows."""
    leaves_of = _nearest_leaves(dendrogram, nodes, shown.row_of_leaf >= 0, shown.points)
    leaves = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *leaves_of.values()]))
    rows, order = np.unique(shown.row_of_leaf[leaves], return_inverse=True)
    place = dict(zip(leaves.tolist(), order.tolist(), strict=True))
    kinds, columns = shown_columns(shown.values(rows, range(len(shown.names))))
    items = _Items(columns, rows)
    for node, found in leaves_of.items():
        if not items.add(node, [place[leaf] for leaf in found.tolist()]):
            break
    payload.header["representatives"] = {
        "columns": shown.names,
        "kinds": kinds,
        "items": items.values,
        "rows": items.rows,
        "of": items.of,
    }


@dataclass
class _Items:
    """The items of a page, each there once."""

    columns: list[list[str | None]]
    row_numbers: Integers
    values: list[list[str | None]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    of: dict[str, list[int]] = field(default_factory=dict)
    _number: dict[int, int] = field(default_factory=dict)
    _letters: int = 0

    def add(self, node: int, places: list[int]) -> bool:
        """Adds the items of a node; returns whether there was room for them."""
        new = {place: [column[place] for column in self.columns] for place in places if place not in self._number}
        self._letters += sum(len(value or "") for values in new.values() for value in values)
        if self._letters > _MOST_LETTERS or len(self.values) + len(new) > _MOST_ITEMS:
            return False
        for place, values in new.items():
            self._number[place] = len(self.values)
            self.values.append(values)
            self.rows.append(int(self.row_numbers[place]))
        self.of[str(node)] = [self._number[place] for place in places]
        return True


def _nearest_leaves(
    dendrogram: Dendrogram, nodes: Nodes, usable: NDArray[np.bool_], points: Floats | None
) -> dict[int, Integers]:
    """The usable leaves below each node whose points are nearest to its mean; of very many, among an even sample.

    The points are rows, not the means of leaves: the mean of a leaf of many rows lies near the middle of the data even
    where each of its rows is far out. Without features there are no means, and leaves are taken evenly in the order of
    the drawing.
    """
    hierarchy, features = dendrogram._hierarchy, dendrogram.features
    nodes = nodes[:_MOST_ITEMS]
    width = 1 if features is None else features.n_dimensions
    most = _most_compared(hierarchy.count[nodes], width)
    result: dict[int, Integers] = {}
    for node in nodes.tolist():
        first, count = hierarchy.first[node], hierarchy.count[node]
        step = max(1, -(-count // most))
        below = hierarchy.leaf_order[first : first + count : step]
        below = below[usable[below]]
        if not len(below):
            continue
        if features is None:
            result[node] = below[:: -(-len(below) // _OF_NODE)]
        else:
            mean = means_of(dendrogram, np.array([node]))
            squared = (((features.mean if points is None else points)[below] - mean) ** 2).sum(axis=1)
            result[node] = _nearest(below, squared)
    return result


def _most_compared(counts: Integers, width: int) -> int:
    """How many leaves of a node are compared, so that all comparisons together stay few.

    In a chain, as single linkage makes them, thousands of nodes hold nearly all leaves each.
    """
    most, in_all = max(_OF_NODE, _MOST_COMPARED // width), _MOST_COMPARED_IN_ALL // (width + _COST_OF_LEAF)
    while most > _OF_NODE and np.minimum(counts, most).sum() > in_all:
        most //= 2
    return most


def _nearest(leaves: Integers, squared: Floats) -> Integers:
    """The few leaves of the least squared distance; of equally near ones the first."""
    if len(leaves) > _OF_NODE:
        near = squared <= np.partition(squared, _OF_NODE - 1)[_OF_NODE - 1]  # sorting all would take far longer
        leaves, squared = leaves[near], squared[near]
    return leaves[np.lexsort((leaves, squared))[:_OF_NODE]]
