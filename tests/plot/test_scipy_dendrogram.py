"""`sb.dendrogram` is scipy's function, and works where scipy's fails: in deep trees."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Ellipse
from scipy.cluster import hierarchy

import silverbirch as sb
from dendrograms import LINKAGES, chain, points


@st.composite
def linkages(draw):
    """Linkage matrices of scipy: with ties, heights of 0 and inversions."""
    n, seed = draw(st.integers(2, 60)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 2)) if draw(st.booleans()) else rng.integers(0, 4, size=(n, 2)).astype(float)
    return hierarchy.linkage(rows, draw(st.sampled_from(LINKAGES)))


SORTS = st.sampled_from([False, True, "ascending", "descending"])
ARGUMENTS = st.fixed_dictionaries(
    {
        "p": st.one_of(st.integers(-2, 70), st.floats(0.5, 9)),
        "truncate_mode": st.sampled_from([None, "none", "lastp", "level", "mtica"]),
        "color_threshold": st.one_of(st.none(), st.just("default"), st.floats(-1, 6)),
        "orientation": st.sampled_from(["top", "bottom", "left", "right"]),
        "count_sort": SORTS,
        "distance_sort": SORTS,
        "show_leaf_counts": st.booleans(),
        "above_threshold_color": st.sampled_from(["C0", "k", "#bcbddc"]),
    }
)


@settings(deadline=None, max_examples=400)
@given(linkages(), ARGUMENTS, st.booleans(), st.booleans(), st.booleans())
def test_the_dictionary_is_scipys_for_all_arguments(Z, arguments, labelled, by_function, coloured):
    if labelled:
        arguments["labels"] = [f"leaf {i}" for i in range(len(Z) + 1)]
    if by_function:
        arguments["leaf_label_func"] = lambda node: f"node {node}"
    if coloured:
        arguments["link_color_func"] = lambda node: f"C{node % 10}"
    ours = sb.dendrogram(Z, no_plot=True, **arguments)
    theirs = hierarchy.dendrogram(Z, no_plot=True, **arguments)
    assert ours == theirs
    assert list(ours) == list(theirs)


@pytest.mark.parametrize(
    "arguments",
    [
        {"labels": np.array([f"leaf {i}" for i in range(12)])},
        {"leaf_label_func": hex, "labels": list("abcdefghijkl")},
        {"link_color_func": lambda node: "g" if node > 16 else "r", "color_threshold": 1.0},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_functions_and_labels_of_every_kind_are_taken_as_scipy_takes_them(arguments):
    Z = hierarchy.linkage(points(12), "average")
    assert sb.dendrogram(Z, no_plot=True, **arguments) == hierarchy.dendrogram(Z, no_plot=True, **arguments)


def test_scipys_palette_is_used_if_it_was_set():
    Z = hierarchy.linkage(points(40), "ward")
    hierarchy.set_link_color_palette(["m", "y"])
    try:
        ours, theirs = sb.dendrogram(Z, no_plot=True), hierarchy.dendrogram(Z, no_plot=True)
        assert {*ours["color_list"]} == {"m", "y", "C0"}
        assert ours == theirs
    finally:
        hierarchy.set_link_color_palette(None)


def lines(ax):
    collections = [c for c in ax.collections if isinstance(c, LineCollection)]
    return [(to_hex(c.get_colors()[0]), np.array(c.get_segments()).tolist()) for c in collections]


def marks(ax):
    """The centres and the size of the marks of contracted merges: scipy's are patches, ours a collection."""
    patches = [p for p in ax.patches if isinstance(p, Ellipse)]
    if patches:
        return sorted((*p.center, p.width, p.height) for p in patches)
    (found,) = [c for c in ax.collections if isinstance(c, EllipseCollection)] or [None]
    if found is None:
        return []
    sizes = zip(found.get_widths().tolist(), found.get_heights().tolist(), strict=True)
    return sorted((*map(float, place), *size) for place, size in zip(found.get_offsets(), sizes, strict=True))


def ticks(ax):
    return [
        (t.get_text(), t.get_rotation(), t.get_fontsize(), t.get_position())
        for t in [*ax.get_xticklabels(), *ax.get_yticklabels()]
    ]


def sides(ax):
    """On which sides ticks have labels."""
    return [
        (tick.label1.get_visible(), tick.label2.get_visible())
        for axis in (ax.xaxis, ax.yaxis)
        for tick in axis.get_major_ticks()
    ]


@pytest.mark.parametrize("orientation", ["top", "bottom", "left", "right"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"no_labels": True},
        {"leaf_font_size": 3, "leaf_rotation": 30},
        {"truncate_mode": "lastp", "p": 8, "show_contracted": True},
        {"truncate_mode": "level", "p": 2, "show_contracted": True, "count_sort": True},
        {"color_threshold": 0},
        {"above_threshold_color": "k"},
    ],
)
@pytest.mark.parametrize("n", [2, 35, 90])
def test_the_picture_is_scipys(orientation, arguments, n):
    Z = hierarchy.linkage(points(n), "average")
    _, (ours, theirs) = pyplot.subplots(1, 2)
    for draw, ax in ((sb.dendrogram, ours), (hierarchy.dendrogram, theirs)):
        draw(Z, orientation=orientation, ax=ax, **arguments)
    assert (ours.get_xlim(), ours.get_ylim()) == (theirs.get_xlim(), theirs.get_ylim())
    assert lines(ours) == lines(theirs)
    assert ticks(ours) == ticks(theirs)
    np.testing.assert_allclose(marks(ours), marks(theirs))
    assert sides(ours) == sides(theirs)


def test_without_axes_the_current_ones_of_pyplot_are_drawn_on():
    _, axes = pyplot.subplots(1, 2)
    pyplot.sca(axes[0])
    sb.dendrogram(chain(5))
    assert [len(ax.collections) > 0 for ax in axes] == [True, False]


@pytest.mark.parametrize("Z", [chain(20_000), sb.linkage(points(20_000), "single")], ids=["chain", "single linkage"])
@pytest.mark.parametrize("arguments", [{}, {"truncate_mode": "level", "p": 15_000}, {"count_sort": "descending"}])
def test_trees_that_are_too_deep_for_scipy_are_drawn(Z, arguments):
    drawn = sb.dendrogram(Z, no_plot=True, **arguments)
    assert len(drawn["icoord"]) == len(drawn["leaves"]) - 1
    assert len({*drawn["leaves"]}) == len(drawn["leaves"])
    if "truncate_mode" not in arguments:
        assert sorted(drawn["leaves"]) == list(range(20_000))
        assert sorted(corner[1] for corner in drawn["dcoord"]) == sorted(Z[:, 2])


def test_deep_trees_equal_scipys_where_the_limit_of_recursion_is_raised():
    code = (
        "import sys, threading, numpy as np, silverbirch as sb\n"
        "from scipy.cluster import hierarchy\n"
        "Z = sb.linkage(np.random.default_rng(0).normal(size=(3000, 2)), 'single')\n"
        "sys.setrecursionlimit(10**6)\n"
        "threading.stack_size(512 << 20)\n"
        "equal = []\n"
        "def compare():\n"
        "    for arguments in ({}, {'truncate_mode': 'level', 'p': 900}, {'distance_sort': True}):\n"
        "        ours, theirs = (f(Z, no_plot=True, **arguments) for f in (sb.dendrogram, hierarchy.dendrogram))\n"
        "        equal.append(ours == theirs)\n"
        "thread = threading.Thread(target=compare)\n"
        "thread.start(); thread.join()\n"
        "assert equal == [True] * 3"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_deep_tree_is_drawn_in_a_picture():
    _, ax = pyplot.subplots()
    sb.dendrogram(chain(20_000), ax=ax)
    assert sum(len(segments) for _, segments in lines(ax)) == 19_999
    assert ax.get_xticklabels() == []  # so many labels could not be read
    ax.figure.canvas.draw()


def test_without_leaves_the_rest_is_the_same():
    Z = hierarchy.linkage(points(20), "average")
    drawn = sb.dendrogram(Z, get_leaves=False, no_plot=True)
    assert drawn == hierarchy.dendrogram(Z, no_plot=True) | {"leaves": None}


@pytest.mark.parametrize(
    "arguments",
    [
        {"orientation": "up"},
        {"labels": ["a"]},
        {"p": "many"},
        {"p": None},
        {"truncate_mode": "first"},
        {"link_color_func": lambda node: 1},
        {"Z": np.empty((0, 4))},
        {"Z": np.zeros((3, 3))},
        {"Z": np.array([[0, 1, 1.0, 2], [0, 2, 2.0, 3]])},
        {"Z": np.array([[0, 4, 1.0, 2], [1, 2, 2.0, 3]])},
    ],
)
def test_what_scipy_refuses_is_refused_by_the_same_exception(arguments):
    arguments = {"Z": chain(4), "no_plot": True} | arguments
    with pytest.raises((ValueError, TypeError)) as theirs:
        hierarchy.dendrogram(**arguments)
    with pytest.raises(theirs.type):
        sb.dendrogram(**arguments)


def test_neither_scipy_nor_matplotlib_is_loaded_for_the_dictionary():
    code = (
        "import sys, silverbirch as sb\n"
        "sb.dendrogram([[0, 1, 1.0, 2]], no_plot=True)\n"
        "assert not {'scipy', 'matplotlib', 'sklearn'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
