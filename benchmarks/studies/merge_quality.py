"""What it costs in quality to build CF-trees of partitions and to merge their leaves, instead of one tree of all rows.

    python -m benchmarks.studies.merge_quality --partitions 1 2 16 64 --max-leaves 2000 25000 --seeds 0 1 2
    python -m benchmarks.studies.merge_quality --data flights --orders sorted    read from the folder $SILVERBIRCH_DATA
    python -m benchmarks.studies.merge_quality --render                          the table of all raw rows, again

The partitions go through the job of the engines, one after another in this process. Merges of eight sets at a time are
"shuffled:8", as the engines merge. "insert:8" inserts set after set, and "ward:8" merges the cheapest pairs first.
"+refined" adds a second pass over the rows, which counts each row in its nearest feature. "one" is one tree of all
rows, in the order of the partitions.

Figures are relative to "one" over the same rows in random order, means over the seeds: (a) rmsd(500) of the features
as absorbed; (b) the root mean squared distance of a sample of rows to the mean of its cluster, labelled by the exactly
nearest leaf. "sorted" partitions are slabs of a column, with sorted rows; the rows of "slabs" are shuffled within each,
which tells what the merge loses from what a tree of sorted rows has lost before. Raw rows are appended to --output. The
section "Quality" of docs/scale.md is made from them by `python -m benchmarks.studies.scale render`.
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import silverbirch as sb
from benchmarks import machine, markdown, raw_rows, runner
from benchmarks.studies import sample_quality
from silverbirch import _core
from silverbirch.demo import gaussian_mixture
from silverbirch.engines.job import FAN_IN, Run, fitted, rounds_of_merges
from silverbirch.engines.partial import Partial, counted_together
from silverbirch.engines.work import Aggregate, Reading, Work
from silverbirch.model import AggregateModel

Floats = NDArray[np.float64]
K = 500
SAMPLE = 250_000
ORDERS = ["random", "sorted", "slabs"]
RESULTS = runner.RESULTS / "merge_quality.jsonl"


# -- the data


def uniform(rows: int, seed: int) -> Floats:
    return np.random.default_rng(seed).uniform(0, 100, size=(rows, 5))


def mixture(rows: int, seed: int) -> Floats:
    return np.concatenate([chunk for chunk, _ in gaussian_mixture(rows, seed)])


def imbalanced(rows: int, seed: int) -> Floats:
    """500 Gaussians of Pareto weights and unequal spread; the seed shuffles them."""
    return np.random.default_rng(seed).permutation(sample_quality.imbalanced(rows))


def flights(_: int, seed: int) -> Floats:
    return np.random.default_rng(seed).permutation(sample_quality.flights(0))


def embeddings(_: int, seed: int) -> Floats:
    rows = np.load(sample_quality.real_data("packages-minilm.npy")).astype(np.float64)
    return np.random.default_rng(seed).permutation(rows)


DATA: dict[str, Callable[[int, int], Floats]] = {
    made.__name__: made for made in (uniform, mixture, imbalanced, flights, embeddings)
}


def arranged(X: Floats, order: str, partitions: int, seed: int) -> list[Floats]:
    """The rows of each partition."""
    if order == "random":
        return np.array_split(X, partitions)
    slabs = np.array_split(X[np.argsort(X[:, seed % X.shape[1]], kind="stable")], partitions)
    random = np.random.default_rng(seed)
    return slabs if order == "sorted" else [random.permutation(slab) for slab in slabs]


# -- merges


class Insert(Aggregate):
    """Inserts set after set."""

    def _merged(self, parts: Sequence[Partial]) -> Partial:
        tree = self._model()._new_tree().insert(together(parts))
        return replace(counted_together(parts), features=tree.features, threshold=tree.threshold)


class Ward(Aggregate):
    """Merges the cheapest pairs first, by Ward linkage, until the limit is met."""

    def _merged(self, parts: Sequence[Partial]) -> Partial:
        features, limit = together(parts), self.parameters["max_leaves"]
        if len(features) > limit:
            labels = sb.Dendrogram(sb.linkage(features, "ward"), features).cut(n_clusters=limit)
            weight, mean, between = _core.grouped(features.mean, features.weight, labels, limit, None)
            features = sb.ClusterFeatures(weight, mean, between + np.bincount(labels, features.sse, limit))
        largest = max(part.threshold for part in parts)
        return replace(counted_together(parts), features=features, threshold=largest)


def together(parts: Sequence[Partial]) -> sb.ClusterFeatures:
    """The features of all parts, part after part."""
    arrays = zip(*(part.features.arrays() for part in parts if part.features is not None), strict=True)
    return sb.ClusterFeatures(*(np.concatenate(array) for array in arrays))


JOINS: dict[str, type[Aggregate]] = {
    f"{name}:{FAN_IN}": join for name, join in (("shuffled", Aggregate), ("insert", Insert), ("ward", Ward))
}


def run_here(partitions: Sequence[Floats], join: type[Aggregate] = Aggregate) -> Run:
    """An engine without workers."""

    def run(work: Work) -> bytes:
        if isinstance(work, Aggregate):
            work = join(work.reading, work.parameters)
        done = [work(number, rows) for number, rows in enumerate(partitions)]
        for groups in rounds_of_merges(len(done)):
            done = [work.merged([done[i] for i in group]) for group in groups]
        return done[0]

    return run


# -- one run


def quality(features: sb.ClusterFeatures, sample: Floats) -> dict[str, float]:
    dendrogram = sb.Dendrogram(sb.linkage(features, "ward"), features)
    leaf = _core.NearestIndex(features.mean).nearest(sample, 1, None)[0]
    labels = np.unique(dendrogram.cut(n_clusters=K)[leaf], return_inverse=True)[1].astype(np.int64)
    _, _, sse = _core.grouped(sample, None, labels, int(labels.max()) + 1, None)
    return {
        "leaves": len(features),
        "leaf_sse": float(features.sse.sum() / features.weight.sum()),
        "nearest_mse": float(((sample - features.mean[leaf]) ** 2).sum(axis=1).mean()),
        "rmsd_absorbed": float(dendrogram.rmsd(K)),
        "rmsd_rows": float(np.sqrt(sse.sum() / len(sample))),
    }


def measure(partitions: Sequence[Floats], sample: Floats, recipe: str, max_leaves: int) -> Iterator[dict[str, Any]]:
    """The rows of a recipe and of the same refined."""
    model = AggregateModel(max_leaves=max_leaves, refine=1)
    begin = time.process_time()
    fitted(model, Reading(), run_here(partitions, JOINS.get(recipe, Aggregate)))
    seconds = time.process_time() - begin
    for name, features in ((recipe, model.tree_.features), (f"{recipe}+refined", model.features_)):
        yield {"recipe": name, "cpu": seconds} | quality(features, sample)


def run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    place = machine.describe()
    for data, rows, seed, order in itertools.product(options.data, options.rows, options.seeds, options.orders):
        X = DATA[data](rows, seed)
        sample = X[:: max(1, len(X) // SAMPLE)]
        case = {"data": data, "rows": len(X), "columns": X.shape[1], "order": order, "seed": seed}
        for partitions, max_leaves in itertools.product(options.partitions, options.max_leaves):
            rows_of_parts = arranged(X, order, partitions, seed)
            for recipe in ["one"] if partitions == 1 else options.recipes:
                row = case | {"max_leaves": max_leaves, "partitions": partitions}
                for found in measure(rows_of_parts, sample, recipe, max_leaves):
                    yield row | found | {"machine": place}


# -- the table


def compared(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], tuple[float, float, int]]:
    """(a) and (b) in % and the number of seeds, by data, rows, max_leaves, order, partitions and recipe.

    Of rows that were measured twice, the last one counts.
    """
    latest = {(*case_of(row), row["seed"]): row for row in rows}
    found: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for (*case, seed), row in latest.items():
        one = latest.get((*case[:3], "random", 1, "one", seed))
        if one is not None:
            ratios = row["rmsd_absorbed"] / one["rmsd_absorbed"], row["rmsd_rows"] / one["rmsd_rows"]
            found.setdefault(tuple(case), []).append(ratios)
    means = {case: (100 * (np.mean(ratios, axis=0) - 1)).tolist() for case, ratios in found.items()}
    return {case: (*means[case], len(found[case])) for case in sorted(found)}


def case_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("data", "rows", "max_leaves", "order", "partitions", "recipe"))


def rendered(rows: list[dict[str, Any]]) -> str:
    head = ["data", "rows", "max_leaves", "order", "partitions", "recipe", "(a) %", "(b) %", "seeds"]
    lines = (
        [*(f"{value:,}" if isinstance(value, int) else value for value in case), f"{a:+.2f}", f"{b:+.2f}", str(seeds)]
        for case, (a, b, seeds) in compared(rows).items()
    )
    return markdown.table(head, lines)


def show(row: dict[str, Any]) -> None:
    print(*case_of(row), *(f"{row[name]:.5g}" for name in ("seed", "rmsd_absorbed", "rmsd_rows")), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=list(DATA), default=["uniform", "mixture", "imbalanced"])
    parser.add_argument("--rows", type=int, nargs="+", default=[4_000_000])
    parser.add_argument("--max-leaves", type=int, nargs="+", default=[25_000])
    parser.add_argument("--partitions", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--orders", nargs="+", choices=ORDERS, default=["random", "sorted"])
    parser.add_argument("--recipes", nargs="+", choices=list(JOINS), default=list(JOINS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--output", type=Path, default=RESULTS, help="the raw rows")
    parser.add_argument("--render", action="store_true", help="only print the table of the raw rows")
    options = parser.parse_args()
    if not options.render:
        raw_rows.write(options.output, run(options), show, append=True)
    print(rendered(raw_rows.read(options.output)))


if __name__ == "__main__":
    main()
