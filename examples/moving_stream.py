"""Clusters that follow a moving stream: each batch makes the tree forget a fifth of what it knew.

    python examples/moving_stream.py [--out FOLDER]

Three sources send rows. One stands still, one moves along a line, and one falls silent after batch 20. Needs
silverbirch[plot].
"""

import numpy as np
from gallery import COLOURS, GREY, PALE, options, save
from matplotlib import pyplot as plt

import silverbirch as sb

BATCHES, ROWS, KEPT = 70, 600, 0.8
SHOWN = (20, 40, 70)


def main():
    args = options(__doc__)
    every, fading = follow(1.0), follow(KEPT)
    show("a tree that remembers all rows", every)
    show(f"a tree that keeps {KEPT:.0%} at each batch", fading)
    draw({"remembers all": every, "forgets a fifth": fading}, args.out)


def sources_at(step):
    """Where rows come from at this batch; the third source sends until batch 20."""
    return [(0.0, 0.0), (3.0 + 0.15 * step, 6.0), (10.0, -5.0)][: 3 if step < 20 else 2]


def follow(kept):
    """The clusters after some batches, of a tree that keeps this share of its weight at each batch."""
    rng = np.random.default_rng(0)
    tree = sb.CFTree(max_leaves=200)
    moments = {}
    for step in range(BATCHES):
        batch = [rng.normal(source, 0.6, size=(ROWS // 3, 2)) for source in sources_at(step)]
        tree.decay(kept).insert(np.concatenate(batch))
        if step + 1 in SHOWN:
            clusters, labels = clusters_of(tree)
            moments[step + 1] = (clusters, tree.features, labels)
    return moments


def clusters_of(tree):
    """Weight and mean of each cluster, the heaviest first, and the cluster of each leaf."""
    features = tree.features
    labels = sb.Dendrogram(sb.linkage(features, "single"), features).cut(height=1.5)
    clusters = [features[labels == label].total() for label in range(labels.max() + 1)]
    return [(cluster.weight[0], cluster.mean[0]) for cluster in clusters], labels


def show(title, moments):
    print(title)
    for step, (clusters, features, _) in moments.items():
        places = ", ".join(f"{weight:5.0f} at ({x:4.1f}, {y:4.1f})" for weight, (x, y) in clusters)
        print(f"  batch {step}: {features.weight.sum():6.0f} rows: {places}")


def draw(trees, out):
    figure, axes = plt.subplots(2, 3, figsize=(11, 5.6), sharex=True, sharey=True, layout="constrained")
    for row, (title, moments) in zip(axes, trees.items(), strict=True):
        for ax, (step, (clusters, features, _)) in zip(row, moments.items(), strict=True):
            # A dot is a leaf of the tree, a ring is where rows come from now, a cross is the centre of a cluster.
            ax.scatter(*features.mean.T, s=1.5 * features.weight**0.7, c=COLOURS[0], alpha=0.45, linewidths=0)
            for weight, (x, y) in clusters:
                ax.plot(x, y, "+", color=COLOURS[1], markersize=9, markeredgewidth=2)
                ax.annotate(f"{weight:,.0f}", (x, y), xytext=(0, 26), textcoords="offset points", ha="center")
            ax.plot(
                *np.transpose(sources_at(step - 1)), "o", markersize=22, markerfacecolor="none", markeredgecolor=GREY
            )
            ax.set_title(f"batch {step}: {title}")
            ax.tick_params(colors=PALE)
            ax.spines[:].set_color(PALE)
    axes[0, 0].set(xlim=(-3, 16), ylim=(-8, 10.5))
    save(figure, out / "moving-stream.png")


if __name__ == "__main__":
    main()
