"""Clusters that follow a moving stream: each batch makes the tree forget a fifth of what it knew.

    python examples/moving_stream.py                     # prints where the clusters are
    python examples/moving_stream.py moving-stream.png   # and draws them; needs matplotlib

Three sources send rows. One stands still, one moves along a line, and one falls silent after batch 20.
"""

import sys

import numpy as np

import silverbirch as sb

BATCHES, ROWS, KEPT = 70, 600, 0.8
SHOWN = (20, 40, 70)


def batch_at(step, rng):
    """The rows of one batch; the third source sends until batch 20."""
    sources = [(0.0, 0.0), (3.0 + 0.15 * step, 6.0), (10.0, -5.0)][: 3 if step < 20 else 2]
    return np.concatenate([rng.normal(source, 0.6, size=(ROWS // 3, 2)) for source in sources])


def clusters_of(tree):
    """Weight and mean of each cluster, the heaviest first, and the cluster of each leaf."""
    features = tree.features
    labels = sb.Dendrogram(sb.linkage(features, "single"), features).cut(height=1.5)
    clusters = [features[labels == label].total() for label in range(labels.max() + 1)]
    return [(cluster.weight[0], cluster.mean[0]) for cluster in clusters], labels


def follow(kept):
    """The clusters after some batches, of a tree that keeps this share of its weight at each batch."""
    rng = np.random.default_rng(0)
    tree = sb.CFTree(max_leaves=200)
    moments = {}
    for step in range(BATCHES):
        tree.decay(kept).insert(batch_at(step, rng))
        if step + 1 in SHOWN:
            clusters, labels = clusters_of(tree)
            moments[step + 1] = (clusters, tree.features, labels)
    return moments


def show(title, moments):
    print(title)
    for step, (clusters, features, _) in moments.items():
        places = ", ".join(f"{weight:5.0f} at ({x:4.1f}, {y:4.1f})" for weight, (x, y) in clusters)
        print(f"  batch {step}: {features.weight.sum():6.0f} rows: {places}")


def draw(path, every, fading):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(9, 5), sharex=True, sharey=True, layout="constrained")
    for row, (title, moments) in zip(axes, (("remembers all", every), ("forgets a fifth", fading)), strict=True):
        for axis, (step, (clusters, features, labels)) in zip(row, moments.items(), strict=True):
            size = 4 * np.sqrt(features.weight)
            axis.scatter(*features.mean.T, s=size, c=labels, cmap="tab10", vmax=9, alpha=0.6, linewidths=0)
            for weight, mean in clusters:
                axis.annotate(f"{weight:.0f}", mean, xytext=(0, 26), textcoords="offset points", ha="center")
            axis.set_title(f"{title}, batch {step}", fontsize=9)
    axes[0, 0].set(xlim=(-3, 16), ylim=(-8, 11.5))
    figure.savefig(path, dpi=110)


def main():
    every, fading = follow(1.0), follow(KEPT)
    show("a tree that remembers all rows", every)
    show(f"a tree that keeps {KEPT:.0%} at each batch", fading)
    if len(sys.argv) > 1:
        draw(sys.argv[1], every, fading)


if __name__ == "__main__":
    main()
