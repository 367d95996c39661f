"""`Dendrogram.plot`: sides, scales, colours that stay, adaptive cuts, and the cut line."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex

import silverbirch as sb
from dendrograms import LINKAGES, chain, points, seeds, some
from silverbirch.plot.palette import BRANCHES, BRANCHES_ON_DARK, TRUNK, different_neighbours


def segments(ax):
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    return np.array(lines.get_segments())


def blobs(n=300, count=8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-20, 20, size=(count, 2))[rng.integers(0, count, n)] + rng.normal(size=(n, 2))


def line_of_cut(ax):
    (line,) = ax.lines or [None]
    return line


@pytest.mark.parametrize("scale", ["linear", "sqrt", "log"])
def test_the_four_sides_show_the_same_branches(scale):
    dendrogram = sb.Dendrogram(sb.linkage(blobs(), "ward"), blobs())
    top, bottom, left, right = (
        dendrogram.plot(n_clusters=4, orientation=side, scale=scale) for side in ("top", "bottom", "left", "right")
    )
    for ax, turned in ((bottom, False), (left, True), (right, True)):
        np.testing.assert_array_equal(segments(top), segments(ax)[..., ::-1] if turned else segments(ax))
    for ax, low_first in ((top, True), (bottom, False)):
        low, high = ax.get_ylim()
        assert (low < high) == low_first
    for ax, low_first in ((right, True), (left, False)):
        low, high = ax.get_xlim()
        assert (low < high) == low_first
    for ax in (top, bottom, left, right):
        ax.figure.canvas.draw()


@pytest.mark.parametrize("scale", ["linear", "sqrt", "log"])
@pytest.mark.parametrize("method", LINKAGES)
def test_heights_keep_their_order_and_are_within_view_on_every_scale(scale, method):
    Z = sb.linkage(points(200), method)
    ax = sb.Dendrogram(Z).plot(scale=scale)
    heights = np.sort(segments(ax)[2::3, 0, 1])  # the bars
    np.testing.assert_array_equal(heights, np.sort(Z[-39:, 2]))
    drawn = ax.transData.transform(np.column_stack([np.zeros(39), heights]))[:, 1]
    assert (np.diff(drawn) >= 0).all()
    low, high = ax.get_ylim()
    assert low <= segments(ax)[..., 1].min()
    assert segments(ax)[..., 1].max() <= high


def test_two_merges_fill_the_height_of_the_linear_scale_but_not_of_the_others():
    X = np.concatenate([points(100), points(100) + 1e4])
    dendrogram = sb.Dendrogram(sb.linkage(X, "average"), X)

    def second(scale):
        ax = dendrogram.plot(scale=scale)
        tops = ax.transAxes.inverted().transform(ax.transData.transform(segments(ax)[2::3, 0]))[:, 1]
        return np.sort(tops)[-2]

    assert second("linear") < 0.01
    assert second("linear") < second("sqrt") < second("log")
    assert second("log") > 0.15


@pytest.mark.parametrize("Z", [chain(9) * [1, 1, 0, 1], [[0, 1, 0.0, 2], [2, 3, 5.0, 3]]], ids=["flat", "one merge"])
@pytest.mark.parametrize("scale", ["linear", "sqrt", "log"])
def test_merges_at_height_0_are_drawn_on_every_scale(Z, scale):
    ax = sb.Dendrogram(Z).plot(scale=scale)
    assert np.isfinite(segments(ax)).all()
    assert np.diff(ax.get_ylim()) > 0
    ax.figure.canvas.draw()


@some
@given(seeds, st.integers(2, 60), st.sampled_from(LINKAGES), st.booleans())
def test_neighbours_differ_and_a_split_changes_the_lighter_part_alone(seed, n, method, weighted):
    rng = np.random.default_rng(seed)
    features = sb.ClusterFeatures(rng.integers(1, 9, n) if weighted else 1, rng.normal(size=(n, 2)), 0)
    dendrogram = sb.Dendrogram(sb.linkage(features, method), features)
    weights, before = dendrogram.weights, {}
    for k in range(1, n + 1):
        nodes = dendrogram.nodes(n_clusters=k)
        colour = dict(zip(nodes.tolist(), dendrogram.colors(k), strict=True))
        in_order = [colour[node] for node in nodes[np.argsort(dendrogram._hierarchy.first[nodes])].tolist()]
        assert all(a != b for a, b in itertools.pairwise(in_order))
        assert len({*colour.values()}) == k or k > len(BRANCHES)
        new = [node for node in colour if node not in before]
        if before:
            (split,) = [node for node in before if node not in colour]
            assert {colour[node] for node in colour if node in before} <= {*before.values()}
            assert all(colour[node] == before[node] for node in colour if node in before)
            heavier = max(new, key=lambda node: weights[node])
            equal = weights[new[0]] == weights[new[1]]
            assert before[split] == colour[heavier] or equal
        before = colour


@pytest.mark.parametrize("max_leaves", [12, 40, 300])
@pytest.mark.parametrize("options", [{"method": "eom"}, {"method": "dynamic"}, {"max_size": 60}])
def test_clusters_of_adaptive_cuts_have_the_colours_that_colors_gives(options, max_leaves):
    X = blobs()
    dendrogram = sb.Dendrogram(sb.linkage(X, "ward"), X)
    labels = dendrogram.cut(min_size=12, noise=True, **options)
    assert labels.max() > 2
    ax = dendrogram.plot(clusters=labels, max_leaves=max_leaves)
    colours = dendrogram.colors(labels=labels)
    in_order = labels[dendrogram._hierarchy.leaf_order]
    first = [labels_in for labels_in, _ in itertools.groupby(in_order[in_order >= 0].tolist())]
    assert all(colours[a] != colours[b] for a, b in itertools.pairwise(first))
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    drawn = {to_hex(c) for c in lines.get_colors()}
    assert drawn == {*colours, TRUNK} or max_leaves < 40
    assert len(lines.get_segments()) == 3 * (max_leaves - 1)  # as many tips as asked for
    assert [*ax.lines] == []  # no height cuts into these clusters


def test_a_cluster_that_is_no_branch_is_refused():
    dendrogram = sb.Dendrogram(chain(6))
    with pytest.raises(ValueError, match="not a whole branch"):
        dendrogram.plot(clusters=[0, 1, 0, 1, 0, 1])
    with pytest.raises(ValueError, match="at most one"):
        dendrogram.plot(clusters=[0] * 6, n_clusters=2)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_colours_of_neighbours_are_made_different_and_few_are_changed(colours):
    changed = different_neighbours(colours)
    assert all(a != b for a, b in itertools.pairwise(changed))
    if all(a != b for a, b in itertools.pairwise(colours)):
        assert changed == colours


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(2, 50), st.sampled_from(LINKAGES), st.sampled_from(["linear", "sqrt", "log"]), st.booleans())
def test_the_line_cuts_into_as_many_clusters_and_is_never_on_the_axis(seed, n, method, scale, with_duplicates):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, 2)).astype(float) if with_duplicates else rng.normal(size=(n, 2))
    dendrogram = sb.Dendrogram(sb.linkage(X, method), X)
    for k in {1, n // 2 or 1, n}:
        ax = dendrogram.plot(n_clusters=k, scale=scale, max_leaves=max(n, 2))
        line = line_of_cut(ax)
        if line is None:
            kept, undone = dendrogram._heights_of(k)
            low, high = ax.get_ylim()
            near = undone < low + 0.04 * (high - low)
            assert k == 1 or kept >= undone or near or scale != "linear"
        else:
            (height,) = {*line.get_ydata()}
            assert len(np.unique(dendrogram.cut(height=height))) == k
            share = ax.transAxes.inverted().transform(ax.transData.transform([0, height]))[1]
            assert 0.01 < share < 1
        pyplot.close("all")


def test_the_line_can_be_left_out_and_is_vertical_where_the_root_is_at_a_side():
    dendrogram = sb.Dendrogram(sb.linkage(points(20), "ward"))
    assert len(dendrogram.plot(n_clusters=3, cut_line=False).lines) == 0
    assert len(dendrogram.plot().lines) == 0
    line = dendrogram.plot(n_clusters=3, orientation="left").lines[0]
    assert line.get_xdata()[0] == line.get_xdata()[1]


def test_a_dark_background_has_lighter_colours():
    dendrogram = sb.Dendrogram(sb.linkage(points(20), "ward"))
    with pyplot.style.context("dark_background"):
        ax = dendrogram.plot(n_clusters=5)
        (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
        assert {to_hex(c) for c in lines.get_colors()} <= {*BRANCHES_ON_DARK, TRUNK}
    assert {*dendrogram.colors(5, dark=True)} == {*BRANCHES_ON_DARK[:5]}


def test_long_names_and_names_with_dollars_are_written_as_they_are():
    names = ["$x^", "two\nlines", "x" * 300, *(f"leaf {i}" for i in range(7))]
    ax = sb.Dendrogram(chain(10), names=names).plot(orientation="right")
    ax.figure.canvas.draw()
    written = [label.get_text() for label in ax.get_yticklabels()]
    assert {"$x^", "two lines", "x" * 39 + "…"} <= {*written}


def test_labels_that_could_not_be_read_are_left_out():
    dendrogram = sb.Dendrogram(chain(1000))
    assert dendrogram.plot(max_leaves=1000).get_xticklabels() == []
    _, wide = pyplot.subplots(figsize=(80, 4))
    assert len(dendrogram.plot(wide, max_leaves=1000).get_xticklabels()) == 1000


@pytest.mark.parametrize("name", ["orientation", "scale"])
def test_an_unknown_side_or_scale_is_refused(name):
    with pytest.raises(ValueError, match=f"{name}='middle'"):
        sb.Dendrogram(chain(5)).plot(**{name: "middle"})


def test_wedges_reach_from_the_branch_to_the_base():
    dendrogram = sb.Dendrogram(sb.linkage(points(200), "ward"))
    for scale in ("linear", "log"):
        ax = dendrogram.plot(max_leaves=10, scale=scale)
        (wedges,) = (c for c in ax.collections if isinstance(c, PolyCollection))
        assert len(wedges.get_paths()) > 5
        assert all(path.vertices[1:3, 1].tolist() == [ax.get_ylim()[0]] * 2 for path in wedges.get_paths())


def test_the_curve_of_the_rmsd_needs_features_and_checks_its_mark():
    with pytest.raises(ValueError, match="features"):
        sb.Dendrogram(chain(5)).plot_rmsd()
    with pytest.raises(ValueError, match="mark=9"):
        sb.Dendrogram(chain(5), points(5)).plot_rmsd(mark=9)
    assert sb.Dendrogram(chain(5), points(5)).plot_rmsd(k_max=3).lines[0].get_xdata().tolist() == [1, 2, 3]


@pytest.mark.parametrize("mark", [1, 2, 10, 30, 60, 150, 400])
def test_the_mark_on_the_curve_of_the_rmsd_does_not_lie_on_the_curve(mark):
    ax = sb.Dendrogram(sb.linkage(points(400), "ward"), points(400)).plot_rmsd(mark=mark)
    curve, (text,) = ax.lines[0], ax.texts
    ax.figure.draw_without_rendering()
    box = text.get_window_extent()
    assert box.x1 <= ax.figure.bbox.x1
    assert not any(box.contains(*place) for place in ax.transData.transform(curve.get_xydata()))


@pytest.mark.parametrize("top", [1.0, 6.0, 83.0, 500.0, 7e5])
def test_ticks_of_square_roots_are_round(top):
    Z = chain(30)
    Z[:, 2] *= top / Z[-1, 2]
    ticks = sb.Dendrogram(Z).plot(scale="sqrt").get_yticks()
    assert len(ticks) > 4
    assert {f"{tick:.9e}"[0] for tick in ticks} <= {*"01234568"}


def test_an_axis_on_which_all_branches_have_names_needs_no_label():
    names = [f"leaf {i}" for i in range(5)]
    assert sb.Dendrogram(chain(5), names=names).plot().get_xlabel() == ""
    assert sb.Dendrogram(chain(5), names={0: "first"}).plot().get_xlabel() == "branches by name or by their points"
    assert sb.Dendrogram(chain(5)).plot().get_xlabel() == "points below each branch"
