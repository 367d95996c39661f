"""The second pass: every row gets the label of its exactly nearest leaf, in input order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model import AggregateModel
from ..model.labelled import LeafCounter
from ..rows import Position, RowSource
from .labels import LEFT_OUT, LabelWriter
from .preparation import Preparation

NOISE = -1  # the label of rows in no cluster


def label_rows(
    source: RowSource,
    preparation: Preparation,
    model: AggregateModel,
    writer: LabelWriter,
    *,
    with_ids: bool,
    after_chunk: Callable[[int, Position], None],
    counter: LeafCounter | None = None,
) -> dict[str, int]:
    """Returns the numbers of rows with a label and of rows left out; after a cut with noise, of rows in no cluster too.

    Calls `after_chunk(rows so far, position)`. `counter` sums up the rows of each leaf in the same pass.
    """
    rows = unlabelled = noise = 0
    for chunk in source.chunks(with_ids=with_ids):
        prepared = preparation.apply(chunk, source)
        labels = model._labels_of(model._source(prepared), None if counter is None else counter.add)
        if prepared.left_out is not None:
            labels[prepared.left_out] = LEFT_OUT
            unlabelled += int(np.count_nonzero(prepared.left_out))
        noise += int(np.count_nonzero(labels == NOISE))
        writer.write(labels, chunk.ids)
        rows += len(labels)
        after_chunk(rows, chunk.end)
    counts = {"labelled": rows - unlabelled, "unlabelled": unlabelled}
    return counts | {"noise": noise} if (model.subcluster_labels_ == NOISE).any() else counts
