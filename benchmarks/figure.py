"""Time and memory of exact Ward against the number of points, log-log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .summary import Summary, select

# A colour and a mark for each library; the colours are Okabe & Ito's, for colour-blind readers.
STYLES = {
    "silverbirch": ("#0072B2", "o"),
    "fastcluster.linkage_vector": ("#D55E00", "s"),
    "fastcluster": ("#E69F00", "D"),
    "scipy": ("#009E73", "^"),
    "scikit-learn": ("#CC79A7", "v"),
    "betula-cluster": ("#555555", "P"),
}
PANELS = (("cpu", "CPU time (s)"), ("beyond_mb", "peak memory beyond the data (MB)"))


def draw(summaries: Sequence[Summary], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", facecolor="white")
    for axis, (metric, label) in zip(axes, PANELS, strict=True):
        for name, (colour, mark) in STYLES.items():
            chosen = select(summaries, suite="ward", data="uniform", implementation=name)
            points = sorted((s.job.rows, s) for s in chosen if (s.median(metric) or 0) > 0.05 * (metric == "beyond_mb"))
            if not points:
                continue
            sizes = [rows for rows, _ in points]
            middle = [s.median(metric) for _, s in points]
            low, high = zip(*(s.spread(metric) for _, s in points), strict=True)
            axis.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
            width = 2.2 if name == "silverbirch" else 1.4
            axis.plot(sizes, middle, color=colour, marker=mark, markersize=5, linewidth=width, label=name)
        axis.set(xscale="log", yscale="log", xlabel="points, 5 columns, uniform", ylabel=label)
        axis.grid(which="major", color="#dddddd", linewidth=0.7)
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Exact Ward, one thread: medians, least and greatest", fontsize=11)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)
