"""The output and the pictures of docs/how-many.md.

    python -m benchmarks.studies.how_many [--images FOLDER]

The embeddings (packages-minilm.npy) are looked for in the folder $SILVERBIRCH_DATA.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import silverbirch as sb
from benchmarks.studies.label_stability import gaussians
from benchmarks.studies.sample_quality import Floats, real_data
from silverbirch.plot import BRANCHES


def answers() -> dict[str, sb.Dendrogram]:
    """The dendrogram of each data set by the title of its answer."""
    data = {
        "20 Gaussians": gaussians(100_000),
        "Uniform": np.random.default_rng(0).uniform(size=(100_000, 10)),
        "Embeddings": np.load(real_data("packages-minilm.npy")),
    }
    return {name: sb.Betula(max_leaves=5_000).fit(X).dendrogram_ for name, X in data.items()}


def densities() -> Floats:
    """Two dense groups side by side, a sparse one, a small one, and noise."""
    random = np.random.default_rng(0)
    groups = [((0, 0), 0.25, 300), ((1.6, 0.2), 0.25, 300), ((7, 1), 1.3, 400), ((2, 6.5), 0.5, 150)]
    points = [random.normal(centre, spread, size=(count, 2)) for centre, spread, count in groups]
    return np.concatenate([*points, random.uniform((-3, -4), (12, 10), size=(100, 2))])


def scatter(ax: Axes, X: Floats, labels: NDArray[np.int64], title: str) -> None:
    colours = np.array([*BRANCHES, "#c4c4c4"])[labels]  # noise is -1: the last colour
    ax.scatter(*X.T, s=4, c=colours, linewidths=0)
    ax.set_title(f"{title}\n{labels.max() + 1} clusters, {(labels < 0).sum()} points of noise", fontsize=8, loc="left")
    ax.set_xticks([])
    ax.set_yticks([])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, help="draw the pictures into this folder")
    options = parser.parse_args()
    suggestions = {name: dendrogram.suggest() for name, dendrogram in answers().items()}
    for name, suggestion in suggestions.items():
        print(f"{name}\n{suggestion}\n")

    X = densities()
    ward, single = (sb.Dendrogram(sb.linkage(X, method), X) for method in ("ward", "single"))
    cuts = {
        "ward: cut(4)": ward.cut(4),
        "single: cut(4, min_size=30, noise=True)": single.cut(4, min_size=30, noise=True),
        'single: cut(method="eom", min_size=30, noise=True)': single.cut(method="eom", min_size=30, noise=True),
    }
    for name, labels in cuts.items():
        print(f"{name}: {np.bincount(labels[labels >= 0]).tolist()}, {(labels < 0).sum()} points of noise")

    if options.images is not None:
        figure = Figure(figsize=(8, 7), layout="constrained")
        for ax, (name, suggestion) in zip(figure.subplots(3, 1), suggestions.items(), strict=True):
            suggestion.plot(ax)
            ax.set_title(f"{name}: {ax.get_title(loc='left')}", loc="left", fontsize=10)
        figure.savefig(options.images / "suggestions.png", dpi=110)
        figure = Figure(figsize=(10, 3.8), layout="constrained")
        for ax, (name, labels) in zip(figure.subplots(1, 3), cuts.items(), strict=True):
            scatter(ax, X, labels, name)
        figure.savefig(options.images / "adaptive-cuts.png", dpi=110)


if __name__ == "__main__":
    main()
