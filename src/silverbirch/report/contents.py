"""What a page is about: the payload of a report on a model, and that of a dendrogram alone."""

from __future__ import annotations

from typing import Any

from ..dendrogram import Dendrogram
from ..model import AggregateModel
from .accuracy import accuracy_of
from .clusters import Clusters
from .payload import Payload, add_layout

_VERSION = 1  # of the header, which the script checks


def report_payload(model: AggregateModel, dendrogram: Dendrogram, clusters: Clusters, title: str) -> Payload:
    """dendrogram : that of the model, with the rows as they are labelled, where that is known"""
    header = _header("report", title, dendrogram) | {
        "rows": clusters.rows,
        "weighted": clusters.weighted,
        "method": model._made_by[0],
        "what": accuracy_of(model),
        "python": {"object": "model"},
    }
    payload = Payload(header)
    add_layout(payload, dendrogram, model.features_.weight)
    if model._is_cut and not model._cut_options:
        header["cut"] = {"k": model.n_clusters_}
    return payload


def dendrogram_payload(dendrogram: Dendrogram, title: str) -> Payload:
    payload = Payload(_header("dendrogram", title, dendrogram))
    add_layout(payload, dendrogram)
    return payload


def _header(kind: str, title: str, dendrogram: Dendrogram) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "title": title,
        "kind": kind,
        "rows": float(dendrogram.weights[-1]),
        "weighted": False,
        "method": None,
        "columns": [],
        "units": "",
        "embedding": False,
        "cut": None,
        "adaptive": [],
        "suggestion": None,
        "names": {str(node): name for node, name in dendrogram.names.items()},
        "scatter": None,
        "representatives": None,
        "facts": {"nodes": 0, "complete_to": 0},
        "python": {"object": "dendrogram"},
        "what": [],
    }
