"""The table of clusters: the name, the number of rows, the rmsd and the centre of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..checks import Floats
from ..features import ClusterFeatures
from ..model import AggregateModel
from ..model.cluster_table import ClusterTable, in_other_units
from . import numbers
from .markup import Child, Html, joined, tag

MOST_CLUSTERS = 200
MOST_COLUMNS = 8  # with more columns, the table shows only those in which a cluster differs most
_LEAST_OF_EMBEDDING = 30  # columns

Original = Callable[[Floats], Floats]  # takes means back to the units that the rows had before they were prepared


@dataclass(frozen=True)
class Clusters:
    """The table of the clusters, the number of all rows with noise, their feature, and the names of the columns."""

    table: ClusterTable
    rows: float
    total: ClusterFeatures
    names: list[str]
    units: str

    @property
    def few_columns(self) -> bool:
        return len(self.names) <= MOST_COLUMNS

    @property
    def embedding(self) -> bool:
        return are_embedding(self.names)

    @property
    def named(self) -> bool:
        return any(self.table.name)

    @property
    def weighted(self) -> bool:
        """Whether the weights of the rows are not all 1, so that the table shows them."""
        return self.table.labelled and not np.array_equal(self.table.rows, self.table.weight)

    @property
    def sse(self) -> float:
        """The sum of squared distances of the rows to the centre of their cluster."""
        return float(self.table.weight @ self.table.rmsd**2)

    def value(self, column: int, value: float) -> str:
        """The value, with enough digits to distinguish clusters."""
        return numbers.number(value, decimals_of(float(self.table.deviation[column]), len(self.names)))


def decimals_of(deviation: float, n_columns: int) -> int | None:
    """The decimals of the values of a column; None if the column is constant."""
    return numbers.decimals_for(deviation, digits=4 if n_columns <= MOST_COLUMNS else 3) if deviation > 0 else None


def units_of(original: Original | None) -> str:
    """The units of centres; `original` takes them to those of the page."""
    if original is None:
        return "in the units that were clustered"
    return "in the units before they were scaled or otherwise transformed"


def are_embedding(names: list[str]) -> bool:
    """Whether columns say nothing by themselves: there are many, and they have numbers instead of names."""
    parts = {re.sub(r"\d+(?=\D*$)", "", name) for name in names}
    return len(names) > _LEAST_OF_EMBEDDING and len(parts) == 1


def clusters_of(model: AggregateModel, column_names: list[str] | None, original: Original | None = None) -> Clusters:
    table, leaves, labelled = model.clusters_, model._leaves(), model._labelled
    if original is not None:
        table = in_other_units(table, leaves, original)
    width = len(table.columns)
    if column_names is not None and len(column_names) != width:
        raise ValueError(f"{len(column_names)} column names but the model has {width} columns: one for each is needed")
    total = leaves.total()
    rows = float(total.weight[0] if labelled is None else labelled.rows.sum())
    return Clusters(table, rows, total, list(column_names or table.columns), units_of(original))


def cluster_table(clusters: Clusters, colours: dict[int, str]) -> Html:
    """The table in HTML. `colours` has the colour of each label in the picture; it is empty if colours repeat."""
    names = ["rows", *["weight"] * clusters.weighted, "share", "rmsd"]
    where: Child = None
    if clusters.few_columns:
        where = joined(*(tag("th", tag("bdi", name), scope="col", class_="figure") for name in clusters.names))
    elif not clusters.embedding:
        where = tag("th", "differs most from all rows in", scope="col", class_="where")
    heads = (tag("th", name, scope="col", class_="figure") for name in names)
    name = tag("th", "name", scope="col") if clusters.named else None
    table, largest = clusters.table, float(clusters.table.weight.max(initial=0.0)) or 1.0
    lines = [_line(clusters, "all rows", "", *_all_rows(clusters), None)]
    for label in range(min(MOST_CLUSTERS, len(table))):  # cluster 0 is the heaviest
        swatch = tag("i", class_="swatch", style=f"background: {colours[label]}") if label in colours else None
        weight = float(table.weight[label])
        rows = float(table.rows[label]) if table.labelled else weight
        facts = rows, weight, float(table.rmsd[label]), _where(clusters, label)
        lines.append(_line(clusters, joined(swatch, str(label)), table.name[label], *facts, weight / largest))
    return tag(
        "table",
        tag("thead", tag("tr", tag("th", "cluster", scope="col"), name, *heads, where)),
        tag("tbody", lines[0], class_="all"),
        tag("tbody", joined(*lines[1:], by="\n")),
        class_="clusters",
    )


def _all_rows(clusters: Clusters) -> tuple[float, float, float, Child]:
    weight, sse = float(clusters.total.weight[0]), float(clusters.total.sse[0])
    where: Child = None if clusters.embedding else tag("td", class_="where")
    if clusters.few_columns:
        where = _coordinates(clusters, clusters.table.mean)
    return clusters.rows, weight, float(np.sqrt(sse / weight)), where


def _line(
    clusters: Clusters,
    heading: Child,
    name: str,
    rows: float,
    weight: float,
    rmsd: float,
    where: Child,
    bar: float | None,
) -> Html:
    share = weight / float(clusters.total.weight[0])
    decimals = numbers.decimals_for(float(clusters.table.rmsd.max(initial=0.0)) or rmsd)
    return tag(
        "tr",
        tag("th", heading, scope="row"),
        tag("td", tag("bdi", name)) if clusters.named else None,
        tag("td", numbers.count(rows), class_="figure"),
        tag("td", numbers.count(weight), class_="figure") if clusters.weighted else None,
        tag(
            "td",
            numbers.percent(share),
            class_="figure share",
            style=None if bar is None else f"--share: {bar:.4f}",
        ),
        tag("td", numbers.number(rmsd, decimals), class_="figure"),
        where,
    )


def _where(clusters: Clusters, label: int) -> Child:
    if clusters.few_columns:
        return _coordinates(clusters, clusters.table.center[label])
    return None if clusters.embedding else _most_different(clusters, label)


def _coordinates(clusters: Clusters, center: Floats) -> Html:
    cells = (clusters.value(column, value) for column, value in enumerate(center.tolist()))
    return joined(*(tag("td", cell, class_="figure") for cell in cells))


def _most_different(clusters: Clusters, label: int) -> Html:
    """The columns in which the centre differs most from the mean of all rows, with its value and the effect size."""
    table = clusters.table
    found = zip(table.distinguishing[label].tolist(), table.effect[label].tolist(), strict=True)
    items = (
        tag(
            "span",
            tag("bdi", clusters.names[column]),
            " ",
            tag("b", clusters.value(column, float(table.center[label, column]))),
            " ",
            tag("small", f"({numbers.signed(effect, 2)} s.d.)"),
        )
        for column, effect in found
        if effect != 0
    )
    return tag("td", joined(*items, by=" "), class_="where")
