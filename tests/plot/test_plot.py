"""Drawings: a truncated, readable dendrogram for any number of leaves."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex

import silverbirch as sb
from dendrograms import chain, points
from silverbirch.plot import TRUNK, draw_rmsd


def flat(n):
    Z = chain(n)
    Z[:, 2] = 0
    return Z


def inverted(n):
    Z = sb.linkage(points(n), "centroid")
    assert (np.diff(Z[:, 2]) < 0).any()
    return Z


def branches(ax):
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    segments, colours = lines.get_segments(), [to_hex(c) for c in lines.get_colors()]
    both = zip(segments, colours * (len(segments) if len(colours) == 1 else 1), strict=True)
    legs, bars = [], []
    for segment, colour in both:
        (legs if segment[0, 0] == segment[1, 0] else bars).append((segment, colour))
    assert len(legs) == 2 * len(bars)  # a merge is two legs and the bar that joins them
    return [segment for segment, _ in legs], [colour for _, colour in legs]


def wedges(ax):
    (polygons,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    return polygons.get_paths()


def tip_labels(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


TREES = {
    "two": sb.linkage(points(2), "ward"),
    "three": sb.linkage(points(3), "ward"),
    "forty": sb.linkage(points(40), "ward"),
    "forty-one": sb.linkage(points(41), "average"),
    "five thousand": sb.linkage(points(5000), "ward"),
    "chain": chain(500),
    "deep chain": chain(20_000),
    "inversions": inverted(300),
    "flat": flat(50),
}


@pytest.mark.parametrize("max_leaves", [2, 3, 40])
@pytest.mark.parametrize("Z", TREES.values(), ids=TREES.keys())
def test_tips_are_as_many_as_asked_or_as_there_are_and_all_is_within_view(Z, max_leaves):
    dendrogram = sb.Dendrogram(Z)
    ax = dendrogram.plot(max_leaves=max_leaves)
    assert isinstance(ax, Axes)
    tips = min(max_leaves, dendrogram.n_leaves)
    assert len(tip_labels(ax)) == tips
    segments, _ = branches(ax)
    assert len(segments) == 2 * (tips - 1)
    assert len({s[0, 0] for s in segments} & set(range(tips))) == tips
    vertices = np.concatenate([*segments, *(p.vertices for p in wedges(ax))])
    assert np.isfinite(vertices).all()
    for values, (low, high) in zip(vertices.T, (ax.get_xlim(), ax.get_ylim()), strict=True):
        assert low <= values.min()
        assert values.max() <= high
    ax.figure.canvas.draw()


def test_a_folded_branch_is_a_wedge_and_a_leaf_is_none():
    Z = sb.linkage(points(30), "ward")
    assert len(wedges(sb.Dendrogram(Z).plot(max_leaves=30))) == 0
    assert len(wedges(sb.Dendrogram(chain(30)).plot(max_leaves=4))) == 1


@pytest.mark.parametrize("Z", TREES.values(), ids=TREES.keys())
def test_lines_end_in_the_heights_of_the_uppermost_merges(Z):
    segments, _ = branches(sb.Dendrogram(Z).plot())
    shown = min(40, len(Z) + 1) - 1
    tops = [s[1, 1] for s in segments]
    assert sorted(tops) == sorted(np.repeat(Z[len(Z) - shown :, 2], 2))


@pytest.mark.parametrize("n", [2, 3, 40, 41, 500])
@pytest.mark.parametrize("weighted", [False, True])
def test_tip_labels_add_up_to_the_total_weight(n, weighted):
    rows = points(n)
    weight = np.random.default_rng(1).integers(1, 4, n) if weighted else np.ones(n)
    features = sb.ClusterFeatures(weight, rows, 0)
    labels = tip_labels(sb.Dendrogram(sb.linkage(features, "ward"), features).plot())
    assert sum(float(label) for label in labels) == weight.sum()


@pytest.mark.parametrize("weight", [1, 999, 1000, 12_345, 999_499, 999_600, 999_999, 5e6, 999_999_999, 7e9, 0.5])
def test_tip_labels_are_short_and_without_exponents(weight):
    dendrogram = sb.Dendrogram(chain(2), sb.ClusterFeatures([weight, 1], [[0.0], [1.0]], 0))
    assert all(len(label) <= 5 and "e" not in label for label in tip_labels(dendrogram.plot()))


@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_colours_tell_the_clusters_of_the_cut_apart(k):
    dendrogram = sb.Dendrogram(sb.linkage(points(30), "ward"))
    segments, colours = branches(dendrogram.plot(max_leaves=30, n_clusters=k))
    colour_of_tip = {s[0, 0]: c for s, c in zip(segments, colours, strict=True) if s[0, 0] % 1 == 0 and s[0, 1] == 0}
    assert len(colour_of_tip) == 30
    used = list(colour_of_tip.values())
    assert len(set(used)) == k
    assert TRUNK not in used
    sizes = sorted(used.count(c) for c in set(used))
    assert sizes == sorted(np.bincount(dendrogram.cut(n_clusters=k)))
    in_order = [colour_of_tip[x] for x in range(30)]
    assert sum(a != b for a, b in itertools.pairwise(in_order)) == k - 1  # each cluster is in one piece
    assert colours.count(TRUNK) == max(0, k - 2)  # the branches that hang on the merges above the cut


def test_clusters_side_by_side_differ_in_colour_however_many_there_are():
    dendrogram = sb.Dendrogram(sb.linkage(points(40), "ward"))
    segments, colours = branches(dendrogram.plot(n_clusters=40))
    in_order = [c for _, c in sorted((s[0, 0], c) for s, c in zip(segments, colours, strict=True) if s[0, 1] == 0)]
    assert len(in_order) == 40
    assert all(a != b for a, b in itertools.pairwise(in_order))


def test_more_clusters_than_tips_leave_the_folded_branches_in_the_trunks_colour():
    dendrogram = sb.Dendrogram(sb.linkage(points(200), "ward"))
    (polygons,) = (
        c for c in dendrogram.plot(max_leaves=10, n_clusters=200).collections if isinstance(c, PolyCollection)
    )
    assert {to_hex(c) for c in polygons.get_facecolors()} == {TRUNK}


def test_given_axes_are_drawn_on_and_returned():
    _, ax = pyplot.subplots()
    assert sb.Dendrogram(chain(5)).plot(ax) is ax
    assert sb.Dendrogram(chain(5)).plot(ax=ax) is ax
    assert len(pyplot.get_fignums()) == 1


@pytest.mark.parametrize(
    ("style", "colour"),
    [({"colors": "#ff0000"}, "#ff0000"), ({"color": "#ff0000"}, "#ff0000"), ({"linewidth": 3.0}, None)],
)
def test_style_reaches_the_lines(style, colour):
    ax = sb.Dendrogram(chain(5)).plot(**style)
    if colour is not None:
        assert set(branches(ax)[1]) == {colour}
    else:
        assert set(ax.collections[0].get_linewidths()) == {3.0}


@pytest.mark.parametrize("max_leaves", [0, 1, -3, 2.5, "all"])
def test_a_wrong_max_leaves_is_refused_by_name(max_leaves):
    with pytest.raises((ValueError, TypeError), match="max_leaves"):
        sb.Dendrogram(chain(5)).plot(max_leaves=max_leaves)


def test_a_page_leaves_no_figures_open_in_pyplot(tmp_path):
    sb.Dendrogram(chain(5), points(5)).to_html(tmp_path / "page.html")
    assert pyplot.get_fignums() == []


def test_plotting_alone_does_not_load_pyplot():
    code = (
        "import io, sys, silverbirch as sb\n"
        "sb.Dendrogram([[0, 1, 1.0, 2]]).plot().figure.savefig(io.BytesIO())\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("n", [1, 2, 50, 3000])
def test_rmsd_curve_runs_from_one_cluster_to_the_last_and_marks_one(n):
    rows = points(n)
    Z = sb.linkage(rows, "ward") if n > 1 else np.empty((0, 4))
    dendrogram = sb.Dendrogram(Z, rows)
    ax = draw_rmsd(dendrogram, mark=min(n, 2))
    k, rmsd = ax.lines[0].get_data()
    assert (k[0], k[-1]) == (1, min(n, 2000))
    np.testing.assert_array_equal(rmsd, dendrogram.rmsd(np.asarray(k, dtype=int)))
    assert ax.lines[1].get_xydata().tolist() == [[min(n, 2), dendrogram.rmsd(min(n, 2))]]
    ax.figure.canvas.draw()
