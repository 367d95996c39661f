"""The table of clusters: the number of rows, the rmsd and the centre of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..checks import Floats
from ..features import ClusterFeatures
from ..model import AggregateModel
from . import numbers
from .markup import Child, Html, joined, tag

MOST_CLUSTERS = 200
MOST_COLUMNS = 8  # with more columns, the table shows only those in which a cluster differs most
_MOST_DIFFERENT = 4


Original = Callable[[Floats], Floats]  # takes means back to the units that the rows had before they were prepared


@dataclass(frozen=True)
class Clusters:
    """The feature of each cluster and of all rows, in clustered units, and the same centres in the units shown.

    `spread` is the standard deviation of each column among the leaves, in the units shown.
    """

    features: ClusterFeatures
    total: ClusterFeatures
    centers: Floats
    center: Floats
    spread: Floats
    names: list[str]
    clustered_units: bool = True

    @property
    def few_columns(self) -> bool:
        return len(self.names) <= MOST_COLUMNS

    @property
    def rmsds(self) -> Floats:
        rmsds: Floats = np.sqrt(self.features.sse / self.features.weight)
        return rmsds

    def value(self, column: int, value: float) -> str:
        """The value, with enough digits to distinguish clusters."""
        return numbers.number(value, self._decimals(column))

    def difference(self, column: int, value: float) -> str:
        return numbers.signed(value, self._decimals(column))

    def _decimals(self, column: int) -> int | None:
        spread = float(self.spread[column])
        return numbers.decimals_for(spread, digits=4 if self.few_columns else 3) if spread > 0 else None


def clusters_of(model: AggregateModel, column_names: list[str] | None, original: Original | None = None) -> Clusters:
    leaves, labels, centers = model.features_, model.subcluster_labels_, model.cluster_centers_
    total = leaves.total()
    sse = np.bincount(labels, leaves.sse)
    for means, center in zip(leaves.mean.T, centers.T, strict=True):
        sse += np.bincount(labels, leaves.weight * (means - center[labels]) ** 2)
    features = ClusterFeatures(np.bincount(labels, leaves.weight), centers, sse)

    shown, shown_total, shown_leaves = (
        array if original is None else np.asarray(original(array)) for array in (centers, total.mean, leaves.mean)
    )
    pairs = zip(shown_leaves.T, shown_total[0], strict=True)
    variance = [leaves.weight @ (means - center) ** 2 / total.weight[0] for means, center in pairs]
    names = _names(model, column_names, shown.shape[1])
    return Clusters(features, total, shown, shown_total[0], np.sqrt(variance), names, original is None)


def _names(model: AggregateModel, given: list[str] | None, width: int) -> list[str]:
    if given is not None and len(given) != width:
        raise ValueError(f"{len(given)} column names but the model has {width} columns: one for each is needed")
    known = getattr(model, "feature_names_in_", None) if given is None else given
    if known is None or len(known) != width:
        return [f"column {i}" for i in range(width)]
    return [str(name) for name in known]


def cluster_table(clusters: Clusters, colours: dict[int, str]) -> Html:
    """The table in HTML. `colours` has the colour of each label in the picture; it is empty if colours repeat."""
    names = ["rows", "share", "rmsd"]
    if clusters.few_columns:
        where = joined(*(tag("th", tag("bdi", name), scope="col", class_="figure") for name in clusters.names))
    else:
        where = tag("th", "differs most from all rows in", scope="col", class_="where")
    heads = (tag("th", name, scope="col", class_="figure") for name in names)
    largest = float(clusters.features.weight.max())
    rows = []
    for label in range(min(MOST_CLUSTERS, len(clusters.features))):  # cluster 0 is the heaviest
        swatch = tag("i", class_="swatch", style=f"background: {colours[label]}") if label in colours else None
        bar = float(clusters.features.weight[label]) / largest
        heading = joined(swatch, str(label))
        rows.append(_row(clusters, heading, clusters.features[label], clusters.centers[label], bar))
    return tag(
        "table",
        tag("thead", tag("tr", tag("th", "cluster", scope="col"), *heads, where)),
        tag("tbody", _row(clusters, "all rows", clusters.total, clusters.center, None), class_="all"),
        tag("tbody", joined(*rows, by="\n")),
        class_="clusters",
    )


def _row(clusters: Clusters, heading: Child, feature: ClusterFeatures, center: Floats, bar: float | None) -> Html:
    weight, rmsd = float(feature.weight[0]), float(np.sqrt(feature.sse[0] / feature.weight[0]))
    share = weight / float(clusters.total.weight[0])
    decimals = numbers.decimals_for(float(clusters.rmsds.max()) or rmsd)
    return tag(
        "tr",
        tag("th", heading, scope="row"),
        tag("td", numbers.count(weight), class_="figure"),
        tag(
            "td",
            numbers.percent(share),
            class_="figure share",
            style=None if bar is None else f"--share: {bar:.4f}",
        ),
        tag("td", numbers.number(rmsd, decimals), class_="figure"),
        _coordinates(clusters, center) if clusters.few_columns else _most_different(clusters, center),
    )


def _coordinates(clusters: Clusters, center: Floats) -> Html:
    cells = (clusters.value(column, value) for column, value in enumerate(center.tolist()))
    return joined(*(tag("td", cell, class_="figure") for cell in cells))


def _most_different(clusters: Clusters, center: Floats) -> Html:
    """The columns in which the centre differs most from the mean of all rows.

    Clustered units are compared as they are, because the distances are made of them. Other units are compared relative
    to the spread of their column.
    """
    differences = center - clusters.center
    sizes = np.abs(differences)
    if not clusters.clustered_units:
        sizes /= np.where(clusters.spread > 0, clusters.spread, 1.0)
    order = np.argsort(-sizes, kind="stable")[:_MOST_DIFFERENT].tolist()
    items = (
        tag(
            "span",
            tag("bdi", clusters.names[column]),
            " ",
            tag("b", clusters.value(column, float(center[column]))),
            " ",
            tag("small", f"({clusters.difference(column, float(differences[column]))})"),
        )
        for column in order
        if differences[column] != 0
    )
    return tag("td", joined(*items, by=" "), class_="where")
