"""Where to cut the dendrogram: the options that `cluster`, `cut` and `report` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ..dendrogram.cuts import CutMethod, adaptive_options, as_size, check_sizes
from ..dendrogram.suggestion import Suggestion
from ..model import AggregateModel
from . import options

CUTS = "-k, --height, --choose-k, --max-size or --cut-method"


@dataclass(frozen=True)
class Cutting:
    """A group of options: where to cut the dendrogram."""

    clusters: options.Clusters = None
    height: options.Height = None
    choose_k: options.ChooseK = False
    k_max: options.KMax = 50
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
        return self.clusters is not None or self.height is not None or self.choose_k or bool(self.options)

    def check(self, labels: str | None) -> None:
        """Raises ValueError before anything is read, if the options contradict each other."""
        levels = {"-k": self.clusters is not None, "--height": self.height is not None, "--choose-k": self.choose_k}
        given = [name for name, is_given in levels.items() if is_given]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} both say where to cut: give only one of them")
        check_sizes(self.cut_method, as_size(self.min_size, "min_size"), as_size(self.max_size, "max_size"))
        if self.cut_method != "level" and given:
            raise ValueError(f"--cut-method {self.cut_method} finds the number of clusters: leave {given[0]} out")
        if self.cut_method == "level" and not given and self.max_size is None and self.options:
            raise ValueError(f"--min-size and --noise need a cut: give {CUTS}")
        if labels is not None and not self.is_given:
            raise ValueError(f"labels need a cut: give {CUTS}")

    def parameters(self) -> dict[str, Any]:
        """The cut in the record of a run."""
        chosen = {"choose_k": True, "k_max": self.k_max} if self.choose_k else {}
        return {"n_clusters": self.clusters, "distance_threshold": self.height} | chosen | self.options

    def apply(self, model: AggregateModel) -> Suggestion | None:
        """Cuts the model. Returns the suggestion of --choose-k; if it has no number, the model is not cut."""
        suggestion = model.choose_k(self.k_max) if self.choose_k else None
        clusters = self.clusters if suggestion is None else suggestion.n_clusters
        if clusters is not None or not self.choose_k:
            model.recut(clusters, height=self.height, **self.options)
        return suggestion
