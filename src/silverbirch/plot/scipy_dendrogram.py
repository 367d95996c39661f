"""`dendrogram`: the function of scipy, without its recursion."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats, as_choice
from ..dendrogram.measured import checked_z
from ..dendrogram.nodes import Nodes
from ..names import Orientation
from .axes import NO_MATPLOTLIB, OPPOSITE, points_of
from .layout import Layout, layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SortOrder = Literal["ascending", "descending"] | bool | None
_PALETTE = tuple(f"C{i}" for i in range(1, 10))
_STEP = 10.0  # between two tips
_MOST_LABELS = 5_000  # more would be narrower than a pixel, and matplotlib would take minutes to write them


class DrawnDendrogram(TypedDict):
    """What `dendrogram` returns: scipy's dictionary."""

    icoord: list[list[float]]
    dcoord: list[list[float]]
    ivl: list[Any]
    leaves: list[int] | None
    color_list: list[str]
    leaves_color_list: list[str | None]


def dendrogram(
    Z: Any,
    p: float = 30,
    truncate_mode: Literal["lastp", "level", "mtica", "none"] | None = None,
    color_threshold: float | Literal["default"] | None = None,
    get_leaves: bool = True,
    orientation: Orientation = "top",
    labels: Any = None,
    count_sort: SortOrder = False,
    distance_sort: SortOrder = False,
    show_leaf_counts: bool = True,
    no_plot: bool = False,
    no_labels: bool = False,
    leaf_font_size: float | None = None,
    leaf_rotation: float | None = None,
    leaf_label_func: Callable[[int], str] | None = None,
    show_contracted: bool = False,
    link_color_func: Callable[[int], str] | None = None,
    ax: Axes | None = None,
    above_threshold_color: str = "C0",
) -> DrawnDendrogram:
    """Draws a dendrogram and returns scipy's dictionary, as `scipy.cluster.hierarchy.dendrogram` does, at any depth.

    Parameters
    ----------
    Z : array (n - 1, 4)
        A linkage matrix from `silverbirch.linkage` or scipy.
    p : int, default 30
        The number that `truncate_mode` refers to.
    truncate_mode : {None, "lastp", "level"}, default None
        "lastp" draws the last p - 1 merges, and the p branches that they join as tips. "level" draws no more than p
        levels below the root. None draws all. "mtica" is "level", and "none" is None.
    color_threshold : float, default None
        Branches whose merge is below this height get a colour each, in turn; None is 0.7 times the largest height.
    get_leaves : bool, default True
        Whether to return "leaves"; otherwise it is None.
    orientation : {"top", "bottom", "left", "right"}, default "top"
        The side of the root.
    labels : list, default None
        A label for each leaf; None takes the numbers of the leaves.
    count_sort : {False, "ascending", True, "descending"}, default False
        "ascending", or True, draws the child with fewer leaves first; "descending" the one with more.
    distance_sort : {False, "ascending", True, "descending"}, default False
        "ascending", or True, draws the child whose merge is lower first; "descending" the one whose merge is higher.
        With `count_sort` it has no effect.
    show_leaf_counts : bool, default True
        Whether truncated branches are labelled with the number of their leaves in parentheses.
    no_plot : bool, default False
        Whether to only return the dictionary.
    no_labels : bool, default False
        Whether to write no labels beside the leaves.
    leaf_font_size : float, default None
        The size of these labels in points; None chooses it by their number.
    leaf_rotation : float, default None
        The angle of these labels in degrees; None chooses it by their number.
    leaf_label_func : function, default None
        Returns the label of the node whose number it is given, for every leaf and truncated branch.
    show_contracted : bool, default False
        Whether to mark the heights of the merges inside truncated branches.
    link_color_func : function, default None
        Returns the colour of the node whose number it is given, for every merge.
    ax : matplotlib Axes, default None
        Where to draw; None takes the current axes of pyplot.
    above_threshold_color : str, default "C0"
        The colour of the merges at `color_threshold` and above.

    Returns
    -------
    dict
        "icoord" and "dcoord": the four corners of each merge, along the leaves and in height. "ivl" and "leaves": the
        labels and the nodes from left to right. "color_list" and "leaves_color_list": the colour of each merge and of
        each leaf.

    Raises
    ------
    ValueError
        Z is not a linkage matrix, a name is unknown, or the number of labels is not that of the leaves.
    TypeError
        `p` is not a number, or `link_color_func` returns no string.
    ImportError
        matplotlib is not installed. `no_plot=True` does not need it.

    Notes
    -----
    All arguments and the dictionary are scipy's. It needs time and memory linear in the number of drawn merges:
    scipy's function recurses, and fails where a branch is deeper than Python's limit of recursion. More than 5 000
    labels are not written beside the leaves; "ivl" has them. `Dendrogram.plot` draws a readable picture of the top.

    `scipy.cluster.hierarchy.set_link_color_palette` has its effect here too.

    Examples
    --------
    >>> import silverbirch as sb
    >>> drawn = sb.dendrogram(sb.linkage([[0.0], [1.0], [5.0], [7.0]], "single"), no_plot=True)
    >>> drawn["leaves"], drawn["icoord"][0], drawn["dcoord"][0]
    ([0, 1, 2, 3], [5.0, 5.0, 15.0, 15.0], [0.0, 1.0, 1.0, 0.0])
    """
    orientation = as_choice(orientation, "orientation", ("top", "left", "bottom", "right"))  # type: ignore[assignment]
    Z = checked_z(Z, counted=False)
    if not len(Z):
        raise ValueError("Z has no rows: a dendrogram of at least two leaves is needed")
    names = None if labels is None else _as_labels(labels, len(Z) + 1)
    children = _in_order(Z, count_sort, distance_sort)
    tree = layout(children, _drawn_rows(children, _as_p(p), truncate_mode))
    links = _Links(Z, tree)
    threshold = _as_threshold(color_threshold, Z)
    colours = links.colours(threshold, above_threshold_color, link_color_func)
    tips = tree.tips
    drawn: DrawnDendrogram = {
        "icoord": links.icoord.tolist(),
        "dcoord": links.dcoord.tolist(),
        "ivl": _tip_labels(Z, tips, names, leaf_label_func, show_leaf_counts),
        "leaves": tips.tolist() if get_leaves else None,
        "color_list": colours,
        "leaves_color_list": links.colours_of_tips(colours),
    }
    if not no_plot:
        marks = _contracted(Z, tips) if show_contracted else None
        ax = _current_axes() if ax is None else ax
        highest = float(Z[:, 2].max())
        picture = _Picture(ax, orientation, len(tips), highest + 0.05 * highest)
        picture.draw_links(links, colours, above_threshold_color)
        picture.label(None if no_labels else drawn["ivl"], leaf_font_size, leaf_rotation)
        if marks is not None:
            picture.draw_marks(*marks)
    return drawn


def _as_labels(labels: Any, n_leaves: int) -> Any:
    """The labels, in something that positions from 0 on select from."""
    if len(labels) != n_leaves:
        raise ValueError(f"Dimensions of Z and labels must be consistent: {len(labels)} labels for {n_leaves} leaves")
    return list(labels)


def _as_p(p: Any) -> int:
    if isinstance(p, bool | int | float | np.integer | np.floating):
        return int(p)
    raise TypeError(f"p={p!r}: must be a number")


def _as_threshold(color_threshold: Any, Z: Floats) -> float:
    if color_threshold is None or (isinstance(color_threshold, str) and color_threshold == "default"):
        return float(Z[:, 2].max() * 0.7)
    return float(color_threshold)


def _in_order(Z: Floats, count_sort: Any, distance_sort: Any) -> Nodes:
    """The children of each row from left to right."""
    children = Z[:, :2].astype(np.int64)
    for column, sort, of_leaves in ((3, count_sort, 1.0), (2, distance_sort, 0.0)):
        if sort is True or (isinstance(sort, str) and sort in ("ascending", "descending")):
            values = np.concatenate([np.full(len(Z) + 1, of_leaves), Z[:, column]])[children]
            swapped = values[:, 0] > values[:, 1]
            if sort == "descending":
                swapped = ~swapped
            return np.where(swapped[:, None], children[:, ::-1], children)
    return children


def _drawn_rows(children: Nodes, p: int, truncate_mode: Any) -> Nodes:
    """The rows whose merges are drawn."""
    n = len(children) + 1
    if truncate_mode not in ("lastp", "mtica", "level", "none", None):
        raise ValueError(f"truncate_mode={truncate_mode!r}: must be None, 'lastp' or 'level'")
    if truncate_mode == "lastp":
        first = n - p if 0 < p <= n else (0 if p == 0 or p > n else n - 1)
        return np.arange(first, n - 1)
    if truncate_mode in ("level", "mtica") and p > 0:
        return _rows_of_levels(children, p)
    return np.arange(n - 1)


def _rows_of_levels(children: Nodes, p: int) -> Nodes:
    n = len(children) + 1
    level = [-1] * (2 * n - 1)
    level[2 * n - 2] = 0
    left, right = children.T.tolist()
    drawn = []
    for row in range(n - 2, -1, -1):
        # scipy never truncates the first merge, node n.
        if 0 <= level[n + row] <= p or (row == 0 and level[n] >= 0):
            drawn.append(row)
            level[left[row]] = level[right[row]] = level[n + row] + 1
    return np.array(drawn[::-1], dtype=np.int64)


def _tip_labels(
    Z: Floats, tips: Nodes, labels: Any, function: Callable[[int], str] | None, show_leaf_counts: bool
) -> list[Any]:
    n = len(Z) + 1
    if function:
        return [function(tip) for tip in tips.tolist()]
    counts = Z[:, 3].astype(np.int64)
    leaf: Callable[[int], Any] = str if labels is None else labels.__getitem__
    return [leaf(tip) if tip < n else f"({counts[tip - n]})" if show_leaf_counts else "" for tip in tips.tolist()]


def _palette() -> tuple[str, ...] | list[str]:
    """The colours of branches: those that scipy's set_link_color_palette was given, or C1 to C9."""
    palette = getattr(sys.modules.get("scipy.cluster.hierarchy"), "_link_line_colors", None)
    return palette or _PALETTE


class _Links:
    """The merges in scipy's order: a merge comes after those of its left child, and then those of its right child."""

    def __init__(self, Z: Floats, tree: Layout) -> None:
        n, t = len(Z) + 1, tree.n_tips
        self.n_tips = t
        first, count = tree.first[t:], tree.count[t:]
        self.order = np.lexsort((count, first + count))
        self.nodes = tree.nodes[t:][self.order]
        self.height = Z[self.nodes - n, 2]
        left, right = tree.children[self.order].T
        x = tree.positions(_STEP / 2 + _STEP * np.arange(t, dtype=np.float64))
        y = np.zeros(len(tree.nodes))
        y[t:] = Z[tree.nodes[t:] - n, 2]
        self.icoord = x[np.column_stack([left, left, right, right])]
        self.dcoord = np.column_stack([y[left], self.height, self.height, y[right]])
        self.between = tree.first[right]  # from left to right, no two merges lie between the same two tips

    def colours(self, threshold: float, above: str, function: Callable[[int], str] | None) -> list[str]:
        if function is not None:
            return [_checked_colour(function(node)) for node in self.nodes.tolist()]
        # From left to right, the next colour begins after each merge above the threshold that follows one below it.
        from_left = np.argsort(self.between)
        below = ~(self.height >= threshold)[from_left] & (threshold > 0)
        turns = np.cumsum(np.concatenate([[False], below[:-1] & ~below[1:]])[: len(below)])
        palette = _palette()
        turn = np.empty(len(below), dtype=np.int64)
        turn[from_left] = np.where(below, turns % len(palette), -1)
        names = [*palette, above]  # the last is number -1
        return [names[number] for number in turn.tolist()]

    def colours_of_tips(self, colours: list[str]) -> list[str | None]:
        """The colour of the merge above each tip, as scipy finds it: by the corners at height 0.

        A merge at height 0 is taken for the tip below it, and the merge above it gives that tip another colour.
        """
        link, corner = np.nonzero((self.dcoord == 0) & (self.icoord % _STEP == _STEP / 2))
        result: list[str | None] = [None] * self.n_tips
        for tip, number in zip((self.icoord[link, corner] // _STEP).astype(int).tolist(), link.tolist(), strict=True):
            result[tip] = colours[number]
        return result


def _checked_colour(colour: Any) -> str:
    if not isinstance(colour, str):
        raise TypeError(f"link_color_func returned {colour!r}: it must return the name of a colour")
    return colour


def _contracted(Z: Floats, tips: Nodes) -> tuple[Floats, Floats]:
    """The place and the height of each merge inside a truncated branch, but for the uppermost."""
    n = len(Z) + 1
    place = np.full(2 * n - 1, -1, dtype=np.int64)
    place[tips] = np.arange(len(tips))
    of_node = place.tolist()
    for row, (left, right) in reversed([*enumerate(Z[:, :2].astype(np.int64).tolist())]):
        if of_node[n + row] >= 0:
            of_node[left] = of_node[right] = of_node[n + row]
    inside = np.array(of_node)
    inside[tips] = -1
    rows = np.flatnonzero(inside[n:] >= 0)
    return _STEP / 2 + _STEP * inside[n + rows], Z[rows, 2]


def _current_axes() -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(f"{NO_MATPLOTLIB}; no_plot=True returns the dictionary without it") from None
    return pyplot.gca()


class _Picture:
    """The axes, and where along them the tips and the heights go."""

    def __init__(self, ax: Axes, orientation: str, n_tips: int, top: float) -> None:
        self.ax, self.orientation, self.n_tips, self.top = ax, orientation, n_tips, top
        self.upright = orientation in ("top", "bottom")
        set_tips, set_heights = (ax.set_xlim, ax.set_ylim) if self.upright else (ax.set_ylim, ax.set_xlim)
        set_heights(*((0, top) if orientation in ("top", "right") else (top, 0)))
        set_tips(0, _STEP * n_tips)

    def draw_links(self, links: _Links, colours: list[str], above: str) -> None:
        """One collection for each colour, as in scipy: a legend has an entry for each; `above` is drawn last."""
        from matplotlib.collections import LineCollection

        corners: Any = points_of(links.icoord, links.dcoord, upright=self.upright)
        places: dict[str, list[int]] = {}
        for place, colour in enumerate(colours):
            places.setdefault(colour, []).append(place)
        for colour in sorted(places, key=lambda colour: colour == above):
            self.ax.add_collection(LineCollection(corners[places[colour]], colors=(colour,)), autolim=False)

    def label(self, labels: list[Any] | None, size: float | None, rotation: float | None) -> None:
        axis: Any = self.ax.xaxis if self.upright else self.ax.yaxis
        if labels is None or self.n_tips > _MOST_LABELS:
            axis.set_ticks([], labels=[])
            return
        axis.set_ticks_position(OPPOSITE[self.orientation])
        axis.set_ticks(_STEP / 2 + _STEP * np.arange(self.n_tips))
        size = _by_number(self.n_tips, ((20, 12), (30, 10), (50, 8), (85, 6)), 5) if size is None else size
        if rotation is None:
            rotation = _by_number(self.n_tips, ((20, 0), (40, 45)), 90) if self.upright else 0
        axis.set_ticklabels(labels, fontsize=size, rotation=rotation)
        axis.set_tick_params(length=0)  # ticks would cover the links

    def draw_marks(self, places: NDArray[Any], heights: NDArray[Any]) -> None:
        from matplotlib.collections import EllipseCollection

        width, height = (1.0, self.top / 100) if self.upright else (self.top / 100, 1.0)
        count = len(places)
        marks = EllipseCollection(
            np.full(count, width),
            np.full(count, height),
            np.zeros(count),
            units="xy",
            offsets=points_of(places, heights, upright=self.upright),
            offset_transform=self.ax.transData,
            facecolors="k",
            alpha=0.5,
        )
        self.ax.add_collection(marks, autolim=False)


def _by_number(count: int, steps: tuple[tuple[int, float], ...], otherwise: float) -> float:
    return next((value for most, value in steps if count <= most), otherwise)
