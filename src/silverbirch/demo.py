"""The demonstration: clusters a stream of rows from a Gaussian mixture like those of the paper, and writes a report.

The rows are generated in chunks, and again for the second pass, so that memory does not grow with their number.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from . import __version__, _core, machine
from .checks import Floats
from .estimator import Betula
from .model.labelled import LeafCounter
from .storage.atomic import check_free

CHUNK = 100_000
DIMENSIONS = 5
COMPONENTS = 500
OUTPUTS = ("labels.npy", "dendrogram.png", "rmsd.png", "report.html", "report.md")


def gaussian_mixture(rows: int, seed: int) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
    """Chunks of rows and the component of each row; the same seed gives the same stream.

    There are 500 Gaussians with standard deviation 1.5, centres uniform in a cube of side 100, and shares ∝ U(0.05, 1).
    """
    random = np.random.default_rng(seed)
    centers = random.uniform(0, 100, size=(COMPONENTS, DIMENSIONS))
    shares = random.uniform(0.05, 1, size=COMPONENTS)
    for begin in range(0, rows, CHUNK):
        count = min(CHUNK, rows - begin)
        component = random.choice(COMPONENTS, size=count, p=shares / shares.sum())
        yield centers[component] + 1.5 * random.normal(size=(count, DIMENSIONS)), component


@dataclass
class Phases:
    """The time and memory of each phase; printed when the phase ends."""

    console: Console
    rows: list[tuple[str, float, float, str]] = field(default_factory=list)

    def done(self, name: str, seconds: float, detail: str) -> None:
        self.rows.append((name, seconds, (machine.peak_memory() or math.nan) / 1e6, detail))
        self.console.print(f"  {name:<11}{seconds:7.2f} s  {self.rows[-1][2]:6.0f} MB  {detail}", highlight=False)


def run(rows: int, clusters: int, max_leaves: int, out: Path, seed: int, *, force: bool = False) -> None:
    console = Console(soft_wrap=True)
    out.mkdir(parents=True, exist_ok=True)
    for name in OUTPUTS:
        check_free(out / name, force)
    console.print(
        f"[bold]silverbirch {__version__}[/]: {rows:,} rows, {DIMENSIONS} columns → at most {max_leaves:,} features → "
        f"{clusters} clusters  ({_core.instruction_set()} kernels, one thread)"
    )
    console.print("  phase         time    peak memory", style="dim")
    phases = Phases(console)
    phases.done("start", 0.0, "Python with numpy, scipy and scikit-learn")

    model = Betula(n_clusters=clusters, max_leaves=max_leaves)
    seconds = _aggregate(model, rows, seed)
    tree = model.tree_
    phases.done(
        "aggregate",
        seconds,
        f"{rows / seconds / 1e6:.2f} M rows/s into {tree.n_leaves:,} features, {tree.n_rebuilds} rebuilds",
    )
    begin = time.perf_counter()
    dendrogram = model.dendrogram_
    phases.done(
        "linkage", time.perf_counter() - begin, f"Ward, the whole dendrogram of {dendrogram.n_leaves:,} features"
    )

    labels, truth, seconds = _label(model, rows, seed)
    phases.done("labels", seconds, f"{rows / seconds / 1e6:.2f} M rows/s, each by its exactly nearest feature")

    begin = time.perf_counter()
    np.save(out / "labels.npy", labels)
    _draw(model, clusters, out)
    phases.done("pictures", time.perf_counter() - begin, "dendrogram.png, rmsd.png")
    begin = time.perf_counter()
    _write_page(model, out / "report.html")
    phases.done("page", time.perf_counter() - begin, "report.html: the whole dendrogram, to zoom into and to cut")

    results = _results(model, clusters, labels, truth)
    table = Table(show_header=False, box=None, padding=(0, 2))
    for name, value in results:
        table.add_row(name, value)
    console.print(table, highlight=False)
    _write_report(out / "report.md", rows, clusters, max_leaves, seed, phases, results)
    console.print(f"Written to [bold]{out}/[/]: {', '.join(OUTPUTS)}")


def _aggregate(model: Betula, rows: int, seed: int) -> float:
    """Returns the seconds spent in the tree, without the time for generating the rows."""
    seconds = 0.0
    for chunk, _ in gaussian_mixture(rows, seed):
        begin = time.perf_counter()
        model.partial_fit(chunk)
        seconds += time.perf_counter() - begin
    return seconds


def _label(model: Betula, rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """The second pass: labels, true components, seconds. The model sums up the rows of each feature on the way."""
    labels, truth = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    counter, seconds, begin_row = LeafCounter(model.features_), 0.0, 0
    for chunk, component in gaussian_mixture(rows, seed):
        end_row = begin_row + len(chunk)
        begin = time.perf_counter()
        labels[begin_row:end_row] = model._labels_of(model._source(chunk), counter.add)
        seconds += time.perf_counter() - begin
        truth[begin_row:end_row] = component
        begin_row = end_row
    model._count_labelled(counter)
    return labels, truth, seconds


def _results(
    model: Betula, clusters: int, labels: NDArray[np.int64], truth: NDArray[np.int64]
) -> list[tuple[str, str]]:
    from sklearn.metrics import adjusted_rand_score

    table = model.clusters_
    return [
        ("clusters", f"{model.n_clusters_}, of {table.rows.min():,} to {table.rows.max():,} rows"),
        (f"rmsd({clusters}) from the features", f"{model.dendrogram_.rmsd(clusters):.4f}"),
        ("rmsd of the labelled rows", f"{table.overall_rmsd:.4f}"),
        ("rmsd of the mixture itself", f"{1.5 * np.sqrt(DIMENSIONS):.4f}"),
        ("adjusted Rand index with the truth", f"{adjusted_rand_score(truth, labels):.4f}"),
    ]


def _draw(model: Betula, clusters: int, out: Path) -> None:
    from .plot import draw_rmsd, save

    coloured = min(20, clusters)
    axes = model.dendrogram_.plot(n_clusters=coloured)
    axes.set_title(f"The uppermost branches, coloured by the cut into {coloured} clusters", fontsize=10, loc="left")
    save(axes, out / "dendrogram.png")
    save(draw_rmsd(model.dendrogram_, mark=clusters), out / "rmsd.png")


def _write_page(model: Betula, path: Path) -> None:
    from .report import write_report

    names = [f"coordinate {i + 1}" for i in range(DIMENSIONS)]
    write_report(path, model, title="silverbirch demo", column_names=names, force=True)


def _write_report(
    path: Path, rows: int, clusters: int, max_leaves: int, seed: int, phases: Phases, results: list[tuple[str, str]]
) -> None:
    lines = [
        "# silverbirch demo",
        "",
        f"{rows:,} rows of a mixture of {COMPONENTS} Gaussians in {DIMENSIONS} dimensions (seed {seed}), aggregated "
        f"into at most {max_leaves:,} cluster features, Ward linkage, cut into {clusters} clusters.",
        "",
        f"silverbirch {__version__}, numpy {np.__version__}, Python {platform.python_version()}, {platform.machine()}, "
        f"{_core.instruction_set()} kernels, one thread.",
        "",
        "| phase | seconds | peak memory (MB) | |",
        "|---|---|---|---|",
        *(f"| {name} | {seconds:.2f} | {memory:.0f} | {detail} |" for name, seconds, memory, detail in phases.rows),
        "",
        "| result | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in results),
        "",
        "![dendrogram](dendrogram.png)",
        "",
        "![rmsd against the number of clusters](rmsd.png)",
        "",
        "[The interactive page](report.html)",
        "",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
