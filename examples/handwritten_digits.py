"""Handwritten digits: nine linkages, two ways to cut each of them, and what the clusters look like.

    python examples/handwritten_digits.py [--out FOLDER]

The digits come with scikit-learn (UCI, CC-BY 4.0). Needs silverbirch[plot].
"""

import numpy as np
from gallery import COLOURS, GREY, dendrogram_of_clusters, options, save
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

import silverbirch as sb

LINKAGES = ["ward", "minimax", "average", "weighted", "complete", "median", "medoid", "centroid", "single"]
IMAGES = 7  # of each cluster


def main():
    args = options(__doc__, rows={"type": int, "default": 1797, "help": "the number of digits"})
    digits = load_digits()
    X, true = digits.data[: args.rows], digits.target[: args.rows]
    scores = {}
    print(f"{len(X):,} images; agreement of clusters and digits, 1 is perfect (adjusted Rand index)")
    print("linkage   cut into 10   largest  branches of excess mass")
    for method in LINKAGES:
        tree = sb.Dendrogram(sb.linkage(X, method))
        ten, branches = tree.cut(n_clusters=10), tree.cut(method="eom", min_size=20)
        scores[method] = adjusted_rand_score(true, ten), adjusted_rand_score(true, branches)
        first, second = scores[method]
        print(f"{method:9} {first:11.2f} {np.bincount(ten)[0]:9,}  {second:.2f} with {branches.max() + 1}")

    model = sb.Betula(10, linkage="ward").fit(X)  # fewer rows than max_leaves: nothing is aggregated, so it is exact
    model.name_clusters([frequent(true[model.labels_ == cluster]) for cluster in range(10)])
    print(model.clusters_.to_pandas()[["name", "rows", "rmsd"]].to_string())
    draw(model, X, scores, args.out)
    images = digits.images[: args.rows] * (255 / 16)
    page = args.out / "handwritten-digits.html"
    sb.write_report(page, model, title="Handwritten digits", show={"image": 255 - images.astype(np.uint8)}, force=True)
    print(f"written: {page}")


def frequent(digits):
    """The digits that make up a fifth of a cluster or more."""
    return " and ".join(map(str, np.flatnonzero(np.bincount(digits) >= len(digits) / 5)))


def draw(model, X, scores, out):
    figure, axes = plt.subplot_mosaic("ld;li", figsize=(11, 6), height_ratios=[1, 1.25], width_ratios=[1, 2.1])
    figure.subplots_adjust(0.08, 0.09, 0.99, 0.94, wspace=0.06, hspace=0.02)
    draw_scores(axes["l"], scores)
    tree = dendrogram_of_clusters(model)
    order = sb.dendrogram(tree.Z, no_plot=True)["leaves"]
    tree.plot(axes["d"], n_clusters=10, cut_line=False)
    axes["d"].set(xlim=(-0.5, 9.5))
    axes["d"].set_axis_off()
    axes["d"].set_title("Ward's ten clusters: the images nearest to each centre")
    nearest = model.representatives(X, n=IMAGES).index[order]  # a row for each cluster
    tiles = np.pad(X[nearest].reshape(10, IMAGES, 8, 8), [(0, 0), (0, 0), (1, 1), (1, 1)])
    axes["i"].imshow(tiles.transpose(1, 2, 0, 3).reshape(10 * IMAGES, 100), cmap="Greys", aspect="auto")
    for column, cluster in enumerate(order):
        axes["i"].text(10 * column + 4.5, 10 * IMAGES + 1, model.clusters_.name[cluster], ha="center", va="top")
    axes["i"].set_axis_off()
    save(figure, out / "handwritten-digits.png")


def draw_scores(ax, scores):
    """A row for each linkage: a dot for each way to cut it."""
    ten, branches = np.array(list(scores.values())).T
    rows = range(len(scores), 0, -1)
    ax.hlines(rows, np.minimum(ten, branches), np.maximum(ten, branches), color=GREY, linewidth=0.8)
    ax.plot(ten, rows, "o", color=COLOURS[0], label="cut into 10")
    ax.plot(branches, rows, "o", color=COLOURS[1], label="excess of mass")
    ax.set_yticks(rows, list(scores))
    ax.set(xlim=(-0.03, 1), xlabel="adjusted Rand index", title="Agreement with the digits")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.legend(loc="center right", bbox_to_anchor=(1.05, 0.66))


if __name__ == "__main__":
    main()
