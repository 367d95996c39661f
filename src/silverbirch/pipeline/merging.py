"""Merges the features of many files into the tree of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ModelFileError
from ..features import ClusterFeatures
from ..model import AggregateModel
from ..rows import START, Position
from ..storage import container
from ..storage import model as model_in_file
from ..storage.loading import object_in
from ..tree import CFTree
from .aggregation import resumed_model
from .gathering import position_from
from .provenance import RunState, refuse_differences
from .shared_preparation import KIND as PREPARATION
from .sources import Fingerprint, fingerprint_of, refuse_overlap

_REMEDY = "run `silverbirch prepare` on all rows, then `aggregate --prepare` on each part"


class FeatureFiles:
    """Files of features that go together: the same columns, prepared alike, of different rows.

    The constructor reads all files once, so that nothing is merged if one of them does not fit.

    state : what the files share, and what all of them together are made of
    fingerprint : name, size and content of each file
    """

    def __init__(self, paths: Sequence[str], *, allow_overlap: bool = False) -> None:
        self.paths = list(paths)
        self.fingerprint: list[Fingerprint] = [fingerprint_of(path) for path in paths]
        states = [_read(path)[1] for path in paths]
        refuse_differences(self.paths, states, _REMEDY)
        made_of = [
            (path, state.made_of or (itself,))
            for path, state, itself in zip(paths, states, self.fingerprint, strict=True)
        ]
        if not allow_overlap:
            refuse_overlap(made_of)
        self.state = replace(states[0], made_of=tuple(source for _, sources in made_of for source in sources))

    def __getitem__(self, number: int) -> ClusterFeatures:
        if fingerprint_of(self.paths[number]) != self.fingerprint[number]:
            raise ValueError(f"{self.paths[number]} was changed while it was read: try again when no program writes it")
        return _read(self.paths[number])[0]

    def __len__(self) -> int:
        return len(self.paths)

    def fraction(self, position: Position) -> float:
        return position.file / len(self)


def _read(path: str) -> tuple[ClusterFeatures, RunState]:
    """The features in a file of features, a tree, a dendrogram or a model, and the state of its run."""
    content = container.read(path)
    if content[0] == PREPARATION:
        raise ModelFileError(
            f"{path} holds a preparation, not features: `aggregate --prepare {path}` makes those of rows"
        )
    features: ClusterFeatures = object_in(path, content, ClusterFeatures)
    _, state, arrays = content
    if "projection" in arrays:
        raise ModelFileError(
            f"{path} holds a model of projected rows, not features: `silverbirch cut` and silverbirch.load take it"
        )
    return features, RunState.of_file(path, state, arrays, features.n_dimensions)


@dataclass
class Merging:
    """The state of the work. Stored between two files and resumed, it gives the same result."""

    source: FeatureFiles
    model: AggregateModel
    position: Position = START

    stage = "merge"

    @property
    def rows(self) -> int:
        return 0 if self.tree is None else round(self.tree.n_points)

    @property
    def tree(self) -> CFTree | None:
        return getattr(self.model, "tree_", None)

    @property
    def progress(self) -> str:
        return f"file {self.position.file:,} of {len(self.source):,}"

    def run(self, after_file: Callable[[Merging], Any]) -> None:
        """Continues with the next file; calls `after_file` after each file."""
        for number in range(self.position.file, len(self.source)):
            self.model.insert(self.source[number])
            self.position = Position(number + 1, 0)
            after_file(self)

    # -- in checkpoints

    def to_state(self) -> tuple[dict[str, Any], container.Arrays]:
        model, arrays = (None, {}) if self.tree is None else model_in_file.to_file(self.model)
        counts = {"files": self.position.file, "rows": self.rows}
        return {"position": list(self.position), "counts": counts, "model": model}, container.prefixed("model", arrays)

    def resume(self, state: dict[str, Any], arrays: container.Arrays) -> None:
        """Restores a stored state; the model keeps its current parameters."""
        if state["model"] is not None:
            self.model = resumed_model(self.model, state["model"], container.under("model", arrays))
        self.position = position_from(state["position"])
