"""The targets, and whether the raw rows meet them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .jobs import MILLION, THOUSAND
from .summary import Summary, ratio, same_case, select

# Sorted heights of two exact algorithms differ only by rounding.
SAME_HEIGHTS = 1e-9
TWO_TREES_AS_GOOD_AS_ONE = 1.01
WORDS = {
    "wall": "s",
    "beyond_mb": "MB beyond the data",
    "beyond_chunk_mb": "MB beyond the chunk",
    "leaf_sse": "leaf SSE",
}


@dataclass(frozen=True)
class Verdict:
    """The result of a target; `met` is None if it was not measured."""

    work: str
    goal: str
    reached: str
    met: bool | None


@dataclass(frozen=True, kw_only=True)
class Target:
    """A target for all data of a suite that match `where`; it is met if it is met on all of them."""

    work: str
    suite: str
    where: dict[str, Any] = field(default_factory=dict)

    def goal(self) -> str:
        raise NotImplementedError

    def judge(self, ours: Summary, summaries: Sequence[Summary]) -> tuple[str, bool | None]:
        raise NotImplementedError

    def verdict(self, summaries: Sequence[Summary]) -> Verdict:
        findings = []
        for ours in select(
            summaries, **{"suite": self.suite, "implementation": "silverbirch", "threads": 1} | self.where
        ):
            text, met = (ours.failure, False) if ours.failure else self.judge(ours, summaries)
            findings.append((f"{ours.job.data}: {text}", met))
        met = [finding[1] for finding in findings]
        whole = False if False in met else None if None in met or not met else True
        return Verdict(self.work, self.goal(), "; ".join(text for text, _ in findings) or "not measured", whole)


@dataclass(frozen=True, kw_only=True)
class FasterThan(Target):
    """Compares silverbirch's time with that of the peers on the same case; heights must agree if both have them."""

    peers: tuple[str, ...]
    at_least: float
    no_more: str | None = None  # a metric in which silverbirch must not exceed the peers
    below: tuple[str, float] | None = None  # a metric of silverbirch and its limit

    def goal(self) -> str:
        text = f"{self.at_least:g} × {' and '.join(self.peers)}"
        text += f" at no more {WORDS[self.no_more]}" if self.no_more else ""
        return text + (f", under {self.below[1]:g} {WORDS[self.below[0]]}" if self.below else "")

    def judge(self, ours: Summary, summaries: Sequence[Summary]) -> tuple[str, bool | None]:
        difference = ours.height_difference or 0.0
        met = difference <= SAME_HEIGHTS
        findings = [] if met else [f"heights differ by {difference:.1g}"]
        for name in self.peers:
            peer = same_case(summaries, ours.job, name)
            times = ratio(peer, ours)
            if peer is None or times is None:
                return f"{name} has no result", None
            text = f"{times:.3g} ×"
            met &= times >= self.at_least
            if self.no_more:
                share = ours.median(self.no_more) / peer.median(self.no_more)
                text += f" at {100 * (share - 1):+.1f} % {WORDS[self.no_more]}"
                met &= share <= 1.0
            findings.append(text)
        if self.below:
            metric, limit = self.below
            findings.append(f"{ours.median(metric):.3g} {WORDS[metric]}")
            met &= ours.median(metric) < limit
        return ", ".join(findings), met


@dataclass(frozen=True, kw_only=True)
class Within(Target):
    """Compares metrics of silverbirch with limits."""

    below: dict[str, float]

    def goal(self) -> str:
        return " and ".join(f"under {limit:g} {WORDS[metric]}" for metric, limit in self.below.items())

    def judge(self, ours: Summary, summaries: Sequence[Summary]) -> tuple[str, bool | None]:
        values = {metric: ours.median(metric) for metric in self.below}
        text = ", ".join(f"{value:.3g} {WORDS[metric]}" for metric, value in values.items())
        return text, all(values[metric] < limit for metric, limit in self.below.items())


@dataclass(frozen=True, kw_only=True)
class MoreThreads(Target):
    """Wall time with one thread over wall time with more, for the same heights to the bit, or leaves about as good."""

    at_least: float
    threads: int = 2
    suite: str = "threads"

    def goal(self) -> str:
        return f"{self.at_least:g} ×"

    def judge(self, ours: Summary, summaries: Sequence[Summary]) -> tuple[str, bool | None]:
        case = ours.job.name()
        with_more = select(summaries, suite=self.suite, threads=self.threads)
        more = next((s for s in with_more if s.job.name() == case), None)
        if more is None or more.failure:
            return f"{self.threads} threads have no result", None
        gain = ours.median("wall") / more.median("wall")
        text, met = f"{gain:.3g} ×", gain >= self.at_least and not more.height_difference
        if (one_sse := ours.median("leaf_sse")) is not None:
            share = more.median("leaf_sse") / one_sse
            text += f" at {100 * (share - 1):+.1f} % leaf SSE"
            met &= share <= TWO_TREES_AS_GOOD_AS_ONE
        return text, met


def _tree(suite: str, at_least: float, **where: Any) -> FasterThan:
    wide = f"d = {where['columns']}, float32" if "columns" in where else "1,000,000 rows"
    work = f"tree build, {wide}, max_leaves {where['max_leaves']:,}"
    peers = ("betula-cluster",)
    return FasterThan(work=work, suite=suite, where=where, peers=peers, at_least=at_least, no_more="leaf_sse")


def _nearest(peer: str, at_least: float) -> FasterThan:
    work = "exactly nearest of 25,000 leaves, 10,000,000 rows"
    return FasterThan(work=work, suite="assign", where={"rows": 10 * MILLION}, peers=(peer,), at_least=at_least)


def _on_cores(work: str, at_least: float, suite: str = "cores", **where: Any) -> MoreThreads:
    return MoreThreads(work=f"16 threads, {work}", suite=suite, where=where, threads=16, at_least=at_least)


VECTOR = ("fastcluster.linkage_vector",)
TARGETS: tuple[Target, ...] = (
    FasterThan(
        work="exact Ward, 50,000 points", suite="ward", where={"rows": 50 * THOUSAND}, peers=VECTOR, at_least=80
    ),
    Within(
        work="exact Ward, 1,000,000 points", suite="ward", where={"rows": MILLION}, below={"wall": 10, "beyond_mb": 500}
    ),
    Within(work="exact Ward, 10,000,000 points", suite="ward", where={"rows": 10 * MILLION}, below={"wall": 600}),
    FasterThan(
        work="exact centroid, 50,000 points", suite="centroid", where={"rows": 50 * THOUSAND}, peers=VECTOR, at_least=60
    ),
    FasterThan(
        work="exact single, 1,000,000 points",
        suite="single",
        where={"rows": MILLION},
        peers=("genieclust", "quitefastmst"),
        at_least=1,
    ),
    FasterThan(
        work="exact complete, 25,000 points",
        suite="complete",
        where={"rows": 25 * THOUSAND},
        peers=("fastcluster",),
        at_least=50,
        below=("beyond_mb", 50),
    ),
    FasterThan(
        work="Ward of 25,000 weighted features",
        suite="features",
        where={"max_leaves": 25_000},
        peers=("betula-cluster",),
        at_least=80,
    ),
    FasterThan(
        work="Ward of 10,000 points, d = 384, float32",
        suite="ward-wide",
        where={"rows": 10 * THOUSAND},
        peers=("betula-cluster", "fastcluster"),
        at_least=10,
    ),
    *(_tree("tree", 4, rows=MILLION, max_leaves=leaves) for leaves in (2_000, 10_000, 25_000)),
    *(_tree("tree-wide", 2.4, columns=d, max_leaves=leaves) for d in (64, 384) for leaves in (2_000, 10_000)),
    _nearest("betula-cluster", 2),
    _nearest("scipy.cKDTree", 10),
    FasterThan(
        work="whole job, 10,000,000 rows, max_leaves 25,000, k = 500",
        suite="whole",
        where={"rows": 10 * MILLION},
        peers=("betula-cluster",),
        at_least=4,
    ),
    MoreThreads(
        work="second thread, tree build of 1,000,000 rows", where={"task": "tree", "rows": MILLION}, at_least=1.6
    ),
    MoreThreads(
        work="second thread, Ward of 1,000,000 points", where={"task": "linkage", "rows": MILLION}, at_least=1.6
    ),
    _on_cores("Ward of 1,000,000 points", 9, task="linkage", method="ward", rows=MILLION),
    _on_cores("Ward of 10,000,000 points", 9, suite="cores-10M"),
    _on_cores("single of 1,000,000 points", 8, task="linkage", method="single"),
    _on_cores("centroid of 1,000,000 points", 4, task="linkage", method="centroid", rows=MILLION),
    _on_cores("complete of 200,000 points", 8, task="linkage", method="complete"),
    _on_cores("average of 100,000 points", 10, task="linkage", method="average"),
    _on_cores("tree of 10,000,000 rows", 9, task="tree"),
    _on_cores("nearest of 25,000 leaves, 10,000,000 rows", 12, task="assign"),
    _on_cores("Ward of 20,000 points, d = 384", 10, data="normal"),
    _on_cores("Ward of 30,000 embeddings, d = 384", 10, data="embeddings", method="ward"),
    _on_cores("centroid of 30,000 embeddings, d = 384", 8, data="embeddings", method="centroid"),
    Within(work="a billion rows from a generator", suite="billion", below={"beyond_chunk_mb": 100}),
)


def verdicts(summaries: Sequence[Summary], targets: Iterable[Target] = TARGETS) -> list[Verdict]:
    return [target.verdict(summaries) for target in targets]
