"""The sections of the pages and their text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import plot
from ..dendrogram import Dendrogram
from ..model import AggregateModel
from ..storage.atomic import check_free, new_file
from . import numbers
from .accuracy import accuracy_of, linkage_name
from .clusters import MOST_CLUSTERS, Clusters, Original, cluster_table, clusters_of
from .contents import NO_EXTRAS, Extras, dendrogram_payload, labelled_dendrogram, report_payload
from .given import extras_of_dendrogram, extras_of_model
from .layout import figure, page, scrolling
from .markup import Html, joined, tag
from .pictures import MOST_BRANCHES, dendrogram_picture, rmsd_picture, themed
from .pipelines import parts_of
from .record import record_tables
from .squares import rounding_of

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from ..dendrogram.suggestion import Suggestion

_EXACT = "What is exact"
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)


def write_report(
    path: str | os.PathLike[str],
    model: AggregateModel | Pipeline,
    *,
    title: str = "silverbirch report",
    record: dict[str, Any] | None = None,
    column_names: Sequence[str] | None = None,
    inverse_transform: Original | None = None,
    rows: Any = None,
    show: Any = None,
    coordinates: Any = None,
    suggest: bool | Suggestion | None = None,
    force: bool = False,
) -> None:
    """Writes a report on a fitted model as one HTML file.

    The page has the whole dendrogram to zoom into and to cut, the rmsd for each number of clusters, a scatter and a
    table of the clusters, and says what is exact. It needs no network. Without scripts it shows the cut of the model.

    Parameters
    ----------
    path : str or path
        The file to write.
    model : Betula or Pipeline
        A fitted model, or a fitted scikit-learn pipeline that ends in one. If the other steps have an
        `inverse_transform`, the centres are shown in the units before these steps.
    title : str, default "silverbirch report"
        The heading of the page.
    record : dict, default None
        The record of a run, in values that JSON can hold; shown as tables.
    column_names : list of str, default None
        A name for each column; None for the names that the model or the pipeline was fitted with.
    inverse_transform : function, default None
        Takes an array of centres, returns them in the units to show; None for that of the pipeline.
    rows : array (n, d), data frame, path or RowSource, default None
        The rows, as `fit` takes them, to find those that stand for each branch. A data frame or a file may have more
        columns than the model. A file is read again for the columns to show.
    show : str, list, array or dict, default None
        What to show of the rows that stand for a branch: one text or image for each row, the name of a column of
        `rows` or a list of names, or a dict of several such lists. Images are bytes of PNG, JPEG, GIF or WebP, arrays
        (h, w) or (h, w, 3) of uint8, images of Pillow, or data URIs of these kinds; large ones are made smaller. If
        each leaf holds equal rows only, values of the rows given to `fit` need no `rows`.
    coordinates : array (n, 2) or (m, 2), default None
        The place of each row, or of each of the m leaves, in the scatter, for example from UMAP; the places of rows
        are averaged. None takes the first two principal axes.
    suggest : bool or Suggestion, default None
        Whether to mark the numbers of clusters that `model.choose_k()` suggests, or its result. None does it for up to
        50 columns, where it takes some seconds.
    force : bool, default False
        Whether to overwrite an existing file.

    Raises
    ------
    FileExistsError
        The file exists, and `force` is False.
    TypeError
        `model` is neither a model nor a pipeline that ends in one.
    ValueError
        There are not as many values to show, coordinates or column names as needed.
    ImportError
        matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np, silverbirch as sb
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.random.default_rng(0).normal(size=(1000, 3)) * [1, 10, 100]
    >>> pipeline = make_pipeline(StandardScaler(), sb.Betula(n_clusters=5)).fit(X)
    >>> sb.write_report("clusters.html", pipeline, column_names=["mass", "length", "price"])
    """
    check_free(path, force)
    last, known_names, known_inverse = parts_of(model)
    names = known_names if column_names is None else list(column_names)
    extras = extras_of_model(model, last, rows, show, coordinates, suggest)
    text = report_page(last, title, record, names, inverse_transform or known_inverse, extras)
    with new_file(path, force=force) as file:
        file.write(text.encode())


def report_page(
    model: AggregateModel,
    title: str,
    record: dict[str, Any] | None = None,
    column_names: list[str] | None = None,
    original: Original | None = None,
    extras: Extras = NO_EXTRAS,
) -> str:
    clusters = clusters_of(model, column_names, original)
    dendrogram = labelled_dendrogram(model)
    sections = {"Dendrogram": _dendrogram(model, dendrogram)}
    if dendrogram.n_leaves > 1:
        at_level = model._is_cut and not model._cut_options
        curve = _curve(dendrogram, model.n_clusters_ if at_level else None)
        sections["Number of clusters"] = curve if model._is_cut else joined(_how_to_cut(), curve)
    if model._is_cut:
        sections["Clusters"] = _clusters(clusters, _colours(model))
    sections[_EXACT] = _listed(accuracy_of(model))
    if record:
        sections["Run"] = scrolling(tag("div", record_tables(record), class_="record"), "Record of the run")
    lead = joined(_summary(model, clusters), _key_figures(model, clusters))
    payload = None
    if dendrogram.n_leaves > 1:  # else there is nothing to explore
        payload = report_payload(model, dendrogram, clusters, title, original, extras)
    return page(title, lead, sections, payload, lasting=(_EXACT, "Run"))


def dendrogram_page(
    dendrogram: Dendrogram,
    title: str,
    *,
    column_names: Sequence[str] | None = None,
    show: Any = None,
    coordinates: Any = None,
    suggest: Suggestion | None = None,
) -> str:
    """The page of `Dendrogram.to_html`."""
    sections = {"Dendrogram": _plain_tree(dendrogram)}
    if dendrogram.features is not None and dendrogram.n_leaves > 1:
        sections["Number of clusters"] = _curve(dendrogram, None)
        if rounding := rounding_of(dendrogram.n_leaves):
            sections[_EXACT] = _listed(rounding)
    leaves = numbers.counted(dendrogram.n_leaves, "leaf", "leaves")
    payload = None
    if dendrogram.n_leaves > 1:
        names = None if column_names is None else list(column_names)
        extras = extras_of_dendrogram(dendrogram, show, coordinates, suggest)
        payload = dendrogram_payload(dendrogram, title, names, extras)
    points = float(dendrogram.weights[-1])
    lead = f"{leaves}." if points == dendrogram.n_leaves else f"{leaves}, {numbers.count(points)} points."
    return page(title, tag("p", lead, class_="lead"), sections, payload, lasting=(_EXACT,))


# -- the head of the page


def _summary(model: AggregateModel, clusters: Clusters) -> Html:
    """What was clustered and how. The cut of the model is not named where the explorer shows the present one."""
    rows, k = numbers.count(clusters.rows), model.n_clusters_
    leaves = numbers.counted(len(model.features_), "leaf", "leaves")
    columns = numbers.counted(int(model.n_features_in_), "column", "columns")
    how = "aggregated into" if model.features_.sse.any() else "kept apart in"
    cut = f"cut into {numbers.counted(k, 'cluster', 'clusters')}"
    if options := model._cut_options:
        cut += f" ({', '.join(f'{name}={value!r}' for name, value in options.items())})"
    elif model.distance_threshold is not None:
        cut += f" at height {numbers.trimmed(float(model.distance_threshold))}"
    elif not model._is_cut:
        cut = "not cut"
    whole = f"{rows} rows of {columns}, {how} {leaves}, joined by {linkage_name(model)} linkage"
    return tag("p", whole, tag("span", f" and {cut}", class_="static"), ".", class_="lead")


def _key_figures(model: AggregateModel, clusters: Clusters) -> Html:
    inside = model._leaves()[model.subcluster_labels_ >= 0]  # noise is neither explained nor unexplained
    whole = float(inside.total().sse[0]) if inside.weight.any() else 0.0
    figures = [
        ("rows", numbers.count(clusters.rows)),
        ("leaves", f"{model.dendrogram_.n_leaves:,}"),
        ("clusters", f"{model.n_clusters_:,}" if model._is_cut else "not cut"),
        (f"rmsd {'within clusters' if model._is_cut else 'of all rows'}", numbers.number(clusters.table.overall_rmsd)),
        ("variance explained", _explained(clusters.sse, whole) if model._is_cut else "–"),
        ("threshold of the tree", numbers.number(model.threshold_)),
    ]
    return tag(
        "dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in figures), class_="figures static"
    )


# -- the sections


def _cut_height(model: AggregateModel) -> float | None:
    """The height of a level line that gives the clusters of the model; None if inversions leave no such height."""
    lower, upper = model.dendrogram_._heights_of(model.n_clusters_)
    height = (lower + upper) / 2 if model.distance_threshold is None else float(model.distance_threshold)
    return height if lower <= height <= upper < np.inf else None


def _dendrogram(model: AggregateModel, dendrogram: Dendrogram) -> Html:
    k = model.n_clusters_
    if k <= 1 or model._cut_options:  # branches of an adaptive cut end at different heights
        return _plain_tree(dendrogram)
    caption = [_branches(dendrogram)]
    if k > min(MOST_BRANCHES, dendrogram.n_leaves):
        caption.append(f"The cut into {k:,} clusters lies below them.")
    else:
        caption.append("Neighbouring clusters have different colours; their labels are those of the table below.")
    picture = dendrogram_picture(dendrogram, k, model.subcluster_labels_, _cut_height(model))
    return figure(picture, " ".join(caption), "Dendrogram")


def _plain_tree(dendrogram: Dendrogram) -> Html:
    if dendrogram.n_leaves == 1:
        return tag("p", "There is only one leaf, so there is nothing to merge.")
    return figure(dendrogram_picture(dendrogram), _branches(dendrogram), "Dendrogram")


def _branches(dendrogram: Dendrogram) -> str:
    if dendrogram.n_leaves <= MOST_BRANCHES:
        return f"All {dendrogram.n_leaves} leaves."
    return f"The uppermost {MOST_BRANCHES} of {dendrogram.n_leaves:,} branches; a wedge stands for the leaves below it."


def _how_to_cut() -> Html:
    return tag(
        "p",
        "The dendrogram is not cut. Choose a number of clusters k below, then cut: ",
        tag("code", "silverbirch cut MODEL INPUT -k K --labels FILE"),
        " on the command line, ",
        tag("code", "model.recut(n_clusters=k)"),
        " in Python.",
    )


def _curve(dendrogram: Dendrogram, k: int | None) -> Html:
    caption = (
        "The root mean squared distance (rmsd) of rows to the mean of their cluster, for every number of clusters this "
        "dendrogram can be cut into. Where the curve bends, more clusters gain less."
    )
    counts = sorted({step for step in (*_STEPS, k or 1) if step <= dendrogram.n_leaves})
    rows = (
        tag(
            "tr",
            tag("th", f"{count:,}", scope="row", class_="figure"),
            tag("td", numbers.number(dendrogram.rmsd(count)), class_="figure"),
            tag("td", _explained(dendrogram.sse(count), dendrogram.sse(1)), class_="figure"),
            class_="chosen" if count == k else None,
        )
        for count in counts
    )
    names = (tag("th", name, scope="col", class_="figure") for name in ("k", "rmsd", "explained"))
    table = tag("table", tag("thead", tag("tr", *names)), tag("tbody", *rows))
    return tag(
        "div",
        figure(rmsd_picture(dendrogram, k), caption, "Curve of the rmsd"),
        scrolling(table, "rmsd by k"),
        class_="beside",
    )


def _listed(sentences: list[str]) -> Html:
    return tag("ul", *(tag("li", sentence) for sentence in sentences))


def _explained(sse: float, whole: float) -> str:
    """The share of the sum of squares that the clusters explain; rounding can make it slightly negative for k = 1."""
    return numbers.percent(max(0.0, 1 - sse / whole)) if whole > 0 else "–"


def _colours(model: AggregateModel) -> dict[int, str]:
    """The colour of each label in the picture; empty if there are more clusters than colours."""
    k = model.n_clusters_
    if not 1 < k <= len(plot.BRANCHES) or model._cut_options:
        return {}
    shown = plot.clusters_in_order(model.dendrogram_, MOST_BRANCHES, k)
    labels = model.subcluster_labels_
    return {int(labels[cluster.leaf]): themed(cluster.colour) for cluster in shown}


def _clusters(clusters: Clusters, colours: dict[int, str]) -> Html:
    k, columns = len(clusters.table), len(clusters.names)
    sentences = ["Largest first, by the weight that the leaves absorbed."]
    if clusters.table.labelled:
        sentences.append("Numbers are those of the rows by their labels.")
    else:
        sentences.append("Numbers are those of the rows as the leaves absorbed them.")
    noise = float(1 - clusters.table.weight.sum() / clusters.total.weight[0])
    if noise > 1e-12:
        sentences.append(f"{numbers.percent(noise)} of the rows are noise, in no cluster.")
    if k > MOST_CLUSTERS:
        rest = float(clusters.table.weight[MOST_CLUSTERS:].sum() / clusters.total.weight[0])
        sentences.append(f"{k - MOST_CLUSTERS:,} smaller clusters, {numbers.percent(rest)} of the rows, are not shown.")
    sentences.append("rmsd is the root mean squared distance of a cluster's rows to its centre.")
    if clusters.few_columns:
        sentences.append(f"The columns to the right are the coordinates of the centre, {clusters.units}.")
    elif not clusters.embedding:
        sentences.append(
            f"Of {columns:,} columns those are named in which the centre is farthest from the mean of all rows, with "
            f"its value, {clusters.units}, and, in brackets, the difference in standard deviations of the column."
        )
    return joined(tag("p", " ".join(sentences)), scrolling(cluster_table(clusters, colours), "Clusters"))
