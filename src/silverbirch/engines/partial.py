"""Partial: what crosses the wire between workers: the features of some rows, and what was counted on the way.

It travels as the bytes of a model file (`storage.container`): plain values and arrays with a checksum. Nothing is
pickled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import as_count, as_threshold
from ..errors import ModelFileError
from ..features import ClusterFeatures
from ..pipeline.aggregation import Counts
from ..pipeline.statistics import ColumnStatistics
from ..rows import RowSource
from ..storage import container
from ..storage import features as features_in_file
from ..tree import CFTree

KIND = "partial"


@dataclass(frozen=True)
class Columns:
    """The columns of rows: how many, and their names; None if they have none."""

    count: int
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, source: RowSource) -> Columns:
        return cls(source.n_dimensions, source.names)

    def __str__(self) -> str:
        if self.names is None:
            return f"{self.count} columns without names"
        shown = self.names if self.count <= 8 else self.names[:7]
        return f"the columns {', '.join(shown)}" + (f" and {self.count - 7} more" if len(shown) < self.count else "")


@dataclass(frozen=True)
class Partial:
    """What is known of the rows of one partition, or of several.

    columns : of the rows; None without rows
    counts : rows read, rows left out, values filled
    features : of the rows; None without rows, and if they were not aggregated
    threshold : of the tree that the features are from
    leaf_rows : the number of rows of each feature, if feature i belongs to leaf i of a model; else None
    statistics : of the columns; None if they were not gathered
    """

    columns: Columns | None = None
    counts: Counts = field(default_factory=Counts)
    features: ClusterFeatures | None = None
    threshold: float = 0.0
    leaf_rows: NDArray[np.int64] | None = None
    statistics: ColumnStatistics | None = None

    @property
    def has_rows(self) -> bool:
        """Whether a row is left, so that the types of the columns are known."""
        if self.statistics is not None:
            return self.statistics.weight > 0
        return self.counts.rows > self.counts.dropped

    def to_bytes(self) -> bytes:
        columns, names = (0, None) if self.columns is None else (self.columns.count, self.columns.names)
        state = {
            "columns": columns,
            "names": None if names is None else list(names),
            "counts": asdict(self.counts),
            "threshold": self.threshold,
        }
        arrays: container.Arrays = {}
        if self.features is not None:
            arrays |= container.prefixed("features", features_in_file.to_file(self.features)[1])
        if self.leaf_rows is not None:
            arrays["leaf_rows"] = self.leaf_rows
        if self.statistics is not None:
            arrays |= container.prefixed("statistics", self.statistics.to_state())
        return container.packed(KIND, state, arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> Partial:
        """The partial in these bytes; raises ModelFileError if they do not hold one."""
        label = "what a worker sent"
        kind, state, arrays = container.unpacked(data, label)
        if kind != KIND:
            raise ModelFileError(f"{label} holds a {kind}, not a {KIND}")
        try:
            return cls._restored(state, arrays)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"{label} does not hold a whole {KIND}: {container.one_line(error)}") from None

    @classmethod
    def _restored(cls, state: dict[str, Any], arrays: container.Arrays) -> Partial:
        count, names = as_count(state["columns"], "columns", least=0), state["names"]
        texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if names is not None and not (texts and len(names) == count):
            raise ValueError(f"its names are not those of {count} columns")
        features, statistics = (container.under(name, arrays) for name in ("features", "statistics"))
        return cls(
            None if count == 0 else Columns(count, None if names is None else tuple(names)),
            Counts(**{item.name: as_count(state["counts"][item.name], item.name, least=0) for item in fields(Counts)}),
            features_in_file.from_file({}, features) if features else None,
            as_threshold(state["threshold"]),
            arrays.get("leaf_rows"),
            ColumnStatistics.from_state(statistics) if statistics else None,
        )._checked()

    def _checked(self) -> Partial:
        """Returns itself; raises ValueError if its parts do not go together."""
        count = 0 if self.columns is None else self.columns.count
        if count == 0 and self.features is not None:
            raise ValueError("it has features without columns")
        if self.statistics is not None and self.statistics.n_columns != count:
            raise ValueError(f"it has statistics of {self.statistics.n_columns} columns, not of {count}")
        if self.leaf_rows is not None:
            leaves, rows = 0 if self.features is None else len(self.features), self.leaf_rows
            if rows.dtype != np.int64 or rows.shape != (leaves,) or (rows < 0).any():
                raise ValueError(f"its numbers of rows are not those of {leaves} leaves")
        return self


def counted_together(parts: Sequence[Partial]) -> Partial:
    """What was counted in all parts: rows and statistics. Features are merged by one of the functions below."""
    with_columns = [part for part in parts if part.columns is not None]
    # If all rows are left out, what seems to be a column of numbers may be one of lists.
    with_rows = [part for part in with_columns if part.has_rows] or with_columns[:1]
    for part in with_rows:
        if part.columns is not None and part.columns != with_rows[0].columns:
            remedy = "" if part.columns.names is None else "; a bag of dictionaries gets them by to_dataframe(meta=…)"
            raise ValueError(
                f"one partition has {with_rows[0].columns}, another one {part.columns}: all need the same columns"
                + remedy
            )
    numbers = [asdict(part.counts).values() for part in parts]
    statistics = [part.statistics for part in with_rows if part.statistics is not None]
    return Partial(
        with_rows[0].columns if with_rows else None,
        Counts(*map(sum, zip(*numbers, strict=True))),
        statistics=reduce(ColumnStatistics.joined_with, statistics) if statistics else None,
    )


def merged_in_tree(parts: Sequence[Partial], tree: CFTree) -> Partial:
    """All parts as one: their features are inserted into an empty tree.

    They are inserted in a fixed random order: part after part, a tree of rare and unequal clusters lost up to 18 % in
    rmsd (benchmarks/studies/merge_quality.py).
    """
    whole = counted_together(parts)
    present = [part.features.arrays() for part in parts if part.features is not None]
    if not present:
        return whole
    if len(present) == 1:  # nothing to merge
        (only,) = (part for part in parts if part.features is not None)
        return replace(whole, features=only.features, threshold=only.threshold)
    together = [np.concatenate(arrays) for arrays in zip(*present, strict=True)]
    order = np.random.RandomState(0).permutation(len(together[0]))  # whose numbers are frozen
    tree.insert(ClusterFeatures._adopt(*(array[order] for array in together)))
    return replace(whole, features=tree.features, threshold=tree.threshold)


def merged_by_leaf(parts: Sequence[Partial]) -> Partial:
    """All parts as one: feature i of each part belongs to leaf i of the same model."""
    whole = counted_together(parts)
    features = [part.features for part in parts if part.features is not None]
    if not features:
        return whole
    rows = reduce(np.add, [part.leaf_rows for part in parts if part.leaf_rows is not None])
    return replace(whole, features=reduce(ClusterFeatures.merged_with, features), leaf_rows=rows)
