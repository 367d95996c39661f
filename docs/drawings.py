"""Draws the pictures of the pages "How it works": `python docs/drawings.py` writes them to docs/images/how/.

Every picture is computed by silverbirch from the points that it shows.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import leaves_list, optimal_leaf_ordering

import silverbirch as sb

FOLDER = Path(__file__).parent / "images" / "how"
INK, GREY, PALE = "#24292f", "#7a808a", "#c9ced6"
COLOURS = ["#2f6f8f", "#c8553d", "#588157", "#8d5a97", "#d99a2b", "#1f3f6b"]
mpl.rcParams.update(
    {
        "font.size": 9,
        "axes.titlesize": 9.5,
        "axes.titlelocation": "left",
        "axes.edgecolor": GREY,
        "text.color": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)


def figure(columns: int, height: float = 2.9, share: bool = False) -> tuple[Figure, list[Axes]]:
    drawing = Figure(figsize=(9, height), layout="constrained")
    return drawing, list(np.atleast_1d(drawing.subplots(1, columns, sharex=share, sharey=share)))


def save(drawing: Figure, name: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    drawing.savefig(FOLDER / name, dpi=130, metadata={"Software": None})
    print("written:", (FOLDER / name).relative_to(FOLDER.parents[2]))


def plane(ax: Axes, title: str) -> None:
    ax.set_title(title)
    ax.set_aspect("equal")
    ax.set_axis_off()


def circles(ax: Axes, features: sb.ClusterFeatures, colour: object = INK, width: float = 0.8) -> None:
    """Every feature as a circle around its mean, with its root mean squared radius."""
    diameter = 2 * np.sqrt(features.sse / features.weight)
    ax.add_collection(
        EllipseCollection(
            diameter,
            diameter,
            np.zeros(len(features)),
            units="xy",
            offsets=features.mean,
            transOffset=ax.transData,
            facecolors="none",
            edgecolors=colour,
            linewidths=width,
        )
    )


def one_feature(points: np.ndarray) -> sb.ClusterFeatures:
    mean = points.mean(axis=0)
    return sb.ClusterFeatures([len(points)], [mean], [((points - mean) ** 2).sum()])


def merge() -> None:
    """Two features and the merged one."""
    random = np.random.default_rng(3)
    sets = [random.normal((0, 0), 0.55, (40, 2)), random.normal((4.2, 1.0), 0.85, (90, 2))]
    a, b = map(one_feature, sets)
    merged = a.merged_with(b)
    drawing, (left, right) = figure(2, 2.6, share=True)
    plane(left, "Points of A and B")
    for points, colour in zip(sets, COLOURS, strict=False):
        left.plot(*points.T, ".", color=colour, markersize=4, alpha=0.7)
    plane(right, "What is kept: weight, mean and sse")
    for name, feature, colour, side in (("A", a, COLOURS[0], -1), ("B", b, COLOURS[1], 0), ("A ∪ B", merged, INK, 1)):
        circles(right, feature, colour, 1.6)
        x, y = feature.mean[0]
        right.plot(x, y, "+", color=colour, markersize=9, markeredgewidth=1.6)
        radius = np.sqrt(feature.sse[0] / feature.weight[0])
        right.annotate(
            f"{name}: {feature.weight[0]:.0f} points, sse {feature.sse[0]:.0f}",
            (x, y + side * radius) if side else (x + radius, y), (0, 8 * side) if side else (12, 0),
            textcoords="offset points", ha="center" if side else "left", va="center", color=colour, fontsize=8,
        )  # fmt: skip
    (ax, ay), (bx, by) = a.mean[0], b.mean[0]
    right.plot([ax, bx], [ay, by], ":", color=GREY, linewidth=1)
    right.annotate("gap of the means", ((ax + bx) / 2, (ay + by) / 2), (-6, 16), textcoords="offset points",
                   ha="center", color=GREY, fontsize=8)  # fmt: skip
    right.set_xlim(-2, 8)
    right.set_ylim(-2.1, 4)
    save(drawing, "merge.png")


def cancellation() -> None:
    """The relative error of sums of squares, for data moved away from the origin: BIRCH's features and ours."""
    random = np.random.default_rng(0)
    points = random.normal(size=(1000, 2))
    offsets = 10.0 ** np.arange(0, 13)
    classic, ours = [], []
    for offset in offsets:
        moved = points + offset
        # The input itself is rounded when it is moved. What a method loses is counted from the rounded points.
        exact = float(((moved - offset - (moved - offset).mean(axis=0)) ** 2).sum())
        square_sum, linear_sum = (moved**2).sum(), moved.sum(axis=0)
        classic.append(abs(square_sum - (linear_sum**2).sum() / len(moved) - exact) / exact)
        ours.append(abs(sb.CFTree(max_leaves=1, threshold=1e6).insert(moved).features.total().sse[0] - exact) / exact)
    drawing, (ax,) = figure(1, 2.7)
    for values, label, colour in (
        (classic, "BIRCH: sum of squares minus squared sum / n", COLOURS[1]),
        (ours, "weight, mean, sse", COLOURS[0]),
    ):
        ax.loglog(offsets, np.maximum(values, 1e-17), "o-", label=label, color=colour, markersize=4)
    ax.axhline(1, color=PALE, linewidth=1)
    ax.annotate("error as large as the value", (offsets[-1], 1), (0, -10), textcoords="offset points", ha="right",
                color=GREY, fontsize=8)  # fmt: skip
    ax.set_xlabel("distance of the data from the origin, in standard deviations")
    ax.set_ylabel("relative error of the sse")
    ax.legend(frameon=False, loc="upper left")
    save(drawing, "cancellation.png")


def clumps(n: int) -> np.ndarray:
    """Points in the plane: three dense groups, a sparse one, and a few far from all."""
    random = np.random.default_rng(8)
    groups = [((0, 0), 0.5, 0.35), ((3.2, 0.4), 0.35, 0.25), ((1.6, 2.8), 0.6, 0.2), ((6.2, 2.4), 0.9, 0.18)]
    parts = [random.normal(mean, deviation, (round(share * n), 2)) for mean, deviation, share in groups]
    points = np.concatenate([*parts, random.uniform((-1.5, -1.5), (8.5, 4.8), (n - sum(map(len, parts)), 2))])
    return points[random.permutation(len(points))]


def tree() -> None:
    """Leaves as rows arrive: they become coarser when there are too many."""
    points = clumps(3000)
    drawing, axes = figure(3, 2.5, share=True)
    growing = sb.CFTree(max_leaves=120, branching=8)
    seen = 0
    for ax, upto in zip(axes, (100, 600, 3000), strict=True):
        growing.insert(points[seen:upto])
        seen = upto
        plane(ax, f"{upto:,} rows, {growing.n_leaves} leaves, threshold {growing.threshold:.2f}")
        ax.plot(*points[:upto].T, ".", color=PALE, markersize=2)
        features = growing.features
        ax.plot(*features.mean.T, ".", color=COLOURS[0], markersize=3)
        circles(ax, features, COLOURS[0], 0.9)
    axes[0].set_xlim(-2, 9)
    axes[0].set_ylim(-2, 5.2)
    save(drawing, "tree.png")


def exactness() -> None:
    """The last merges of all rows, of features, and of bare centres."""
    random = np.random.default_rng(5)
    centres = random.uniform(0, 30, (60, 3))
    points = centres[random.choice(60, 20_000, p=random.dirichlet(np.full(60, 1.0)))] + random.normal(size=(20_000, 3))
    features = sb.CFTree(max_leaves=500).insert(points).features
    drawing, (ax, right) = figure(2, 2.8)
    shown = np.arange(1, 100)
    lines = (
        ("all 20,000 rows", sb.linkage(points, "ward"), "-", INK, 2.2),
        (f"{len(features)} features", sb.linkage(features, "ward"), "--", COLOURS[0], 1.8),
        (f"{len(features)} bare centres", sb.linkage(features, "ward", mode="centers"), ":", COLOURS[1], 1.8),
    )
    of_rows = rmsd(points, lines[0][1], features, shown + 1)
    for label, Z, style, colour, width in lines:
        ax.loglog(shown, Z[::-1][shown - 1, 2], style, color=colour, label=label, linewidth=width)
        right.plot(shown + 1, rmsd(points, Z, features, shown + 1) / of_rows, style, color=colour, linewidth=width)
    ax.set_title("Height of the merge that leaves k clusters (Ward)")
    right.set_title("rmsd of the rows at the cut into k, relative to that of all rows")
    for axes in (ax, right):
        axes.set_xlabel("k")
    ax.legend(frameon=False)
    save(drawing, "exactness.png")


def rmsd(points: np.ndarray, Z: np.ndarray, features: sb.ClusterFeatures, ks: np.ndarray) -> np.ndarray:
    """Root mean squared distance of the rows to the mean of their cluster, for each number of clusters."""
    labels = sb.Dendrogram(Z).cut(n_clusters=list(ks))
    if len(labels) != len(points):
        nearest = ((points[:, None, :] - features.mean[None]) ** 2).sum(axis=2).argmin(axis=1)
        labels = labels[nearest]
    result = []
    for column in labels.T:
        count = np.bincount(column)
        means = np.stack([np.bincount(column, points[:, j]) / count for j in range(points.shape[1])], axis=1)
        result.append(np.sqrt(((points - means[column]) ** 2).sum() / len(points)))
    return np.array(result)


def labels() -> None:
    """From leaves to rows: the cells of the leaves, coloured by cluster."""
    points = clumps(3000)
    model = sb.Betula(n_clusters=4, max_leaves=60).fit(points)
    drawing, axes = figure(3, 2.5, share=True)
    colours = np.array(COLOURS)
    plane(axes[0], f"1. {len(model.features_)} leaves, cut into 4 clusters")
    circles(axes[0], model.features_, colours[model.subcluster_labels_], 1.2)
    plane(axes[1], "2. Each place belongs to its nearest leaf")
    x, y = np.linspace(-2, 9, 660), np.linspace(-2, 5.2, 432)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    shades = mpl.colors.to_rgba_array(colours[model.predict(grid)])
    axes[1].imshow(shades.reshape(432, 660, 4), extent=(-2, 9, -2, 5.2), origin="lower", alpha=0.35)
    leaf = model.tree_.assign(grid).reshape(432, 660)
    edges = (np.diff(leaf, axis=0, prepend=leaf[:1]) != 0) | (np.diff(leaf, axis=1, prepend=leaf[:, :1]) != 0)
    axes[1].imshow(np.where(edges[..., None], [1, 1, 1, 1.0], [0, 0, 0, 0.0]), extent=(-2, 9, -2, 5.2), origin="lower")
    axes[1].plot(*model.features_.mean.T, ".", color=INK, markersize=2)
    plane(axes[2], "3. Each row has the label of its leaf")
    axes[2].scatter(*points.T, s=2, c=colours[model.labels_])
    axes[0].set_xlim(-2, 9)
    axes[0].set_ylim(-2, 5.2)
    save(drawing, "labels.png")


def order() -> None:
    """Orders of the leaves of one dendrogram, as paths through its points."""
    points = clumps(500)
    Z = sb.linkage(points, "average")
    orders = {
        "As linkage leaves them": leaves_list(Z),
        "scipy's optimal_leaf_ordering": leaves_list(optimal_leaf_ordering(Z, points)),
        "Optimal": sb.leaf_order(Z, points, exact=True),
    }
    drawing, axes = figure(3, 2.5, share=True)
    for ax, (title, leaves) in zip(axes, orders.items(), strict=True):
        path = points[leaves]
        plane(ax, f"{title}: {np.linalg.norm(np.diff(path, axis=0), axis=1).sum():.0f}")
        ax.plot(*path.T, color=COLOURS[0], linewidth=0.9)
        ax.plot(*path.T, ".", color=INK, markersize=1.5)
    save(drawing, "order.png")


if __name__ == "__main__":
    for draw in (merge, cancellation, tree, exactness, labels, order):
        draw()
