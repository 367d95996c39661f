"""Where to cut the dendrogram: the options that `cluster`, `cut` and `report` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ..dendrogram.cuts import CutMethod, adaptive_options, as_size, check_sizes
from ..model import AggregateModel
from . import options


@dataclass(frozen=True)
class Cutting:
    """A group of options: where to cut the dendrogram."""

    clusters: options.Clusters = None
    height: options.Height = None
    cut_method: options.CutMethod = "level"
    min_size: options.MinSize = None
    max_size: options.MaxSize = None
    noise: options.Noise = False

    @property
    def options(self) -> dict[str, Any]:
        """The options of an adaptive cut, without defaults."""
        return adaptive_options(cast(CutMethod, self.cut_method), self.min_size, self.max_size, self.noise)

    @property
    def is_given(self) -> bool:
        return self.clusters is not None or self.height is not None or bool(self.options)

    def check(self, labels: str | None) -> None:
        """Raises ValueError before anything is read, if the options contradict each other."""
        at_level = self.clusters is not None or self.height is not None
        if self.clusters is not None and self.height is not None:
            raise ValueError("-k and --height both say where to cut: give only one of them")
        check_sizes(self.cut_method, as_size(self.min_size, "min_size"), as_size(self.max_size, "max_size"))
        if self.cut_method != "level" and at_level:
            raise ValueError(f"--cut-method {self.cut_method} finds the number of clusters: leave -k and --height out")
        if self.cut_method == "level" and not at_level and self.max_size is None and self.options:
            raise ValueError("--min-size and --noise need a cut: give -k, --height, --max-size or --cut-method")
        if labels is not None and not self.is_given:
            raise ValueError("labels need a cut: give -k, --height, --max-size or --cut-method")

    def parameters(self) -> dict[str, Any]:
        """The cut in the record of a run."""
        return {"n_clusters": self.clusters, "distance_threshold": self.height} | self.options

    def apply(self, model: AggregateModel) -> None:
        model.recut(self.clusters, height=self.height, **self.options)
