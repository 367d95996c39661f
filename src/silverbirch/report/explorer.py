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
        The label of each row at the present cut; of each leaf for a dendrogram.
    """

    _esm = live.widget_script()
    _style = traitlets.Unicode().tag(sync=True)
    _data = traitlets.Unicode().tag(sync=True)
    n_clusters = traitlets.Int(None, allow_none=True).tag(sync=True)
    adaptive = traitlets.Int(None, allow_none=True).tag(sync=True)
    selected = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(self, explored: Any, dendrogram: Dendrogram, payload: Payload) -> None:
        self._explored, self._n_leaves = explored, dendrogram.n_leaves
        self._adaptive_cuts: list[dict[str, Any]] = payload.header["adaptive"]
        cut = payload.header["cut"] or {"k": min(dendrogram.n_leaves, 10)}
        super().__init__(
            _style=live.widget_style(),
            _data=payload.text(),
            n_clusters=cut.get("k"),
            adaptive=cut.get("adaptive"),
        )

    @traitlets.validate("n_clusters")
    def _check_count(self, proposal: Any) -> int | None:
        k: int | None = proposal["value"]
        if k is not None and not 1 <= k <= self._n_leaves:
            raise ValueError(f"{parameter('n_clusters', k)}: must be between 1 and the {self._n_leaves} leaves")
        return k

    @traitlets.validate("adaptive")
    def _check_adaptive(self, proposal: Any) -> int | None:
        number: int | None = proposal["value"]
        if number is not None and not 0 <= number < len(self._adaptive_cuts):
            raise ValueError(f"adaptive={number}: there are {len(self._adaptive_cuts)} adaptive cuts, numbered from 0")
        return number

    @traitlets.validate("selected")
    def _check_node(self, proposal: Any) -> int | None:
        node: int | None = proposal["value"]
        if node is not None and not 0 <= node < 2 * self._n_leaves - 1:
            raise ValueError(f"selected={node}: nodes are numbered from 0 to {2 * self._n_leaves - 2}")
        return node

    @traitlets.observe("n_clusters", "adaptive")
    def _one_of_both(self, change: Any) -> None:
        """A cut is either of a level or adaptive: the one that was set last."""
        if change["new"] is not None:
            self.set_trait("adaptive" if change["name"] == "n_clusters" else "n_clusters", None)

    @property
    def labels(self) -> NDArray[np.int64]:
        if self.n_clusters is not None:
            cut = {"n_clusters": self.n_clusters}
        else:
            chosen = self._adaptive_cuts[self.adaptive]
            cut = {"method": chosen["method"], "min_size": chosen["min_size"], "noise": True}
        labels: NDArray[np.int64] = self._explored.cut(**cut)
        return labels
