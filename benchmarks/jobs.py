"""The suites of jobs to measure, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

BOTH = ("uniform", "mixture")
THOUSAND, MILLION = 1_000, 1_000_000
MACHINE, MACHINE_TASKS = "the machine", ("loops", "copy")  # what measures the machine itself, and its tasks
WITH_LEAVES = ("tree", "features", "assign", "whole")  # tasks that a limit of leaves belongs to
CORES = ("cores", "cores-10M")  # suites of a table of their own


@dataclass(frozen=True)
class Case:
    """The same work for all implementations."""

    rows: int
    columns: int = 5
    dtype: str = "float64"
    data: str = "uniform"
    max_leaves: int = 25_000
    threads: int = 1
    method: str = "ward"
    task: str = "linkage"
    device: str = "cpu"

    def name(self) -> str:
        """A name for all runs whose heights must agree: everything but the implementation and the threads."""
        parts = (self.task, self.method, self.data, self.rows, self.columns, self.dtype, self.max_leaves)
        return "-".join(str(part) for part in parts)


@dataclass(frozen=True)
class Job(Case):
    """One implementation on one case."""

    suite: str = ""
    implementation: str = "silverbirch"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Suite:
    """`peers` limits the rows that each peer gets, so that a run ends; silverbirch gets all cases."""

    name: str
    title: str
    cases: tuple[Case, ...]
    peers: dict[str, int] = field(default_factory=dict)
    timeout: float = 180.0
    by_default: bool = True
    not_measured: tuple[str, ...] = ()  # peers that were not there
    repeated_below: float = 10.0  # jobs that take more seconds vary little, and a run has to end

    def jobs(self) -> Iterator[Job]:
        """The jobs of all cases, peers first: the other heights are compared with those of the first library."""
        for case in self.cases:
            for implementation in (MACHINE,) if case.task in MACHINE_TASKS else (*self.peers, "silverbirch"):
                if case.rows <= self.peers.get(implementation, case.rows) and _does(implementation, case.task):
                    yield Job(**asdict(case), suite=self.name, implementation=implementation)

    def small(self, rows: int) -> Suite:
        """The same work on few rows of one kind of data, to test that everything works."""
        small = (
            replace(
                case,
                rows=min(case.rows, rows),
                columns=min(case.columns, 64),
                data="uniform",
                max_leaves=min(case.max_leaves, rows // 5),
            )
            for case in self.cases
        )
        return replace(self, cases=tuple(dict.fromkeys(small)))


def _does(implementation: str, task: str) -> bool:
    """Whether an implementation has a part in what is measured beside linkage on a GPU."""
    others = {"first call": (), "product": ("torch",)}
    return implementation == "silverbirch" or implementation in others.get(task, (implementation,))


def cases(rows: tuple[int, ...], data: tuple[str, ...] = BOTH, **common: Any) -> tuple[Case, ...]:
    return tuple(Case(rows=n, data=kind, **common) for n in rows for kind in data)


def _tree(rows: int, max_leaves: tuple[int, ...], data: tuple[str, ...] = BOTH, **common: Any) -> tuple[Case, ...]:
    return tuple(
        case for leaves in max_leaves for case in cases((rows,), data, task="tree", max_leaves=leaves, **common)
    )


def _on_cores(*cases: Case) -> tuple[Case, ...]:
    """Each case with one thread and more, in turn."""
    return tuple(replace(case, threads=threads) for case in cases for threads in (1, 2, 4, 8, 16))


_WIDE: dict[str, Any] = {"columns": 384, "dtype": "float32"}

_ON_GPU: dict[str, Any] = _WIDE | {"device": "cuda"}

SUITES = (
    Suite(
        "ward",
        "Exact Ward of points",
        (
            *cases((THOUSAND, 10 * THOUSAND, 50 * THOUSAND, 100 * THOUSAND, MILLION)),
            *cases((10 * MILLION,), ("uniform",)),
        ),
        peers={
            "scipy": 10 * THOUSAND,
            "fastcluster": 10 * THOUSAND,
            "fastcluster.linkage_vector": 50 * THOUSAND,
            "scikit-learn": 10 * THOUSAND,
            "betula-cluster": 10 * THOUSAND,
        },
        timeout=600.0,
    ),
    Suite(
        "centroid",
        "Exact centroid linkage of points",
        (
            *cases((10 * THOUSAND, 50 * THOUSAND), method="centroid"),
            *cases((MILLION,), ("uniform",), method="centroid"),
        ),
        peers={"scipy": 10 * THOUSAND, "fastcluster": 10 * THOUSAND, "fastcluster.linkage_vector": 50 * THOUSAND},
    ),
    Suite(
        "single",
        "Exact single linkage of points",
        cases((10 * THOUSAND, MILLION), method="single"),
        peers={
            "scipy": 10 * THOUSAND,
            "fastcluster.linkage_vector": 10 * THOUSAND,
            "scikit-learn": 10 * THOUSAND,
            "genieclust": MILLION,
            "quitefastmst": MILLION,
        },
    ),
    Suite(
        "complete",
        "Exact complete linkage of points",
        cases((5 * THOUSAND, 25 * THOUSAND), method="complete"),
        peers={"scipy": 5 * THOUSAND, "scikit-learn": 5 * THOUSAND, "fastcluster": 25 * THOUSAND},
    ),
    Suite(
        "features",
        "Ward of weighted cluster features, the leaves of a million rows",
        cases((MILLION,), task="features"),
        peers={"betula-cluster": MILLION},
    ),
    Suite(
        "ward-wide",
        "Exact Ward of points, many columns, float32",
        cases((2 * THOUSAND, 10 * THOUSAND), columns=384, dtype="float32"),
        peers={
            "scipy": 2 * THOUSAND,
            "fastcluster": 10 * THOUSAND,
            "fastcluster.linkage_vector": 2 * THOUSAND,
            "scikit-learn": 2 * THOUSAND,
            "betula-cluster": 10 * THOUSAND,
        },
    ),
    Suite(
        "tree",
        "Tree build",
        (*_tree(100 * THOUSAND, (2_000,)), *_tree(MILLION, (2_000, 10_000, 25_000))),
        peers={"scikit-learn": 100 * THOUSAND, "betula-cluster": MILLION, "betulars": MILLION},
    ),
    Suite(
        "tree-wide",
        "Tree build, many columns, float32",
        (
            *_tree(500 * THOUSAND, (2_000, 10_000), columns=64, dtype="float32"),
            *_tree(100 * THOUSAND, (2_000, 10_000), columns=384, dtype="float32"),
        ),
        peers={"betula-cluster": MILLION, "betulars": MILLION},
    ),
    Suite(
        "assign",
        "Nearest leaf of each row",
        cases((10 * MILLION,), task="assign"),
        peers={"scipy.cKDTree": 10 * MILLION, "betula-cluster": 10 * MILLION},
    ),
    Suite(
        "whole",
        "Whole job: rows to labels of all rows, k = 500",
        cases((MILLION, 10 * MILLION), task="whole"),
        peers={"betula-cluster": 10 * MILLION},
    ),
    Suite(
        "threads",
        "A second thread",
        tuple(
            case
            for threads in (1, 2)
            for case in (
                *cases((MILLION,), task="tree", threads=threads),
                *cases((MILLION,), task="linkage", threads=threads),
                *cases((MILLION,), ("uniform",), task="assign", threads=threads),
            )
        ),
    ),
    Suite(
        "cores",
        "As many threads as there are cores",
        _on_cores(
            Case(1, columns=1, task="loops"),
            Case(50 * MILLION, columns=1, task="copy"),
            *(Case(MILLION, method=method) for method in ("ward", "single", "centroid")),
            Case(200 * THOUSAND, method="complete"),
            Case(100 * THOUSAND, method="average"),
            *cases((10 * MILLION,), task="tree"),
            Case(10 * MILLION, task="assign"),
            Case(20 * THOUSAND, data="normal", **_WIDE),
            Case(30 * THOUSAND, data="embeddings", **_WIDE),
            Case(30 * THOUSAND, data="embeddings", method="centroid", **_WIDE),
        ),
        by_default=False,
        repeated_below=0.5,
    ),
    Suite(
        "cores-10M",
        "As many threads as there are cores, ten million points",
        _on_cores(Case(10 * MILLION)),
        timeout=600.0,
        by_default=False,
        repeated_below=0.5,
    ),
    Suite(
        "gpu",
        "On a GPU, 384 columns, from numpy to numpy",
        (
            Case(20 * THOUSAND, data="normal", task="first call", **_ON_GPU),
            Case(1 << 20, data="normal", task="product", **_ON_GPU),
            *cases((10 * THOUSAND, 20 * THOUSAND, 100 * THOUSAND, MILLION), ("normal",), **_ON_GPU),
            *cases((100 * THOUSAND, MILLION), ("mixture", "embeddings"), **_ON_GPU),
            *cases((3 * MILLION,), ("embeddings",), **_ON_GPU),
            *(
                Case(100 * THOUSAND, data="normal", method=method, **_ON_GPU)
                for method in ("single", "complete", "average", "average of squares", "centroid")
            ),
        ),
        peers={"torch": 10 * THOUSAND, "scipy": 10 * THOUSAND, "silverbirch, CPU": 20 * THOUSAND},
        timeout=600.0,
        by_default=False,
        repeated_below=1.0,
        not_measured=("cuML (single linkage on GPUs)", "fastcluster", "betula-cluster"),
    ),
    Suite(
        "gpu-10M",
        "On a GPU, ten million rows of 384 columns, from numpy to numpy",
        cases((10 * MILLION,), ("embeddings",), **_ON_GPU),
        timeout=1_200.0,
        by_default=False,
        repeated_below=1.0,
    ),
    Suite(
        "scaling",
        "How silverbirch scales with rows N, leaves M and columns d",
        (
            *cases((10 * THOUSAND, 100 * THOUSAND, MILLION, 10 * MILLION), ("mixture",), task="tree", max_leaves=2_000),
            *_tree(MILLION, (1_000, 4_000, 16_000, 64_000), ("mixture",)),
            *(Case(MILLION, data="mixture", task="features", max_leaves=m) for m in (1_000, 4_000, 16_000, 64_000)),
            *(Case(100 * THOUSAND, d, data="mixture", task="tree", max_leaves=2_000) for d in (2, 8, 32, 128, 512)),
            *(Case(10 * THOUSAND, d, data=kind) for d in (2, 4, 8, 16, 32, 64) for kind in BOTH),
        ),
    ),
    Suite(
        "billion",
        "A billion rows from a generator, one process",
        (Case(1_000 * MILLION, dtype="float32", data="mixture", task="stream"),),
        timeout=3_600.0,
        by_default=False,
    ),
)


def suite_named(name: str) -> Suite:
    for suite in SUITES:
        if suite.name == name:
            return suite
    raise SystemExit(f"suite {name!r}: must be one of {', '.join(suite.name for suite in SUITES)}")
