"""The real merges of a thousand sets of features."""

from __future__ import annotations

import math
import statistics
from argparse import Namespace
from collections.abc import Iterator
from functools import partial

import numpy as np

import silverbirch as sb
from benchmarks.raw_rows import Row
from silverbirch.demo import DIMENSIONS
from silverbirch.engines.job import rounds_of_merges
from silverbirch.engines.partial import Partial
from silverbirch.engines.work import Aggregate, Reading
from silverbirch.model import AggregateModel

from . import costs


def measure(options: Namespace) -> Iterator[Row]:
    """A row for each round, and one for the result."""
    work = Aggregate(Reading(), AggregateModel.get_params(AggregateModel(max_leaves=options.max_leaves)))
    done = [work(part, costs.mixture(options.set_rows, part)) for part in range(options.sets)]
    features = statistics.mean(len(Partial.from_bytes(data).features or ()) for data in done)
    for number, groups in enumerate(rounds_of_merges(len(done))):
        sent = [[done[i] for i in group] for group in groups]
        found = [costs.timed(partial(work.merged, group)) for group in sent]
        done = [merged for merged, _ in found]
        cpu = [times["cpu"] for _, times in found]
        yield {"round": number + 1, "sets": [len(group) for group in groups], "cpu": cpu}
    yield {"sets": options.sets, "set_rows": options.set_rows, "features": features} | result(done[0], options)


def result(merged: bytes, options: Namespace) -> Row:
    whole = Partial.from_bytes(merged).features
    assert whole is not None
    k = min(costs.K, len(whole))
    sample = costs.mixture(min(options.sample_rows, options.sets * options.set_rows), options.sets)
    one = sb.CFTree(max_leaves=options.max_leaves).insert(sample).features
    return {
        "merged_features": len(whole),
        "weight": float(whole.weight.sum()),
        "rmsd": rmsd(whole, k),
        "rmsd_of_one_tree": rmsd(one, min(k, len(one))),
        "sample_rows": len(sample),
        "rmsd_of_generator": costs.DEVIATION * math.sqrt(DIMENSIONS),
    }


def rmsd(features: sb.ClusterFeatures, k: int) -> float:
    return float(np.float64(sb.Dendrogram(sb.linkage(features, "ward"), features).rmsd(k)))
