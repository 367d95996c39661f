"""The job on many machines, whatever the engine: passes over the partitions, and a model of what they send."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ..features import ClusterFeatures
from ..model import AggregateModel, Refined
from ..model.labelled import LabelledLeaves
from ..pipeline.aggregation import Counts, nothing_left
from ..pipeline.provenance import RunState
from ..wording import parameter
from .partial import Partial
from .work import Aggregate, Count, Gather, Reading, Work, packed_model

# Merges of so many at once: more of them are fewer rounds, and more memory of the worker that merges.
FAN_IN = 8

# How errors about workers that died end.
LOST_WORKERS = "most likely for want of memory: give each worker more, or divide the largest files"

# How an engine does some work: on every partition, then merged round by round in the order of the partitions.
Run: TypeAlias = Callable[[Work], bytes]


def rounds_of_merges(count: int) -> list[list[range]]:
    """For each round of merges the groups of consecutive results; the last round has one group.

    It depends on the number of partitions alone, so every run merges the same.
    """
    rounds: list[list[range]] = []
    while not rounds or count > 1:
        rounds.append([range(begin, min(begin + FAN_IN, count)) for begin in range(0, count, FAN_IN)])
        count = len(rounds[-1])
    return rounds


def aggregated(model: AggregateModel, reading: Reading, run: Run) -> tuple[Partial, Reading]:
    """The features of all rows, and the reading with the numbers of its preparation."""
    model._check_parameters()
    model._new_tree()
    reading = replace(reading, preparation=replace(reading.preparation, metric=model.metric))
    if reading.preparation.needs_statistics:
        reading = _with_statistics(reading, run)
    whole = Partial.from_bytes(run(Aggregate(reading, AggregateModel.get_params(model))))
    if whole.features is None:
        raise _no_rows(whole.counts, reading, all_dropped=whole.counts.dropped == whole.counts.rows)
    return whole, _of_columns(reading, whole)


def _with_statistics(reading: Reading, run: Run) -> Reading:
    found = Partial.from_bytes(run(Gather(reading)))
    reading = _of_columns(reading, found)
    if found.columns is not None and found.counts.dropped and reading.preparation.missing == "mean":
        found = Partial.from_bytes(run(Gather(reading)))  # rows without any list count in the means of other columns
    if found.statistics is None or found.columns is None or found.statistics.weight == 0:
        raise _no_rows(found.counts, reading, all_dropped=reading.preparation.missing == "drop")
    known = reading.preparation.from_statistics(found.statistics.checked(found.columns.names))
    return replace(reading, preparation=known)


def _of_columns(reading: Reading, whole: Partial) -> Reading:
    """The reading by the names of the columns: 'e[0]', 'e[1]', … tell the length of lists where there are none."""
    names = None if whole.columns is None else whole.columns.names
    if names is None or not any(name.endswith("]") for name in names):
        return reading
    return replace(reading, arguments=reading.arguments | {"columns": names})


def _no_rows(counts: Counts, reading: Reading, *, all_dropped: bool = False) -> ValueError:
    """The error for partitions that have no row to cluster."""
    weight_column = reading.arguments.get("weight_column")
    if counts.rows == 0:
        return ValueError("the partitions have no rows: at least one is needed")
    if reading.preparation.missing == "mean" and counts.dropped == counts.rows:
        return ValueError("a column of lists has no list in any row: leave that column out")
    if all_dropped:
        return nothing_left(counts.rows, weight_column)
    weight = parameter("sample_weight") if weight_column is None else parameter("weight_column", weight_column)
    return ValueError(f"{weight} is zero for all rows: at least one row needs a positive weight")


def fitted(model: AggregateModel, reading: Reading, run: Run) -> tuple[RunState, Counts]:
    """Fits the model to the rows; returns how they were read and prepared, and their counts."""
    whole, reading = aggregated(model, reading, run)
    assert whole.columns is not None
    assert whole.features is not None
    take(model, whole)
    state = RunState(whole.columns.names, preparation=reading.preparation)
    for _ in range(model.refine):
        leaves = counted(model, state, reading, run, whole.counts).features
        model._refined = Refined(leaves[leaves.weight > 0], may_list=model.max_memory is None)
    return state, whole.counts


def take(model: AggregateModel, whole: Partial) -> None:
    """Makes the features the leaves of the model."""
    assert whole.columns is not None
    assert whole.features is not None
    tree = model._new_tree()
    tree._initial_threshold, initial = 0.0, tree._initial_threshold  # by which they might absorb each other
    tree.insert(whole.features)
    tree._initial_threshold = initial
    with tree._changing(whole.features.n_dimensions) as core:
        core.raise_threshold(whole.threshold**2)  # after the insertion, so that each feature stays a leaf
    model.n_features_in_ = whole.columns.count
    model.__dict__.pop("feature_names_in_", None)
    if whole.columns.names is not None:
        model.feature_names_in_ = np.array(whole.columns.names, dtype=object)
    if model._projection is not None:
        model._projection._signs_for(whole.columns.count)
    model._take(tree)


def counted(model: AggregateModel, state: RunState, reading: Reading, run: Run, first: Counts) -> LabelledLeaves:
    """The rows labelled to each leaf of the model, in another pass over all rows."""
    return labelled_leaves(model, Partial.from_bytes(run(Count(reading, packed_model(model, state)))), first)


def labelled_leaves(model: AggregateModel, whole: Partial, first: Counts) -> LabelledLeaves:
    """What the workers counted for each leaf of the model.

    Raises ValueError if these are not as many rows as the first pass counted.
    """
    before, now = ((counts.rows, counts.dropped) for counts in (first, whole.counts))
    if now != before:
        raise ValueError(
            f"the first pass read {before[0]:,} rows and left out {before[1]:,}, another one read {now[0]:,} and left "
            f"out {now[1]:,}: try again when no program writes to the input, and store rows first that are computed "
            "anew in each pass"
        )
    assert whole.features is not None
    assert whole.leaf_rows is not None
    weight, mean, sse = whole.features.arrays()
    mean = np.where(weight[:, None] == 0, model.features_.mean, mean)
    return LabelledLeaves(whole.leaf_rows, ClusterFeatures._adopt(weight, mean, sse))
