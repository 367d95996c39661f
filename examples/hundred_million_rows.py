"""A hundred million rows, made and clustered in chunks: time grows with the rows, memory does not.

    python examples/hundred_million_rows.py [--rows 100000000] [--out FOLDER]

The rows are the points of Barnsley's fern (Fractals Everywhere, 1988): four maps, one picked at random for each step.
Needs silverbirch[plot].
"""

import resource
import time

import numpy as np
from gallery import COLOURS, GREY, options, save
from matplotlib import pyplot as plt

import silverbirch as sb

CHUNK, POINTS = 1_000_000, 200_000  # rows at a time, rows to draw
MAPS = [  # of x and y to a x + b y and c x + d y + f; each point takes the first map whose number exceeds its die
    (0.01, (0.00, 0.00, 0.00, 0.16, 0.00)),  # the stem
    (0.08, (0.20, -0.26, 0.23, 0.22, 1.60)),  # the lowest leaf on the left
    (0.15, (-0.15, 0.28, 0.26, 0.24, 0.44)),  # and on the right
    (1.00, (0.85, 0.04, -0.04, 0.85, 1.60)),  # the fern above them
]


def main():
    args = options(__doc__, rows={"type": int, "default": 100_000_000, "help": "the number of rows"})
    tree = sb.CFTree(max_leaves=20_000, n_jobs=2)
    begin, inserting, history, sums = time.perf_counter(), 0.0, [], np.zeros(2)
    for chunk in fern(args.rows):
        before = time.perf_counter()
        tree.insert(chunk)
        now = time.perf_counter()
        inserting += now - before
        sums += chunk.sum(axis=0, dtype=np.float64)
        history.append((tree.n_points, now - begin, peak_memory()))
    print(f"{tree.n_points:,.0f} rows in {now - begin:.0f} s, {inserting:.0f} s of them in the tree: "
          f"{tree.n_points / inserting / 1e6:.1f} million rows a second")  # fmt: skip
    print(f"peak memory {history[0][2]:.0f} MB after the first chunk, {peak_memory():.0f} MB at the end; "
          f"the rows would take {8 * tree.n_points / 1e6:,.0f} MB")  # fmt: skip

    features = tree.features
    dendrogram = sb.Dendrogram(sb.linkage(features, "ward", n_jobs=2), features)
    seconds = time.perf_counter() - now
    print(f"{len(features):,} leaves, clustered in {seconds:.1f} s; weight {features.weight.sum():,.0f}, "
          f"mean off by {np.abs(features.total().mean - sums / tree.n_points).max():.0e}")  # fmt: skip
    for k in (10, 100, 1000):
        print(f"rmsd of {k:5,} clusters: {dendrogram.rmsd(k):.4f}")
    draw(chunk[:POINTS], tree.assign(chunk[:POINTS]), dendrogram, np.array(history).T, args.out)


def fern(rows):
    """Chunks of points of the fern."""
    rng = np.random.default_rng(0)
    x, y = np.zeros((2, min(CHUNK, rows)), dtype=np.float32)
    for step in range(-30, -(-rows // CHUNK)):
        die = rng.random(len(x), dtype=np.float32)
        old, least = (x, y), 0.0
        x, y = moved(x, y, MAPS[-1][1])  # most points take the last map
        for most, numbers in MAPS[:-1]:
            part = np.flatnonzero((least <= die) & (die < most))
            x[part], y[part] = moved(old[0][part], old[1][part], numbers)
            least = most
        if step >= 0:  # the first steps spread the points over the fern
            yield np.stack([x, y], axis=1)[: rows - step * CHUNK]


def moved(x, y, numbers):
    a, b, c, d, f = numbers
    return a * x + b * y, c * x + d * y + f


def peak_memory():
    """The most memory that this process has used, in MB; Linux counts in units of 1024 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def draw(points, leaves, dendrogram, history, out):
    figure, axes = plt.subplot_mosaic("abt;abm", figsize=(11, 6.4), layout="constrained")
    for name, k in (("a", 12), ("b", 80)):
        labels = dendrogram.cut(n_clusters=k)[leaves]
        axes[name].scatter(*points.T, s=0.15, c=np.array(COLOURS)[labels % len(COLOURS)], linewidths=0)
        axes[name].set_title(f"{k} clusters")
        axes[name].set_aspect("equal")
        axes[name].set_axis_off()
    rows, seconds, memory = history
    axes["t"].plot(rows / 1e6, seconds, color=COLOURS[0], linewidth=1.8)
    axes["t"].set(ylim=(0, None), title="Seconds, with the making of the rows", xticklabels=[])
    axes["m"].plot(rows / 1e6, memory, color=COLOURS[1], linewidth=1.8, label="peak of the process")
    axes["m"].plot(rows / 1e6, 8 * rows / 1e6, color=GREY, linewidth=0.8, label="all rows in memory")
    axes["m"].set(ylim=(0, 3 * memory.max()), title="Memory, MB", xlabel="million rows")
    axes["m"].legend()
    save(figure, out / "hundred-million-rows.png")


if __name__ == "__main__":
    main()
