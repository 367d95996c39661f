"""What a page is about: the payload of a report on a model, and that of a dendrogram alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import Floats
from ..dendrogram import Dendrogram
from ..dendrogram.nodes import Nodes
from ..dendrogram.suggestion import Suggestion
from ..model import AggregateModel
from .adaptive import add_ladder, add_own_cut
from .clusters import Clusters, Original
from .facts import add_facts, columns_of_clusters, columns_of_features, uppermost_nodes
from .packing import Packed
from .payload import Payload, add_layout
from .representatives import MOST_ROWS_OF_PAGE, Shown, add_representatives
from .scatter import add_scatter
from .texts import add_texts

_FEW_NODES = 500
_MOST_NAME_LETTERS = 2_000_000


@dataclass(frozen=True)
class Extras:
    """What a page shows beside the model: all of it is optional.

    shown : rows that stand for branches
    places : coordinates of each leaf
    leaf_of_row : the leaf of each row, for labels of the rows
    """

    shown: Shown | None = None
    places: Floats | None = None
    leaf_of_row: Any = None
    suggestion: Suggestion | None = None


NO_EXTRAS = Extras()


def labelled_dendrogram(model: AggregateModel) -> Dendrogram:
    """The dendrogram of a model, with the features of the rows by their labels where these are known.

    So its numbers are those of the table of clusters.
    """
    return Dendrogram(model.linkage_matrix_, model._leaves(), names=model.dendrogram_.names)


def report_payload(
    model: AggregateModel,
    dendrogram: Dendrogram,
    clusters: Clusters,
    title: str,
    original: Original | None = None,
    extras: Extras = NO_EXTRAS,
) -> Payload:
    """dendrogram : the labelled_dendrogram of the model"""
    header = _header("model", title, dendrogram) | {"weighted": clusters.weighted}
    payload = Payload(header)
    add_layout(payload, dendrogram, model.features_.weight)
    nodes = add_facts(payload, dendrogram, model.dendrogram_, columns_of_clusters(clusters, original))
    if model._cut_options:
        add_own_cut(payload, model, dendrogram)
    elif model._is_cut:
        header["cut"] = {"k": model.n_clusters_}
    add_ladder(payload, model.dendrogram_, dendrogram)
    _add_extras(payload, dendrogram, nodes, extras)
    return payload


def dendrogram_payload(
    dendrogram: Dendrogram, title: str, column_names: list[str] | None = None, extras: Extras = NO_EXTRAS
) -> Payload:
    payload = Payload(_header("dendrogram", title, dendrogram))
    add_layout(payload, dendrogram)
    nodes = uppermost_nodes(dendrogram, min(dendrogram.n_leaves, _FEW_NODES))
    if dendrogram.features is not None:
        columns = columns_of_features(dendrogram.features, column_names)
        nodes = add_facts(payload, dendrogram, dendrogram, columns)
    add_ladder(payload, dendrogram, dendrogram)
    _add_extras(payload, dendrogram, nodes, extras)
    return payload


def _add_extras(payload: Payload, dendrogram: Dendrogram, nodes: Nodes, extras: Extras) -> None:
    add_scatter(payload, dendrogram, extras.places)
    if extras.shown is not None:
        add_representatives(payload, dendrogram, nodes, extras.shown)
        add_texts(payload, extras.shown, extras.leaf_of_row)
    if extras.leaf_of_row is not None and len(extras.leaf_of_row) <= MOST_ROWS_OF_PAGE:
        payload.arrays["row_leaf"] = Packed(np.asarray(extras.leaf_of_row).astype(np.uint32))
    if (suggestion := extras.suggestion) is not None:
        payload.header["suggestion"] = {
            "k": suggestion.n_clusters,
            "reason": suggestion.reason,
            "votes": suggestion.votes,
        }


def _header(object_: str, title: str, dendrogram: Dendrogram) -> dict[str, Any]:
    """object_ : the name of what is cut in the Python code that a page shows"""
    return {
        "title": title,
        "weighted": False,
        "columns": [],
        "units": "",
        "embedding": False,
        "cut": None,
        "adaptive": [],
        "suggestion": None,
        "names": _names(dendrogram),
        "scatter": None,
        "representatives": None,
        "texts": None,
        "facts": {"nodes": 0, "complete_to": 0},
        "python": {"object": object_},
    }


def _names(dendrogram: Dendrogram) -> dict[str, str]:
    """The names of nodes, those near the root first, as far as the size allows."""
    names, letters = {}, 0
    for node in sorted(dendrogram.names, reverse=True):
        letters += len(dendrogram.names[node])
        if letters > _MOST_NAME_LETTERS:
            break
        names[str(node)] = dendrogram.names[node]
    return names
