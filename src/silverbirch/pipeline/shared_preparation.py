"""The file of `silverbirch prepare`: how rows are prepared, and the statistics for it, for all parts of the rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from ..errors import ModelFileError
from ..storage import container
from .preparation import Preparation
from .provenance import RunState, refuse_differences
from .sources import fingerprint_of, refuse_overlap
from .statistics import ColumnStatistics

KIND = "preparation"


@dataclass(frozen=True)
class SharedPreparation:
    """The choices of the user (in `state`), and the statistics of all rows.

    The preparation in `state` has no numbers yet: a part of the rows may have no value in a column.
    """

    state: RunState
    statistics: ColumnStatistics

    def completed(self) -> Preparation:
        """The preparation with its numbers; raises ValueError if a column has no value in any row."""
        return self.state.preparation.from_statistics(self.statistics.checked(self.state.columns))

    def write(self, path: str | os.PathLike[str]) -> None:
        container.write(
            path, KIND, *self.state.added_to({}, container.prefixed("statistics", self.statistics.to_state()))
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SharedPreparation:
        """The content of a file; raises ModelFileError if it is not valid."""
        kind, state, arrays = container.read(path)
        if kind != KIND:
            raise ModelFileError(
                f"{path} is a file of the kind {kind!r}, not a preparation: `silverbirch prepare` writes those"
            )
        return cls.from_file(path, state, arrays)

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], state: dict[str, Any], arrays: container.Arrays
    ) -> SharedPreparation:
        try:
            statistics = ColumnStatistics.from_state(container.under("statistics", arrays))
            if not isinstance(state.get("run"), dict):
                raise ValueError("it does not say how rows are prepared")
            return cls(RunState.found_in(state, arrays, statistics.n_columns, complete=False), statistics)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path} does not hold a whole preparation: {container.one_line(error)}") from None


def joined(paths: Sequence[str], *, allow_overlap: bool) -> SharedPreparation:
    """The preparation for the rows of all files together; raises ModelFileError if the files do not go together."""
    parts = [SharedPreparation.read(path) for path in paths]
    refuse_differences(paths, [part.state for part in parts], "give all parts the same options")
    for path, part in zip(paths, parts, strict=True):
        if (own := part.state.weight_column) != (first := parts[0].state.weight_column):
            raise ModelFileError(
                f"{path} has the weight column {own!r} but {paths[0]} {first!r}: give all parts the same options"
            )
    made_of = [(path, part.state.made_of or (fingerprint_of(path),)) for path, part in zip(paths, parts, strict=True)]
    if not allow_overlap:
        refuse_overlap(made_of)
    sources = tuple(source for _, own in made_of for source in own)
    statistics = reduce(ColumnStatistics.joined_with, [part.statistics for part in parts])
    return SharedPreparation(replace(parts[0].state, made_of=sources), statistics)
