"""The table of clusters: the number of rows, the rmsd and the centre of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..checks import Floats
from ..features import ClusterFeatures
from ..model import AggregateModel
from . import numbers
from .markup import Child, Html, joined, tag

MOST_CLUSTERS = 200
MOST_COLUMNS = 8  # with more columns, the table shows only those in which a cluster differs most
_MOST_DIFFERENT = 4


class Scale(NamedTuple):
    """The scaling (x − shift) · factor of the columns before clustering. Centres are shown unscaled."""

    shift: Floats
    factor: Floats


@dataclass(frozen=True)
class Clusters:
    """The feature of each cluster, the feature of all rows, and the spread of each column among the leaves."""

    features: ClusterFeatures
    total: ClusterFeatures
    spread: Floats
    names: list[str]
    scale: Scale | None = None

    @property
    def few_columns(self) -> bool:
        return len(self.names) <= MOST_COLUMNS

    @property
    def rmsds(self) -> Floats:
        rmsds: Floats = np.sqrt(self.features.sse / self.features.weight)
        return rmsds

    def value(self, column: int, value: float) -> str:
        """The unscaled value, with enough digits to distinguish clusters."""
        origin = 0.0 if self.scale is None else float(self.scale.shift[column])
        return numbers.number(origin + value * self._unit(column), self._decimals(column))

    def difference(self, column: int, value: float) -> str:
        return numbers.signed(value * self._unit(column), self._decimals(column))

    def _unit(self, column: int) -> float:
        return 1.0 if self.scale is None else 1 / float(self.scale.factor[column])

    def _decimals(self, column: int) -> int | None:
        spread = float(self.spread[column]) * self._unit(column)
        return numbers.decimals_for(spread, digits=4 if self.few_columns else 3) if spread > 0 else None


def clusters_of(model: AggregateModel, column_names: list[str] | None, scale: Scale | None = None) -> Clusters:
    leaves, labels, centers = model.features_, model.subcluster_labels_, model.cluster_centers_
    total = leaves.total()
    sse = np.bincount(labels, leaves.sse)
    variance = np.empty(leaves.n_dimensions)
    for column, (means, center) in enumerate(zip(leaves.mean.T, centers.T, strict=True)):
        sse += np.bincount(labels, leaves.weight * (means - center[labels]) ** 2)
        variance[column] = leaves.weight @ (means - total.mean[0, column]) ** 2 / total.weight[0]
    features = ClusterFeatures(np.bincount(labels, leaves.weight), centers, sse)
    return Clusters(features, total, np.sqrt(variance), _names(model, column_names), scale)


def _names(model: AggregateModel, given: list[str] | None) -> list[str]:
    width = model.features_.n_dimensions
    if given is not None and len(given) != width:
        raise ValueError(f"{len(given)} column names but the model has {width} columns: one for each is needed")
    known = given
    if given is None and width == model.n_features_in_:  # the columns of a projection have no names
        known = getattr(model, "feature_names_in_", None)
    return [f"column {i}" for i in range(width)] if known is None else [str(name) for name in known]


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
        rows.append(_row(clusters, joined(swatch, str(label)), clusters.features[label], bar))
    return tag(
        "table",
        tag("thead", tag("tr", tag("th", "cluster", scope="col"), *heads, where)),
        tag("tbody", _row(clusters, "all rows", clusters.total, None), class_="all"),
        tag("tbody", joined(*rows, by="\n")),
        class_="clusters",
    )


def _row(clusters: Clusters, heading: Child, feature: ClusterFeatures, bar: float | None) -> Html:
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
        _coordinates(clusters, feature.mean[0]) if clusters.few_columns else _most_different(clusters, feature.mean[0]),
    )


def _coordinates(clusters: Clusters, center: Floats) -> Html:
    cells = (clusters.value(column, value) for column, value in enumerate(center.tolist()))
    return joined(*(tag("td", cell, class_="figure") for cell in cells))


def _most_different(clusters: Clusters, center: Floats) -> Html:
    """The columns in which the centre differs most from the mean of all rows, compared in scaled units."""
    differences = center - clusters.total.mean[0]
    order = np.argsort(-np.abs(differences), kind="stable")[:_MOST_DIFFERENT].tolist()
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
