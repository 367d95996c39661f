"""Adaptive cuts that a page offers: that of the model, and a ladder of sizes for each method."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..dendrogram import Dendrogram
from ..dendrogram.cuts import dynamic_nodes, eom_nodes
from ..dendrogram.nodes import Nodes
from ..model import AggregateModel
from . import numbers
from .packing import Packed
from .payload import Payload

_MOST_LEAVES = 100_000  # each cut takes some seconds where there are a million
_SHARES = (0.001, 0.003, 0.01, 0.03, 0.1)  # of all rows: the ladder of min_size
_SEARCHES = {"eom": lambda dendrogram, size: eom_nodes(dendrogram, size, None), "dynamic": dynamic_nodes}
_METHODS = {"eom": "Excess of mass", "dynamic": "Dynamic tree cut"}


def add_own_cut(payload: Payload, model: AggregateModel, shown: Dendrogram) -> None:
    """Adds the adaptive cut of the model, and begins with it.

    Clusters of a page are whole branches, so leaves that joined a cluster count as noise.

    shown : the dendrogram of the page, whose weights are those of the rows as they are labelled
    """
    options = model._cut_options
    at: dict[str, Any] = {}
    if model.n_clusters is not None:
        at = {"n_clusters": model.n_clusters}
    elif model.distance_threshold is not None:
        at = {"height": model.distance_threshold}
    whole = {**at, **options, "noise": True}
    nodes = model.dendrogram_.nodes(model.dendrogram_.cut(**whole))
    label = "The cut of the model" if options.get("noise") else "The cut of the model, without leaves that joined later"
    _add(payload, shown, nodes, whole, label)
    payload.header["cut"] = {"adaptive": len(payload.header["adaptive"]) - 1}


def add_ladder(payload: Payload, dendrogram: Dendrogram, shown: Dendrogram) -> None:
    """Adds the cuts of both methods for some values of min_size; a cut like the one before it is left out.

    dendrogram : the one to cut
    shown : the same as the page shows it, with the weights of the labelled rows
    """
    if dendrogram.n_leaves > _MOST_LEAVES:
        return
    for method, search in _SEARCHES.items():
        before: Nodes = np.empty(0, dtype=np.int64)
        for size in _sizes(float(dendrogram.weights[-1])):
            nodes = np.sort(search(dendrogram, size))
            if len(nodes) and not np.array_equal(nodes, before):
                label = f"{_METHODS[method]}, at least {numbers.count(size)}"
                _add(payload, shown, nodes, {"method": method, "min_size": size, "noise": True}, label)
            before = nodes


def _sizes(total: float) -> Iterator[int]:
    """1, 2 or 5 times a power of ten near the shares of the total, ascending."""
    found = set()
    for share in _SHARES:
        power = 10.0 ** math.floor(math.log10(max(share * total, 1)))
        digit = max(digit for digit in (1, 2, 5) if digit * power <= max(share * total, 1))
        found.add(max(2, int(digit * power)))
    yield from sorted(size for size in found if size <= total)


def _add(payload: Payload, shown: Dendrogram, nodes: Nodes, options: dict[str, Any], label: str) -> None:
    array = f"adaptive_{len(payload.header['adaptive'])}"
    noise = max(0.0, 1 - float(shown.weights[nodes].sum() / shown.weights[-1]))
    found = numbers.counted(len(nodes), "cluster", "clusters")
    noise_text = f", {numbers.percent(noise)} noise" if noise > 1e-12 else ""
    payload.arrays[array] = Packed(np.asarray(nodes, dtype=np.uint32))
    payload.header["adaptive"].append(
        {
            "label": f"{label}: {found}{noise_text}",
            "python": ", ".join(f"{name}={value!r}" for name, value in options.items()),
            "array": array,
        }
    )
