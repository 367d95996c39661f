"""`sb.clustermap`: seaborn's picture, and the same for more rows than a picture can show."""

import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import seaborn
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb

import silverbirch as sb
from dendrograms import chain
from silverbirch.plot import summary
from silverbirch.plot.summary import Clustered, clustered, cut_side


def groups(n, d=8, count=5, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, count, n)
    return 3 * rng.normal(size=(count, d))[label] + rng.normal(size=(n, d)), label


def shown(ax):
    """The values of the heat map."""
    return np.asarray(ax.collections[0].get_array(), dtype=float)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"method": "ward"},
        {"method": "single", "metric": "cityblock"},
        {"method": "complete", "metric": "correlation"},
        {"z_score": 0},
        {"z_score": 1},
        {"standard_scale": 0},
        {"standard_scale": 1},
        {"row_cluster": False},
        {"col_cluster": False},
    ],
)
def test_values_and_orders_are_seaborns_where_all_rows_are_drawn(arguments):
    data, _ = groups(40)
    theirs = seaborn.clustermap(data, **arguments)
    ours = sb.clustermap(data, **arguments)
    np.testing.assert_allclose(ours.values, theirs.data2d.to_numpy(), atol=1e-12)
    for dendrogram, order in ((theirs.dendrogram_row, ours.row_order), (theirs.dendrogram_col, ours.col_order)):
        if dendrogram is not None:
            assert order.tolist() == dendrogram.reordered_ind
    np.testing.assert_array_equal(shown(ours.ax_heatmap), ours.values)
    ours.figure.canvas.draw()


def test_a_linkage_matrix_is_taken_as_it_is():
    data, _ = groups(30)
    rows, columns = sb.linkage(data, "ward"), sb.linkage(data.T, "single")
    drawn = sb.clustermap(data, row_linkage=rows, col_linkage=columns)
    np.testing.assert_array_equal(drawn.row_linkage, rows)
    np.testing.assert_array_equal(drawn.col_linkage, columns)
    with pytest.raises(ValueError, match="row_linkage has 30 leaves but there are 29 rows"):
        sb.clustermap(data[1:], row_linkage=rows)


@pytest.mark.parametrize("max_leaves", [1_000, 60])
def test_an_optimal_order_brings_neighbours_nearer_and_keeps_the_branches(max_leaves):
    data, _ = groups(200)
    plain, ordered = (
        sb.clustermap(data, optimal_ordering=wanted, max_leaves=max_leaves, max_rows=1_000) for wanted in (False, True)
    )

    def apart(values):
        return np.linalg.norm(np.diff(values, axis=0), axis=1).sum()

    assert apart(ordered.values) < apart(plain.values)
    assert apart(ordered.values.T) < apart(plain.values.T)
    np.testing.assert_array_equal(ordered.row_linkage[:, 2:], plain.row_linkage[:, 2:])


@pytest.mark.parametrize("n", [600, 20_000])
def test_more_rows_than_lines_are_drawn_as_the_means_of_branches(n):
    data, label = groups(n)
    drawn = sb.clustermap(data, max_rows=50, max_leaves=2_000, row_colors=label)
    assert drawn.values.shape == (50, 8)
    assert sorted(drawn.row_order.tolist()) == list(range(n))
    branch = drawn.row_branch
    assert (np.diff(branch[drawn.row_order]) >= 0).all()  # a branch is in one piece
    for line in range(50):
        mean = data[branch == line].mean(axis=0)
        np.testing.assert_allclose(drawn.values[line], mean[drawn.col_order], atol=1e-9)
    edges = drawn.ax_heatmap.collections[0].get_coordinates()[:, 0, 1]
    np.testing.assert_array_equal(np.diff(edges), np.bincount(branch))  # heights follow the number of rows


def test_lines_may_have_equal_heights():
    data, _ = groups(500)
    drawn = sb.clustermap(data, max_rows=20, proportional=False)
    assert drawn.ax_heatmap.get_ylim() == (20, 0)


def test_columns_are_cut_as_rows_are():
    data, _ = groups(60, d=300)
    drawn = sb.clustermap(data, max_columns=25)
    assert drawn.values.shape == (60, 25)
    for place in range(25):
        mean = data[:, drawn.col_branch == place].mean(axis=1)
        np.testing.assert_allclose(drawn.values[:, place], mean[drawn.row_order], atol=1e-9)


def test_a_cut_leaves_less_of_the_rows_than_a_level_cut_does():
    data, _ = groups(800)
    Z = sb.linkage(data, "average")
    drawn = sb.clustermap(data, row_linkage=Z, max_rows=30)

    def lost(branch):
        return sum(((data[branch == b] - data[branch == b].mean(axis=0)) ** 2).sum() for b in np.unique(branch))

    assert lost(drawn.row_branch) < lost(sb.Dendrogram(Z).cut(n_clusters=30))


@pytest.mark.parametrize("Z", [chain(20_000), None], ids=["chain", "single linkage"])
def test_a_tree_too_deep_for_scipy_and_seaborn_is_drawn(Z):
    data, _ = groups(20_000, d=3)
    Z = sb.linkage(data, "single") if Z is None else Z
    drawn = sb.clustermap(data, row_linkage=Z)
    assert drawn.values.shape == (500, 3)
    lines = next(c for c in drawn.ax_row_dendrogram.collections if isinstance(c, LineCollection))
    assert len(lines.get_segments()) == 499
    drawn.figure.canvas.draw()


def test_the_dendrogram_stands_beside_its_rows():
    data, _ = groups(300)
    drawn = sb.clustermap(data, max_rows=40, scale="sqrt")
    for ax, other, axis in (
        (drawn.ax_row_dendrogram, drawn.ax_heatmap, "y"),
        (drawn.ax_col_dendrogram, drawn.ax_heatmap, "x"),
    ):
        limits = [getattr(a, f"get_{axis}lim")() for a in (ax, other)]
        assert limits[0] == limits[1]
    edges = drawn.ax_heatmap.collections[0].get_coordinates()[:, 0, 1]
    wedges = next(c for c in drawn.ax_row_dendrogram.collections if isinstance(c, PolyCollection))
    counts = np.bincount(drawn.row_branch)
    ends = sorted(tuple(sorted(path.vertices[1:3, 1])) for path in wedges.get_paths())
    folded = [(edges[i], edges[i + 1]) for i in range(40) if counts[i] > 1]
    assert ends == folded


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_names_of_data_frames_are_written_beside_their_rows_and_columns(make):
    data, _ = groups(12, d=4)
    names = ["mass", "<b>", "$x$ and $y$", "kcal"]
    frame = make({name: data[:, i] for i, name in enumerate(names)})
    if make is pd.DataFrame:
        frame.index = [f"row {i}" for i in range(12)]
    drawn = sb.clustermap(frame)
    written = [label.get_text() for label in drawn.ax_heatmap.get_xticklabels()]
    assert written == [names[i] for i in drawn.col_order]
    rows = [label.get_text() for label in drawn.ax_heatmap.get_yticklabels()]
    assert rows == ([f"row {i}" for i in drawn.row_order] if make is pd.DataFrame else [])
    drawn.figure.canvas.draw()


def test_names_can_be_given_and_left_out():
    data, _ = groups(12, d=3)
    drawn = sb.clustermap(data, yticklabels=[f"r{i}" for i in range(12)], xticklabels=True)
    assert [t.get_text() for t in drawn.ax_heatmap.get_yticklabels()] == [f"r{i}" for i in drawn.row_order]
    assert [t.get_text() for t in drawn.ax_heatmap.get_xticklabels()] == [str(i) for i in drawn.col_order]
    assert sb.clustermap(pd.DataFrame(data, columns=[*"abc"]), xticklabels=False).ax_heatmap.get_xticklabels() == []
    with pytest.raises(ValueError, match="2 names for 3 columns"):
        sb.clustermap(data, xticklabels=["a", "b"])


@pytest.mark.parametrize(
    "make",
    [
        lambda label: [f"C{i}" for i in label],
        lambda label: pd.Series([f"C{i}" for i in label], name="kind"),
        lambda label: [to_rgb(f"C{i}") for i in label],
    ],
    ids=["list", "series", "tuples"],
)
def test_a_branch_has_the_colour_that_most_of_its_rows_have(make):
    data, label = groups(400)
    drawn = sb.clustermap(data, row_colors=make(label), max_rows=30)
    strip = drawn.ax_row_colors.collections[0].get_array()
    for line, colour in enumerate(np.asarray(strip).reshape(30, 3)):
        most = np.bincount(label[drawn.row_branch == line]).argmax()
        np.testing.assert_allclose(colour, to_rgb(f"C{most}"))


def test_several_strips_have_their_names():
    data, label = groups(50)
    colours = pd.DataFrame({"kind": [f"C{i}" for i in label], "half": ["k" if i else "w" for i in label % 2]})
    drawn = sb.clustermap(data, row_colors=colours, col_colors=[*range(8)])
    assert [t.get_text() for t in drawn.ax_row_colors.get_xticklabels()] == ["kind", "half"]
    assert drawn.ax_col_colors is not None
    with pytest.raises(ValueError, match="row_colors has 49 colours for 50"):
        sb.clustermap(data, row_colors=["k"] * 49)


def test_a_figure_or_a_part_of_one_is_drawn_on():
    data, _ = groups(30)
    figure = matplotlib.figure.Figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    drawn = [sb.clustermap(data, figure=part, cbar=False) for part in (left, right)]
    assert [part.figure for part in drawn] == [left, right]
    assert drawn[0].ax_cbar is None
    figure.canvas.draw()


def test_a_subfigure_is_saved_with_the_figure_it_is_part_of(tmp_path):
    figure = matplotlib.figure.Figure()
    drawn = sb.clustermap(groups(20)[0], figure=figure.subfigures(1, 2)[0])
    drawn.savefig(tmp_path / "map.png", dpi=30)
    assert (tmp_path / "map.png").stat().st_size > 0


@pytest.mark.parametrize("data", [[[1.0, 2.0]], [[1.0], [2.0], [3.0]], [[5.0]], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]])
def test_small_and_constant_data_are_drawn(data):
    for arguments in ({}, {"z_score": 1}, {"standard_scale": 0}, {"scale": "log"}):
        drawn = sb.clustermap(data, **arguments)
        assert np.isfinite(drawn.values).all()
        drawn.figure.canvas.draw()


def test_a_leaf_that_is_nearest_to_no_row_is_an_empty_line():
    rows = np.array([[0.0], [1.0], [9.0]])
    found = Clustered(sb.linkage([[0.0], [1.0], [5.0], [9.0]], "single"), np.array([0, 1, 3]))
    side = cut_side(rows, found, 10)
    means = side.means(rows)
    assert np.isnan(means).sum() == 1
    assert sorted(means[~np.isnan(means)].tolist()) == [0.0, 1.0, 9.0]


def test_an_empty_line_does_not_change_how_columns_are_cut(monkeypatch):
    data, _ = groups(30, d=40)
    expected = sb.clustermap(data, max_columns=10)
    with_empty_leaf = Clustered(sb.linkage(np.vstack([data, data.mean(axis=0)]), "average"), np.arange(30))
    monkeypatch.setattr(
        "silverbirch.plot.clustermap.clustered",
        lambda rows, job, given, name: with_empty_leaf if name == "row" else clustered(rows, job, given, name),
    )
    drawn = sb.clustermap(data, max_columns=10)
    assert np.isnan(drawn.values).all(axis=1).sum() == 1
    np.testing.assert_array_equal(drawn.col_branch, expected.col_branch)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"z_score": 1, "standard_scale": 1}, "either z_score or standard_scale"),
        ({"z_score": 2}, "z_score=2"),
        ({"max_rows": 1}, "max_rows"),
        ({"scale": "cube"}, "scale"),
        ({"metric": "cityblock", "max_leaves": 10}, "metric='cityblock' of 40 rows"),
        ({"data": [[np.nan, 1.0], [0.0, 1.0]]}, "finite"),
        ({"data": [1.0, 2.0]}, "2-D"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sb.clustermap(**({"data": groups(40)[0]} | arguments))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
def test_columns_are_clustered_by_all_rows_or_nearly_so_by_their_leaves(metric, monkeypatch):
    data, _ = groups(5_000, d=12, count=12, seed=3)
    data += 2  # so that cosine and correlation differ
    exact = sb.linkage(np.ascontiguousarray(data.T), "average", metric)
    drawn = sb.clustermap(data, metric=metric, max_leaves=1_000)
    assert len(drawn.row_linkage) < 1_000
    np.testing.assert_array_equal(drawn.col_linkage, exact)
    monkeypatch.setattr(summary, "_MOST_WORK", 0)
    rough = sb.clustermap(data, metric=metric, max_leaves=1_000)
    assert not np.array_equal(rough.col_linkage, exact)
    np.testing.assert_allclose(np.sort(rough.col_linkage[:, 2]), np.sort(exact[:, 2]), rtol=0.15)


def test_pyplot_and_seaborn_are_not_loaded():
    code = (
        "import sys, silverbirch as sb\n"
        "sb.clustermap([[0.0, 1.0], [2.0, 1.0], [5.0, 1.0]])\n"
        "assert not {'matplotlib.pyplot', 'seaborn', 'pandas', 'sklearn', 'scipy'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def colours_drawn(ax):
    return np.asarray(ax.collections[0].get_array()).reshape(-1, 3)


@pytest.mark.parametrize("missing", [0, 3])
def test_a_series_of_colours_is_matched_by_its_index_as_seaborn_does(missing):
    data, label = groups(20)
    frame = pd.DataFrame(data, index=[f"row {i}" for i in range(20)])
    colours = pd.Series([f"C{i}" for i in label], index=frame.index)
    shuffled = colours.sample(frac=1, random_state=0)[missing:]
    theirs = seaborn.clustermap(frame, row_colors=shuffled)
    expected = [to_rgb(theirs.row_colors[row]) for row in theirs.dendrogram_row.reordered_ind]
    for given in (shuffled, shuffled.to_frame("kind")):
        drawn = sb.clustermap(frame, row_colors=given)
        np.testing.assert_allclose(colours_drawn(drawn.ax_row_colors), expected)
    assert [to_rgb("white")] * missing == [colour for colour in expected if colour == to_rgb("white")]


def test_a_series_of_colours_with_repeated_entries_cannot_be_matched():
    data, _ = groups(3)
    with pytest.raises(ValueError, match="row_colors has an index with repeated entries"):
        sb.clustermap(pd.DataFrame(data), row_colors=pd.Series(["k"] * 3, index=[0, 0, 1]))


def test_colours_may_be_an_array_of_red_green_and_blue_or_a_dict_of_lists():
    data, _ = groups(6)
    colours = np.random.default_rng(0).random((6, 3))
    drawn = sb.clustermap(data, row_colors=colours)
    np.testing.assert_allclose(colours_drawn(drawn.ax_row_colors), colours[drawn.row_order])
    drawn = sb.clustermap(data, row_colors={"kind": ["k"] * 6})
    assert [t.get_text() for t in drawn.ax_row_colors.get_xticklabels()] == ["kind"]
    with pytest.raises(ValueError, match="row_colors has 0 colours for 6"):
        sb.clustermap(data, row_colors=[])


@pytest.mark.parametrize("name", ["annot", "cbar_kws", "cbar_pos", "mask", "pivot_kws", "robust", "tree_kws"])
def test_an_argument_that_only_seaborn_has_is_refused_before_rows_are_clustered(name, monkeypatch):
    monkeypatch.setattr("silverbirch.plot.clustermap.clustered", None)
    with pytest.raises(TypeError, match=f"clustermap has no argument '{name}': "):
        sb.clustermap(groups(5)[0], **{name: None})


def test_a_number_for_names_takes_every_nth():
    frame = pd.DataFrame(groups(6)[0], columns=list("abcdefgh"))
    drawn = sb.clustermap(frame, xticklabels=3)
    in_order = [frame.columns[column] for column in drawn.col_order]
    assert [t.get_text() for t in drawn.ax_heatmap.get_xticklabels()] == in_order[::3]


def test_only_branches_of_a_single_row_have_names():
    data, _ = groups(40)
    drawn = sb.clustermap(data, max_rows=12, yticklabels=[f"r{i}" for i in range(40)], proportional=False)
    alone = np.flatnonzero(np.bincount(drawn.row_branch) == 1)
    assert 0 < len(alone) < 12
    expected = [f"r{np.flatnonzero(drawn.row_branch == branch)[0]}" for branch in alone]
    assert [t.get_text() for t in drawn.ax_heatmap.get_yticklabels()] == expected


@pytest.mark.parametrize("center", [-50.0, 0.0, 50.0])
def test_the_centre_is_in_the_middle_of_colours_that_hold_all_values(center):
    drawn = sb.clustermap(groups(20)[0], center=center)
    low, high = drawn.ax_heatmap.collections[0].get_clim()
    assert (low + high) / 2 == pytest.approx(center)
    assert low <= drawn.values.min() + 1e-12
    assert drawn.values.max() <= high + 1e-12


def test_dendrograms_and_strips_take_their_share_of_the_figure():
    figure = matplotlib.figure.Figure()
    drawn = sb.clustermap(
        groups(20)[0], figure=figure, row_colors=[0] * 20, dendrogram_ratio=(0.3, 0.1), colors_ratio=0.05
    )
    axes = (drawn.ax_row_dendrogram, drawn.ax_row_colors, drawn.ax_heatmap)
    widths = np.array([ax.get_position().width for ax in axes])
    np.testing.assert_allclose(widths / widths.sum(), [0.3, 0.05, 0.65])
    heights = np.array([ax.get_position().height for ax in (drawn.ax_col_dendrogram, drawn.ax_heatmap)])
    np.testing.assert_allclose(heights / heights.sum(), [0.1, 0.9])


def test_a_norm_or_two_limits_say_where_the_colours_end():
    data, _ = groups(6)
    norm = matplotlib.colors.SymLogNorm(1.0)
    assert sb.clustermap(data, norm=norm).ax_heatmap.collections[0].norm is norm
    drawn = sb.clustermap(data, z_score=1, vmin=-1, vmax=3)
    assert drawn.ax_heatmap.collections[0].get_clim() == (-1, 3)
