"""What the page says of a cut is what Python says of it."""

import math

import numpy as np
import pytest

import dendrograms
import silverbirch as sb

LINES = np.cumsum(np.arange(1, 400.0))[:, None]  # neighbours ever farther apart: single linkage makes a chain
GRID = np.argwhere(np.ones((12, 12))).astype(float)  # all distances are equal to many others


def weighted(weight, n=300):
    weights = np.resize(np.asarray(weight, dtype=float), n)
    return sb.ClusterFeatures(weights, dendrograms.points(n), weights * np.random.default_rng(1).random(n))


def of(method, X):
    return lambda: sb.Dendrogram(sb.linkage(X, method), X)


CASES = {
    **{method: of(method, dendrograms.points(300)) for method in dendrograms.LINKAGES},
    "single, a chain": of("single", LINES),
    "single, ties": of("single", GRID),
    "average, ties": of("average", GRID),
    "ward, ties": of("ward", GRID),
    "whole weights": of("ward", weighted([1, 5, 2, 1, 9])),
    "weights of a third": of("ward", weighted([1 / 3, 2 / 3, 1.0])),
    "equal weights of a tenth": of("ward", weighted([0.1])),
    "without weight": lambda: sb.Dendrogram(sb.linkage(dendrograms.points(300), "ward"), weighted([0, 1, 0, 2])),
    "without features": lambda: sb.Dendrogram(sb.linkage(dendrograms.points(300), "average")),
    "far from the origin": of("ward", dendrograms.points(300) + 1e8),
    "tiny": of("ward", dendrograms.points(300) * 1e-90),
    "huge": of("ward", dendrograms.points(300) * 1e90),
    "two leaves": of("ward", [[1.0, 2.0], [3.0, 5.0]]),
    "two equal leaves": of("ward", [[1.0, 2.0], [1.0, 2.0]]),
    "three leaves": of("centroid", [[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]]),
}

CUT = """({ k }) => {
  const view = window.silverbirch;
  view.store.set({ cut: { k } });
  const partition = view.partition();
  const largest = partition.largest(7);
  return {
    k: partition.k,
    labels: Array.from(partition.labels()),
    rmsd: partition.rmsd ?? null,
    largest: largest.map(({ node, label }) => [node, label]),
    labelsOfLargest: largest.map(({ node }) => partition.labelOf(node)),
    tops: Array.from({ length: 2 * view.tree.n - 1 }, (_, node) => partition.topOf(node)),
  };
}"""


def ten_numbers(n):
    return sorted({min(n, k) for k in (1, 2, 3, 4, 7, 12, 30, 90, 200)} | {n})


@pytest.mark.parametrize("case", CASES)
def test_every_cut_gives_the_labels_of_python(visit, tmp_path, case):
    dendrogram = CASES[case]()
    dendrogram.to_html(tmp_path / "page.html")
    page = visit(tmp_path / "page.html")
    for k in ten_numbers(dendrogram.n_leaves):
        shown, labels = page.evaluate(CUT, {"k": k}), dendrogram.cut(k)
        nodes = dendrogram.nodes(labels)
        assert shown["k"] == k
        np.testing.assert_array_equal(shown["labels"], labels)
        assert shown["largest"] == [[node, label] for label, node in enumerate(nodes[:7])]
        assert shown["labelsOfLargest"] == list(range(min(7, k)))
        assert shown["tops"] == tops(dendrogram, nodes)
        if dendrogram.features is None:
            assert shown["rmsd"] is None
        else:
            assert shown["rmsd"] == pytest.approx(dendrogram.rmsd(k), rel=1e-6, abs=1e-12 * dendrogram.rmsd(1))


def tops(dendrogram, nodes):
    """The cluster above each node, by walking upwards; -1 for nodes above all clusters."""
    result = np.full(2 * dendrogram.n_leaves - 1, -1)
    result[nodes] = nodes
    children = dendrogram.Z[:, :2].astype(int)
    for row in reversed(range(len(children))):
        if result[dendrogram.n_leaves + row] >= 0:
            result[children[row]] = result[dendrogram.n_leaves + row]
    return result.tolist()


HEIGHTS = """({ heights }) => heights.map((height) => window.silverbirch.tree.cutOfHeight(height))"""


@pytest.mark.parametrize("case", ["ward", "single", "single, a chain", "average, ties", "two leaves"])
def test_a_line_at_a_height_gives_the_number_of_clusters_that_python_gives(visit, tmp_path, case):
    dendrogram = CASES[case]()
    dendrogram.to_html(tmp_path / "page.html")
    page = visit(tmp_path / "page.html")
    merges = np.unique(dendrogram.Z[:, 2].astype(np.float32)).astype(float)  # the page has heights of seven digits
    between = (merges[:-1] + merges[1:]) / 2
    heights = [0.0, *between[np.diff(merges) > 1e-5 * merges[1:]], 2 * merges[-1]]
    counts = dendrogram.cut(height=heights).max(axis=0) + 1
    assert page.evaluate(HEIGHTS, {"heights": heights}) == counts.tolist()


def test_a_line_between_the_heights_of_a_cut_gives_that_cut(visit, tmp_path):
    dendrogram = CASES["ward"]()
    dendrogram.to_html(tmp_path / "page.html")
    page = visit(tmp_path / "page.html")
    n = dendrogram.n_leaves
    heights = page.evaluate(f"Array.from({{length: {n}}}, (_, i) => window.silverbirch.tree.heightsOfCut(i + 1))")
    assert heights[0][1] == math.inf
    between = [(lower + min(upper, 2 * heights[0][0])) / 2 for lower, upper in heights]
    assert (dendrogram.cut(height=between).max(axis=0) + 1).tolist() == list(range(1, n + 1))


COLOURS = """() => {
  const { store, tree } = window.silverbirch, found = [];
  for (let k = 2; k <= tree.n; k++) {
    store.set({ cut: { k } });
    const partition = window.silverbirch.partition();
    const nodes = Array.from(tree.leaf, (leaf) => partition.topOf(leaf)).filter((v, i, all) => v !== all[i - 1]);
    if (nodes.some((v, i) => i > 0 && tree.colour[v] === tree.colour[nodes[i - 1]])) found.push(k);
  }
  return found;
}"""


@pytest.mark.parametrize("case", ["ward", "single, a chain"])
def test_neighbouring_clusters_differ_in_colour_at_every_cut(visit, tmp_path, case):
    CASES[case]().to_html(tmp_path / "page.html")
    assert visit(tmp_path / "page.html").evaluate(COLOURS) == []
