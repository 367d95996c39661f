"""What a notebook shows of an object that is the last value of a cell."""

from __future__ import annotations

import base64
import io
from typing import Any

from .. import plot
from ..dendrogram import Dendrogram
from ..model import AggregateModel
from . import numbers
from .markup import Html, joined, tag

_BRANCHES = 30


def dendrogram_html(dendrogram: Dendrogram) -> str:
    """The facts and, if matplotlib is installed, a picture of the uppermost branches."""
    height = numbers.number(float(dendrogram.Z[:, 2].max(initial=0.0)))
    leaves = numbers.counted(dendrogram.n_leaves, "leaf", "leaves")
    points = numbers.count(float(dendrogram.weights[-1]))
    facts = tag("p", tag("b", "Dendrogram"), f" of {leaves}, {points} points, height {height}")
    try:
        return joined(facts, _picture(dendrogram) if dendrogram.n_leaves > 1 else None)
    except ImportError:
        return facts


def _picture(dendrogram: Dendrogram) -> Html:
    ax = plot.draw_dendrogram(
        dendrogram, plot.detached_axes((7, 2.6)), _BRANCHES, 1, dendrogram.names, {"linewidths": 1.0}
    )
    figure: Any = ax.figure
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=90)
    source = f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
    shown = min(_BRANCHES, dendrogram.n_leaves)
    return tag("img", src=source, alt=f"The uppermost {shown} of {dendrogram.n_leaves:,} branches")


def model_html(model: AggregateModel) -> str:
    """What is known of a fitted model. Nothing is clustered for it: that may take long."""
    rows = numbers.count(float(model.features_.weight.sum()))
    columns = numbers.counted(int(model.n_features_in_), "column", "columns")
    leaves = numbers.counted(len(model.features_), "leaf", "leaves")
    clusters = "not clustered yet"
    if model._clustering is not None:
        clusters = numbers.counted(model.n_clusters_, "cluster", "clusters")
    threshold = numbers.number(model.threshold_)
    return tag("p", f"{rows} rows of {columns} in {leaves} (threshold {threshold}), {clusters}.")
