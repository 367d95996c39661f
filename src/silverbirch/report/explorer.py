"""The widget itself, in a module of its own because its base class comes from anywidget."""

from __future__ import annotations

from typing import Any

import anywidget
import numpy as np
import traitlets
from numpy.typing import NDArray

from ..dendrogram import Dendrogram
from ..wording import parameter
from . import live
from .payload import Payload


class Explorer(anywidget.AnyWidget):
    """The explorer of a dendrogram in a notebook; `silverbirch.explore` makes it.

    Attributes
    ----------
    n_clusters : int or None
        The number of clusters of the present cut; None at an adaptive cut.
    adaptive : int or None
        The number of the adaptive cut that is shown; None at a cut into `n_clusters`.
    selected : int or None
        The number of the selected node.
    labels : int64 array (n,)
        The label of each row at the present cut; of each leaf where the rows are not known.
    """

    _esm = live.widget_script()
    _style = traitlets.Unicode().tag(sync=True)
    _data = traitlets.Unicode().tag(sync=True)
    n_clusters = traitlets.Int(None, allow_none=True).tag(sync=True)
    adaptive = traitlets.Int(None, allow_none=True).tag(sync=True)
    selected = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(self, dendrogram: Dendrogram, payload: Payload, leaf_of_row: Any = None) -> None:
        """dendrogram : its weights number the clusters"""
        self._dendrogram, self._leaf_of_row = dendrogram, leaf_of_row
        self._adaptive_nodes = [payload.arrays[cut["array"]].values for cut in payload.header["adaptive"]]
        suggested = (payload.header["suggestion"] or {}).get("k") or 10
        cut = payload.header["cut"] or {"k": min(dendrogram.n_leaves, suggested)}
        super().__init__(
            _style=live.widget_style(),
            _data=payload.text(),
            n_clusters=cut.get("k"),
            adaptive=cut.get("adaptive"),
        )

    @traitlets.validate("n_clusters")
    def _check_count(self, proposal: Any) -> int | None:
        k: int | None = proposal["value"]
        if k is not None and not 1 <= k <= self._dendrogram.n_leaves:
            raise ValueError(
                f"{parameter('n_clusters', k)}: must be between 1 and the {self._dendrogram.n_leaves} leaves"
            )
        return k

    @traitlets.validate("adaptive")
    def _check_adaptive(self, proposal: Any) -> int | None:
        number: int | None = proposal["value"]
        if number is not None and not 0 <= number < len(self._adaptive_nodes):
            raise ValueError(f"adaptive={number}: there are {len(self._adaptive_nodes)} adaptive cuts, numbered from 0")
        return number

    @traitlets.validate("selected")
    def _check_node(self, proposal: Any) -> int | None:
        node: int | None = proposal["value"]
        last = 2 * self._dendrogram.n_leaves - 2
        if node is not None and not 0 <= node <= last:
            raise ValueError(f"selected={node}: nodes are numbered from 0 to {last}")
        return node

    @traitlets.observe("n_clusters", "adaptive")
    def _one_of_both(self, change: Any) -> None:
        """A cut is either of a level or adaptive: the one that was set last."""
        if change["new"] is not None:
            self.set_trait("adaptive" if change["name"] == "n_clusters" else "n_clusters", None)

    @property
    def labels(self) -> NDArray[np.int64]:
        if self.n_clusters is not None:
            labels = self._dendrogram.cut(self.n_clusters)
        elif self.adaptive is None:
            raise ValueError("n_clusters and adaptive are None: set one of them")
        else:
            nodes = self._adaptive_nodes[self.adaptive].astype(np.int64)
            labels = self._dendrogram._numbered(self._dendrogram._hierarchy.labels_of(nodes))
        return labels if self._leaf_of_row is None else labels[self._leaf_of_row]
