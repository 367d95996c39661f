"""Decides the paper's qualitative claims from raw rows, without timings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from . import figure3, figure4, stability, table4
from .experiment import DATA, PAPER_LINKAGES, Experiment
from .jobs import CENTERS, FULL, LINKAGE, ClusterJob, Job, Scale
from .markdown import mean, table
from .raw_rows import RawRows

# The tolerance for chance in a mean over orders; the loss from dropping weights is larger.
TOLERANCE = 0.005
SMALL_LOSS = 0.03


@dataclass(frozen=True)
class Finding:
    claim: str
    measured: str
    holds: bool | None  # None where rows are missing


class _RowsMissingError(Exception):
    pass


def findings(scale: Scale, rows: RawRows) -> list[Finding]:
    found = []
    for claim, decide in CLAIMS.items():
        try:
            holds, measured = decide(scale, rows)
            found.append(Finding(claim, measured, holds))
        except _RowsMissingError:
            found.append(Finding(claim, "rows are missing", None))
    return found


Decision = tuple[bool, str]


def _mean(values: list[float]) -> float:
    if (value := mean(values)) is None:
        raise _RowsMissingError
    return value


def _quality(scale: Scale, rows: RawRows, data: str, linkage: str, input_: str) -> float:
    return _mean(table4.values(scale, rows, table4.Line("Anderberg", input_), data, linkage))


def order_of_quality(scale: Scale, rows: RawRows) -> Decision:
    """Compares means over the three linkages of the paper: for one linkage all methods may find the true clusters."""
    full, linkage, centers = (
        sum(_quality(scale, rows, "Gaussian", x, input_) for x in PAPER_LINKAGES) / len(PAPER_LINKAGES)
        for input_ in (FULL, LINKAGE, CENTERS)
    )
    holds = full <= linkage * (1 + TOLERANCE) and linkage <= centers * (1 + TOLERANCE)
    return holds, f"{full:.3f} ≤ {linkage:.3f} ≤ {centers:.3f}"


def small_loss(scale: Scale, rows: RawRows) -> Decision:
    losses = {
        (data, x): _quality(scale, rows, data, x, LINKAGE) / _quality(scale, rows, data, x, FULL) - 1
        for data in DATA
        for x in PAPER_LINKAGES
    }
    (data, linkage), worst = max(losses.items(), key=lambda item: item[1])
    return worst <= SMALL_LOSS, f"at most {worst:+.2%} ({data}, {linkage})"


def weights_help_on_uniform_data(scale: Scale, rows: RawRows) -> Decision:
    gains = [
        _quality(scale, rows, "uniform", x, CENTERS) / _quality(scale, rows, "uniform", x, LINKAGE) - 1
        for x in PAPER_LINKAGES
    ]
    return min(gains) > -TOLERANCE, f"CF centers {min(gains):+.2%} … {max(gains):+.2%}"


def bounded_work(scale: Scale, rows: RawRows) -> Decision:
    """Whether the number of features, which decides the time of clustering, stays bounded as N grows."""
    counts = []
    for linkage in figure3.LINKAGES:
        for n in (n for n in scale.sizes if n > scale.max_leaves):
            counts.append(_mean(rows.values(figure3.jobs_of(scale, linkage, "auto", LINKAGE, n), "features")))
    if not counts:
        raise _RowsMissingError
    least, most = min(counts), max(counts)
    holds = most <= scale.max_leaves and least >= 0.4 * scale.max_leaves
    times = max(scale.sizes) / min(n for n in scale.sizes if n > scale.max_leaves)
    return holds, f"{least:,.0f} … {most:,.0f} features while N grows {times:.0f}-fold (at most {scale.max_leaves:,})"


def no_aggregation_for_few_rows(scale: Scale, rows: RawRows) -> Decision:
    n = max(n for n in scale.sizes if n <= scale.max_leaves)
    differences = [
        abs(
            _mean(figure4.values(scale, rows, data, "Anderberg", LINKAGE, table4.HEIGHT_ORDER, n))
            / _mean(figure4.values(scale, rows, data, "Anderberg", FULL, table4.HEIGHT_ORDER, n))
            - 1
        )
        for data in DATA
    ]
    return max(differences) < 1e-9, f"N = {n:,}: RMSD differs by {max(differences):.0e} at most"


def _height_sums(scale: Scale, rows: RawRows, linkage: str, algorithm: str) -> list[float]:
    job: ClusterJob = scale.full("uniform", linkage, algorithm=algorithm)
    return rows.values(job.over(scale.orders), "height_sum")


def _difference_of_trees(scale: Scale, rows: RawRows, linkage: str) -> float:
    greedy, chain = (_height_sums(scale, rows, linkage, algorithm) for algorithm in ("auto", "nn_chain"))
    if not greedy or len(greedy) != len(chain):
        raise _RowsMissingError
    return max(abs(a / b - 1) for a, b in zip(chain, greedy, strict=True))


def chain_differs_for_centroid(scale: Scale, rows: RawRows) -> Decision:
    difference = _difference_of_trees(scale, rows, "centroid")
    return difference > 1e-6, f"sums of heights differ by {difference:.1e}"


def chain_agrees_for_ward(scale: Scale, rows: RawRows) -> Decision:
    difference = _difference_of_trees(scale, rows, "ward")
    return difference < 1e-9, f"sums of heights differ by {difference:.1e}"


def order_of_merges_explains_the_published_chain(scale: Scale, rows: RawRows) -> Decision:
    line = table4.Line("NN-chain", FULL)
    by_height = _mean(table4.values(scale, rows, line, "Gaussian", "ward"))
    by_size = _mean(table4.values(scale, rows, replace(line, order=table4.SIZE_ORDER), "Gaussian", "ward"))
    return by_size > 1.1 * by_height, f"Gaussian, Ward: {by_height:.3f} cut by height, {by_size:.3f} cut by size"


def classic_features_fail_far_away(scale: Scale, rows: RawRows) -> Decision:
    def error(features: str) -> float:
        row = rows.good(stability.error_job(scale, features, 1e8))
        if row is None:
            raise _RowsMissingError
        return float(row["worst_error"])

    classic, ours = error("classic, float64"), error("silverbirch, float64 rows")
    return ours < 1e-6 and classic > 1, f"worst error of a variance {classic:.0e} and {ours:.0e}"


def tree_does_not_move(scale: Scale, rows: RawRows) -> Decision:
    here, there = (rows.good(stability.tree_job(scale, "silverbirch", "float64", offset)) for offset in (0.0, 1e8))
    if here is None or there is None:
        raise _RowsMissingError
    holds = abs(there["leaves"] / here["leaves"] - 1) < 0.01 and abs(there["rmsd"] / here["rmsd"] - 1) < 1e-3
    return holds, f"{here['leaves']:,} and {there['leaves']:,} leaves, RMSD {here['rmsd']:.4f} and {there['rmsd']:.4f}"


CLAIMS: dict[str, Callable[[Scale, RawRows], Decision]] = {
    f"Gaussian data: full data ≤ CF linkage ≤ CF centers in RMSD, within {TOLERANCE:.1%}": order_of_quality,
    f"The loss by aggregation is small: at most {SMALL_LOSS:.0%} of the RMSD": small_loss,
    f"Uniform data: CF linkage is no worse than CF centers, within {TOLERANCE:.1%}": weights_help_on_uniform_data,
    "What is clustered stays the same size however many rows there are": bounded_work,
    "With no more rows than features there is no aggregation: the same result": no_aggregation_for_few_rows,
    "NN-chain gives another dendrogram than the greedy algorithm for centroid linkage": chain_differs_for_centroid,
    "(not in the paper) NN-chain gives the same dendrogram for Ward": chain_agrees_for_ward,
    "(not in the paper) The worse NN-chain is the order of the cut": order_of_merges_explains_the_published_chain,
    "Classic features lose the variance at an offset of 1e8, BETULA's keep it": classic_features_fail_far_away,
    "The tree is the same at an offset of 1e8": tree_does_not_move,
}


def jobs(scale: Scale) -> list[Job]:
    """The jobs of the experiments that the claims use, without those that only measure time."""
    trees = [
        job
        for linkage in figure3.LINKAGES
        for n in scale.sizes
        for job in figure3.jobs_of(scale, linkage, "auto", LINKAGE, n)
    ]
    greedy = [job for linkage in figure3.LINKAGES for job in scale.full("uniform", linkage).over(scale.orders)]
    moved = [stability.error_job(scale, f, 1e8) for f in ("classic, float64", "silverbirch, float64 rows")]
    moved_trees = [stability.tree_job(scale, "silverbirch", "float64", offset) for offset in (0.0, 1e8)]
    return [*table4.jobs(scale), *figure4.jobs(scale), *trees, *greedy, *moved, *moved_trees]


def section(scale: Scale, rows: RawRows, images: Path) -> str:
    state = {True: "holds", False: "**does not hold**", None: "not measured"}
    lines = [[f.claim, f.measured, state[f.holds]] for f in findings(scale, rows)]
    return table(["claim", "measured", ""], lines)


EXPERIMENT = Experiment("claims", "The paper's claims", jobs, section)
