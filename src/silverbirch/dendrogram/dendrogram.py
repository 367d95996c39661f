"""Reading a dendrogram: cutting, naming, drawing and exporting it.

The class checks arguments and delegates: measured has what is measured, nodes the parts of the tree, cuts the adaptive
cuts, suggestion the number of clusters, exports and plot what other tools and people see.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats, as_choice, as_count, as_flag
from ..names import HeightScale, Method, Mode, Orientation
from ..remote import place
from ..saved import Saved
from ..wording import parameter
from . import cuts
from .measured import MeasuredTree
from .nodes import NodePath, as_names, as_node

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes

    from .suggestion import Suggestion


class Dendrogram(MeasuredTree, Saved):
    """The dendrogram Z of m leaves, optionally with the cluster features of the leaves.

    Nodes are numbered as in scipy: 0 … m-1 are the leaves, and m + i is row i of Z.

    Parameters
    ----------
    Z : array (m - 1, 4)
        A linkage matrix from `silverbirch.linkage` or scipy.
    features : ClusterFeatures or array (m, d), default None
        The features or points that were clustered, in the same order. `sse`, `rmsd` and `merged_features` need them.
    names : list of str or dict {int: str}, default None
        A name for each leaf, or the name of any node by its number.

    Attributes
    ----------
    Z : float64 array (m - 1, 4)
        A copy of the linkage matrix.
    features : ClusterFeatures or None
        The features of the leaves.
    prototypes : int64 array (m - 1,) or None
        The leaf that represents the cluster of each row of Z; for minimax and medoid linkage.
    names : dict {int: str}
        The names of nodes. Drawings, Newick, networkx and files carry them.
    leaves : int64 array (m,)
        The number of each leaf in the dendrogram that `subtree` was called on; 0 … m-1 for a whole dendrogram.

    Raises
    ------
    ValueError
        Z is not a linkage matrix, or the number of features or names is not the number of leaves.
    IndexError
        A name belongs to no node.

    Examples
    --------
    >>> import silverbirch as sb
    >>> X = [[0.0], [1.0], [5.0], [7.0], [8.0]]
    >>> dendrogram = sb.Dendrogram(sb.linkage(X, "ward"), X)
    >>> dendrogram.cut(n_clusters=2).tolist()
    [1, 1, 0, 0, 0]
    >>> dendrogram.sse([1, 2, 5]).round(2).tolist()
    [50.8, 5.17, 0.0]
    """

    def __init__(self, Z: Any, features: Any = None, *, names: Any = None) -> None:
        super().__init__(Z, features)
        self.names: dict[int, str] = as_names(names, self.n_leaves)
        self.leaves: NDArray[np.int64] = np.arange(self.n_leaves)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores a pickle; those of version 0.2 and before have no names."""
        self.__dict__ = {"names": {}, "leaves": np.arange(len(state["Z"]) + 1)} | state

    def __repr__(self) -> str:
        return f"Dendrogram({self.n_leaves} leaves, height {self.Z[:, 2].max(initial=0.0):.4g})"

    def _repr_html_(self) -> str:
        from ..report.notebook import dendrogram_html

        return dendrogram_html(self)

    # -- cutting

    def cut(
        self,
        n_clusters: Any = None,
        height: Any = None,
        *,
        method: cuts.CutMethod = "level",
        min_size: float | None = None,
        max_size: float | None = None,
        noise: bool = False,
    ) -> NDArray[np.int64]:
        """Returns a label for each leaf: the dendrogram cut at one level, or adaptively.

        Clusters are numbered by weight: the heaviest is 0, and of equal weights the one with the lowest leaf comes
        first. Without features every leaf has weight 1.

        Parameters
        ----------
        n_clusters : int or list of int, default None
            Undo the last merges until there are exactly this many clusters. With `min_size`, undo them until exactly
            this many clusters weigh `min_size` or more.
        height : float or list of float, default None
            Keep the merges up to this height, as scipy's `fcluster(Z, height, "distance")` does.
        method : {"level", "eom", "dynamic"}, default "level"
            "level" cuts all branches at the level that `n_clusters` or `height` gives. The others let branches end at
            different heights, and find the number of clusters. "eom" is the excess of mass of HDBSCAN*: the clusters
            that last longest, in density 1 / height times weight. "dynamic" is the dynamic tree cut, the first stage of
            its hybrid variant with the tree alone: branches that stand out from the height of their merge.
        min_size : float, default None
            The least weight (number of rows) of a cluster. "eom" and "dynamic" need it.
        max_size : float, default None
            "level" splits clusters that are heavier; it may be given alone, and it is at least twice min_size. A single
            leaf is never split. "eom" selects no cluster that is heavier.
        noise : bool, default False
            Whether leaves in no cluster of `min_size` get the label -1. By default they join the heaviest cluster of
            the smallest branch that contains the leaf and a cluster; if there is no cluster, all leaves are one.

        Returns
        -------
        int64 array (m,), or (m, k) for a list of k numbers
            The labels; column i belongs to number i of the list.

        Raises
        ------
        ValueError
            The arguments do not go together, or there are fewer leaves or fewer clusters of min_size than n_clusters.

        Notes
        -----
        Before leaves join them, clusters are whole branches: `nodes` gives their nodes. Leaves that join may lift a
        cluster above `max_size`.

        A cut takes time linear in the number of leaves m; "dynamic" takes O(m log m) in usual trees, and at worst
        O(m² / min_size). Where a height is 0, "eom" takes the least positive height. The points of an aggregated leaf
        count as merged at height √(2 sse / weight).

        References
        ----------
        "eom": Campello, Moulavi and Sander (2013), PAKDD. "dynamic": Langfelder, Zhang and Horvath (2008),
        Bioinformatics 24(5), with the constants of its deepSplit = 1. There the scatter of a core is the mean distance
        of its pairs; here it is the mean height of the first merges of its points.

        Examples
        --------
        >>> import silverbirch as sb
        >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [40.0]]
        >>> dendrogram = sb.Dendrogram(sb.linkage(X, "single"), X)
        >>> dendrogram.cut(n_clusters=2).tolist()
        [0, 0, 0, 0, 0, 0, 1]
        >>> dendrogram.cut(n_clusters=2, min_size=2, noise=True).tolist()
        [0, 0, 0, 1, 1, 1, -1]
        >>> dendrogram.cut(method="eom", min_size=3).tolist()
        [0, 0, 0, 1, 1, 1, 0]
        """
        method = cast(cuts.CutMethod, as_choice(method, "cut.method", cuts.CUT_METHODS))
        noise = as_flag(noise, "noise")
        least, most = cuts.as_size(min_size, "min_size"), cuts.as_size(max_size, "max_size")
        cuts.check_sizes(method, least, most)
        if method != "level":
            if n_clusters is not None or height is not None:
                raise ValueError(
                    f"{parameter('cut.method', method)} finds the number of clusters: leave "
                    f"{parameter('n_clusters')} and {parameter('height')} out"
                )
            assert least is not None
            nodes = cuts.eom_nodes(self, least, most) if method == "eom" else cuts.dynamic_nodes(self, least)
            return self._numbered(cuts.labels_of_nodes(self, nodes, noise=noise))
        if n_clusters is None and height is None and most is not None:
            n_clusters = 1
        if (n_clusters is None) == (height is None):
            raise ValueError(
                f"cut takes either {parameter('n_clusters')} or {parameter('height')}: give exactly one of them"
            )
        level_of_row, levels = self._levels(n_clusters, height, least)
        if least is None and most is None:
            labels = _core.cut(self.Z, level_of_row, levels)
        else:
            selected = [cuts.level_nodes(self, level_of_row <= level, least, most) for level in levels]
            labels = np.empty((self.n_leaves, len(levels)), dtype=np.int64)
            for i, nodes in enumerate(selected):
                labels[:, i] = cuts.labels_of_nodes(self, nodes, noise=noise)
        for column in labels.T:
            column[:] = self._numbered(column)
        return labels[:, 0] if np.ndim(n_clusters if height is None else height) == 0 else labels

    def _levels(self, n_clusters: Any, height: Any, min_size: float | None) -> tuple[Floats, Floats]:
        """A level for each row of Z, and the levels up to which its rows are kept."""
        if height is None:
            counts = [self._checked_count(count) for count in _as_list(n_clusters, "n_clusters")]
            if min_size is None:
                kept = [self.n_leaves - count for count in counts]
            else:
                kept = [cuts.level_of_heavy(self, count, min_size) for count in counts]
            return np.arange(len(self.Z), dtype=np.float64), np.array(kept, dtype=np.float64) - 1
        levels = np.array([float(h) for h in _as_list(height, "height")])
        if np.isnan(levels).any():
            raise ValueError(f"{parameter('height', np.nan)}: must be a number")
        return self._subtree_heights, levels

    def _numbered(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Renumbers the clusters by weight; noise stays -1."""
        weight = np.ones(self.n_leaves) if self.features is None else self.features.weight
        inside = labels >= 0
        if inside.all():
            return numbered_by_weight(labels, weight)
        result = np.full(len(labels), -1, dtype=np.int64)
        if inside.any():
            result[inside] = numbered_by_weight(labels[inside], weight[inside])
        return result

    def suggest(
        self,
        k_max: int = 50,
        *,
        method: Method = "ward",
        mode: Mode = "linkage",
        n_draws: int = 10,
        random_state: int = 0,
    ) -> Suggestion:
        """Returns the number of clusters that most criteria agree on, or None with the reason; needs the features.

        Six criteria vote: the largest relative gap of the heights, the weighted indices of Calinski-Harabasz and of
        Davies-Bouldin, the simplified silhouette, the gap statistic, and the stability under resampling. A number is
        clear if four of them vote for it, its gap statistic clearly exceeds that of one cluster, and its clusters are
        found again in resampled features.

        Parameters
        ----------
        k_max : int, default 50
            The largest number of clusters to consider. It is lowered to half the number of leaves.
        method : str, default "ward"
            The linkage that made Z; resampled and reference features are clustered by it.
        mode : {"linkage", "centers", "aggregation"}, default "linkage"
            How that linkage treats features.
        n_draws : int, default 10
            The number of resampled sets of features, and of uniform reference sets.
        random_state : int, default 0
            The seed of these draws.

        Returns
        -------
        Suggestion
            `n_clusters` (int or None), `reason`, `votes`, and the scores of each k, as a table and as a plot.

        Raises
        ------
        ValueError
            The features are not known, or an argument is out of range.

        Notes
        -----
        It makes 3 · n_draws dendrograms of at most 1000 features each: where there are more leaves, the last merges are
        undone down to 1000 branches. docs/how-many.md explains the criteria and the rule.

        Examples
        --------
        >>> import numpy as np, silverbirch as sb
        >>> X = np.random.default_rng(0).normal(size=(150, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 50, axis=0)
        >>> sb.Dendrogram(sb.linkage(X, "ward"), X).suggest().n_clusters
        3
        """
        from .suggestion import suggested

        return suggested(
            self,
            as_count(k_max, "k_max", least=2),
            method,
            mode,
            as_count(n_draws, "n_draws", least=2),
            as_count(random_state, "random_state", least=0),
        )

    # -- nodes

    def nodes(self, labels: Any = None, *, n_clusters: int | None = None) -> NDArray[np.int64]:
        """Returns the node of each cluster: the node whose leaves are exactly those of the cluster.

        Parameters
        ----------
        labels : int array (m,), default None
            A label for each leaf, as `cut` returns them; leaves of negative labels are in no cluster.
        n_clusters : int, default None
            Take the cut into this many clusters instead of labels.

        Returns
        -------
        int64 array (k,)
            The nodes of clusters 0 … k-1.

        Raises
        ------
        ValueError
            Neither or both are given, a cluster is not a whole branch, or a number below the largest is missing.
        """
        if (labels is None) == (n_clusters is None):
            raise ValueError("give either labels or n_clusters: exactly one says what the clusters are")
        return self._hierarchy.nodes_of(self.cut(n_clusters) if labels is None else labels)

    def name_clusters(self, names: Any, n_clusters: int | None = None, *, labels: Any = None) -> None:
        """Sets the names of clusters, in `names`, at the nodes that stand for them.

        The node of a cluster of one leaf is that leaf, whose name is replaced.

        Parameters
        ----------
        names : list of str or dict {int: str}
            A name for each cluster, or the names of some clusters by their number.
        n_clusters : int, default None
            The names belong to the cut into this many clusters.
        labels : int array (m,), default None
            The names belong to the clusters of these labels of the leaves.

        Raises
        ------
        ValueError
            There are more or fewer names than clusters, or a cluster is not a whole branch.
        IndexError
            A name belongs to no cluster.
        """
        nodes = self.nodes(labels, n_clusters=n_clusters)
        if not isinstance(names, Mapping):
            if isinstance(names, str) or len(names) != len(nodes):
                raise ValueError(f"{len(names)} names but {len(nodes)} clusters: one name for each cluster is needed")
            names = dict(enumerate(names))
        named = {as_node(number, "names: cluster", len(nodes), "clusters"): name for number, name in names.items()}
        self.names |= {int(nodes[number]): str(name) for number, name in named.items()}

    def subtree(
        self,
        node: int | None = None,
        *,
        cluster: int | None = None,
        labels: Any = None,
        n_clusters: int | None = None,
    ) -> Dendrogram:
        """Returns the dendrogram below a node or a cluster, with the features, names and prototypes of its leaves.

        Its leaves are renumbered in the same order; `leaves` has their numbers in this one. It takes linear time.

        Parameters
        ----------
        node : int, default None
            The number of a node: a leaf, or m + i for row i of Z.
        cluster : int, default None
            The number of a cluster, instead of a node.
        labels : int array (m,), default None
            The labels of the leaves that `cluster` refers to.
        n_clusters : int, default None
            The cut that `cluster` refers to, instead of labels.

        Returns
        -------
        Dendrogram
            A dendrogram of its own.

        Raises
        ------
        ValueError
            Neither or both of node and cluster are given, or the cluster is not a whole branch.
        IndexError
            There is no such node or cluster.

        Examples
        --------
        >>> import silverbirch as sb
        >>> X = [[0.0], [1.0], [5.0], [7.0], [8.0]]
        >>> dendrogram = sb.Dendrogram(sb.linkage(X, "ward"), X, names=list("abcde"))
        >>> part = dendrogram.subtree(cluster=0, n_clusters=2)
        >>> part.leaves.tolist(), part.names
        ([2, 3, 4], {0: 'c', 1: 'd', 2: 'e'})
        """
        if (node is None) == (cluster is None):
            raise ValueError("subtree takes either node or cluster: give exactly one of them")
        if cluster is not None:
            nodes = self.nodes(labels, n_clusters=n_clusters)
            node = int(nodes[as_node(cluster, "cluster", len(nodes), "clusters")])
        leaves, rows, Z = self._hierarchy.below(self.Z, as_node(node, "node", 2 * self.n_leaves - 1))
        names = {}
        if self.names:
            number = {old: new for new, old in enumerate([*leaves.tolist(), *(self.n_leaves + rows).tolist()])}
            names = {number[old]: name for old, name in self.names.items() if old in number}
        part = Dendrogram(Z, None if self.features is None else self.features[leaves], names=names)
        if self.prototypes is not None:
            part.prototypes = np.searchsorted(leaves, self.prototypes[rows])
        part.leaves = leaves
        return part

    def ordered(self, order: Any) -> Dendrogram:
        """Returns the same dendrogram with children exchanged so that its leaves stand in an order from left to right.

        Nodes, leaves, names, features and prototypes keep their numbers.

        Parameters
        ----------
        order : int array (m,)
            The leaves from left to right, those of each branch next to each other, as `leaf_order` returns them.

        Returns
        -------
        Dendrogram
            A dendrogram of its own.

        Raises
        ------
        ValueError
            A leaf is missing, or the order takes the leaves of a branch apart.

        Examples
        --------
        >>> import silverbirch as sb
        >>> X = [[0.0], [5.0], [1.0], [7.0]]
        >>> dendrogram = sb.Dendrogram(sb.linkage(X, "average"), X)
        >>> dendrogram.ordered([3, 1, 2, 0]).Z[:, :2].tolist()
        [[2.0, 0.0], [3.0, 1.0], [5.0, 4.0]]
        """
        leaves = np.asarray(order)
        if leaves.shape != (self.n_leaves,) or leaves.dtype.kind not in "iu":
            raise ValueError(
                f"order is {leaves.dtype} of shape {leaves.shape}: the number of each of the {self.n_leaves} leaves is "
                "needed, as leaf_order returns them"
            )
        Z = _core.reordered(self.Z, np.ascontiguousarray(leaves, dtype=np.int64))
        result = Dendrogram(Z, self.features, names=dict(self.names))
        result.prototypes, result.leaves = self.prototypes, self.leaves
        return result

    def path(self, leaf: int) -> NodePath:
        """Returns the nodes from a leaf to the root, with their heights and weights.

        Parameters
        ----------
        leaf : int
            The number of a leaf, or of any other node.

        Returns
        -------
        NodePath
            The arrays `nodes`, `heights` and `weights`, from the leaf upwards.

        Raises
        ------
        IndexError
            There is no such node.

        Examples
        --------
        >>> import silverbirch as sb
        >>> path = sb.Dendrogram(sb.linkage([[0.0], [1.0], [5.0]], "single")).path(0)
        >>> path.nodes.tolist(), path.heights.tolist(), path.weights.tolist()
        ([0, 3, 4], [0.0, 1.0, 4.0], [1.0, 2.0, 3.0])
        """
        nodes = [as_node(leaf, "leaf", 2 * self.n_leaves - 1)]
        while nodes[-1] != self._hierarchy.root:
            nodes.append(int(self._hierarchy.parents[nodes[-1]]))
        path = np.array(nodes)
        return NodePath(path, np.concatenate([np.zeros(self.n_leaves), self.Z[:, 2]])[path], self.weights[path])

    # -- exporting and drawing

    def to_newick(self, names: Any = None) -> str:
        """Returns the dendrogram in Newick format; the length of a branch is the difference of the heights.

        Parameters
        ----------
        names : list of str or dict {int: str}, default None
            A name for each leaf, or for any node by its number; None takes `names`. A leaf without a name has its
            number.

        Returns
        -------
        str
            One line that ends in ";".
        """
        from .exports import newick

        return newick(self, self.names if names is None else as_names(names, self.n_leaves))

    def to_networkx(self) -> networkx.DiGraph:
        """Returns a networkx.DiGraph with edges from the root to the leaves.

        Returns
        -------
        networkx.DiGraph
            Each node has the attributes `height` and `weight`, and a named node `name`.

        Raises
        ------
        ImportError
            networkx is not installed.
        """
        from .exports import networkx_graph

        return networkx_graph(self)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_leaves: int = 40,
        n_clusters: int | None = None,
        labels: Any = None,
        clusters: Any = None,
        orientation: Orientation = "top",
        scale: HeightScale = "linear",
        cut_line: bool = True,
        **style: Any,
    ) -> Axes:
        """Draws the top of the dendrogram with matplotlib, down to `max_leaves` branches.

        Each branch is labelled with the number of points below it. Nodes with a name in `names` show it. Branches are
        in scipy's order, and a wedge stands for a branch whose inside is not drawn.

        Parameters
        ----------
        ax : matplotlib Axes, default None
            Where to draw; None makes a new figure.
        max_leaves : int, default 40
            The number of branches to draw.
        n_clusters : int, default None
            Colour the branches by the cut into this many clusters, and draw a line at the cut; None uses one colour.
        labels : list of str, default None
            A name for each leaf, written below the branches that end in a single leaf; None takes `names`.
        clusters : int array (m,), default None
            Colour the clusters of these labels instead: what `cut` returns for any of its methods, with noise=True if
            it has a min_size. Each cluster must be a whole branch. Leaves of negative labels stay grey, and
            so do branches of several clusters: raise `max_leaves` to see these.
        orientation : {"top", "bottom", "left", "right"}, default "top"
            The side of the root, as in scipy.
        scale : {"linear", "sqrt", "log"}, default "linear"
            The scale of the heights. Where a few merges fill the height, "sqrt" and "log" show the others. On the log
            scale, leaves and merges at height 0 are drawn just below the lowest merge.
        cut_line : bool, default True
            Whether to draw a line at the cut into n_clusters. Where no height cuts into these clusters, because of
            inversions or equal heights, there is no line.
        **style : optional
            Passed to matplotlib's LineCollection.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        ValueError
            An argument is out of range, or a cluster is not a whole branch.

        Notes
        -----
        Colours belong to branches, so they stay when the cut changes: where a cluster is split, the heavier part keeps
        the colour, and the lighter gets another one that its neighbours do not have.

        Names are cut after 40 characters. Labels that are too small to be read are left out: a larger figure has them.
        """
        from ..plot import draw_dendrogram

        if n_clusters is not None and clusters is not None:
            raise ValueError(f"plot takes either {parameter('n_clusters')} or clusters: give at most one of them")
        count = 1 if n_clusters is None else self._checked_count(n_clusters)
        if labels is not None and len(labels) != self.n_leaves:
            raise ValueError(f"{len(labels)} labels but {self.n_leaves} leaves: one label for each leaf is needed")
        names = self.names if labels is None else self.names | {leaf: str(name) for leaf, name in enumerate(labels)}
        return draw_dendrogram(
            self,
            ax,
            as_count(max_leaves, "max_leaves", least=2),
            count,
            names,
            style,
            clusters=None if clusters is None else self.nodes(clusters),
            orientation=as_choice(orientation, "orientation", get_args(Orientation)),
            scale=as_choice(scale, "scale", get_args(HeightScale)),
            cut_line=as_flag(cut_line, "cut_line"),
        )

    def colors(self, n_clusters: int | None = None, *, labels: Any = None, dark: bool = False) -> list[str]:
        """Returns the colour of each cluster as `plot` draws it, for other pictures of the same clusters.

        Parameters
        ----------
        n_clusters : int, default None
            The cut into this many clusters.
        labels : int array (m,), default None
            A label for each leaf instead, as `cut` returns them.
        dark : bool, default False
            Whether the colours are for a dark background.

        Returns
        -------
        list of str
            The colour of cluster 0, 1, … as "#rrggbb".

        Raises
        ------
        ValueError
            Neither or both are given, or a cluster is not a whole branch.

        Examples
        --------
        >>> import silverbirch as sb
        >>> X = [[0.0], [1.0], [5.0], [7.0], [8.0]]
        >>> dendrogram = sb.Dendrogram(sb.linkage(X, "ward"), X)
        >>> dendrogram.colors(2)
        ['#2f6f8f', '#c8553d']
        >>> dendrogram.colors(3)  # the pair 0, 1 is cluster 0 now; the pair 3, 4 keeps the colour of 2, 3, 4
        ['#c8553d', '#2f6f8f', '#588157']
        """
        from ..plot.branches import colours_of_clusters

        return colours_of_clusters(self, self.nodes(labels, n_clusters=n_clusters), dark=as_flag(dark, "dark"))

    def plot_rmsd(self, ax: Axes | None = None, *, k_max: int = 2000, mark: int | None = None) -> Axes:
        """Draws the rmsd of the cut into each number of clusters; needs the features.

        Where the curve bends, more clusters gain less.

        Parameters
        ----------
        ax : matplotlib Axes, default None
            Where to draw; None makes a new figure.
        k_max : int, default 2000
            The largest number of clusters to draw.
        mark : int, default None
            A number of clusters to mark, with its rmsd.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing; k is on a log scale.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        ValueError
            The features are not known, or `mark` exceeds the number of leaves.
        """
        from ..plot import draw_rmsd

        mark = None if mark is None else self._checked_count(mark, "mark")
        return draw_rmsd(self, ax, k_max=as_count(k_max, "k_max"), mark=mark)

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "silverbirch dendrogram",
        column_names: Sequence[str] | None = None,
        show: Any = None,
        coordinates: Any = None,
        suggest: Suggestion | None = None,
    ) -> None:
        """Writes one HTML file with the whole dendrogram, to zoom into and to cut.

        If the features are known, the page has the rmsd of every cut, the means of the uppermost branches and a
        scatter. It needs no network; without scripts it shows the uppermost branches.

        Parameters
        ----------
        path : str or path
            The file to write.
        title : str, default "silverbirch dendrogram"
            The heading of the page.
        column_names : list of str, default None
            A name for each column of the features.
        show : list, array or dict, default None
            A text or an image for each leaf, to show what a branch is about; or a dict of several such lists. See
            `write_report`.
        coordinates : array (m, 2), default None
            The place of each leaf in the scatter; None takes the first two principal axes.
        suggest : Suggestion, default None
            The result of `suggest`, whose numbers of clusters are marked in the curve.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        ValueError
            There are not as many values to show, coordinates or column names as needed.
        TypeError
            `suggest` is not a suggestion.

        Examples
        --------
        >>> import numpy as np, silverbirch as sb
        >>> X = np.random.default_rng(0).normal(size=(1000, 3))
        >>> dendrogram = sb.Dendrogram(sb.linkage(X, "ward"), X)
        >>> dendrogram.to_html("dendrogram.html", suggest=dendrogram.suggest(method="ward"))
        """
        from ..report import dendrogram_page

        page = dendrogram_page(
            self, title, column_names=column_names, show=show, coordinates=coordinates, suggest=suggest
        )
        place(path).write_text(page, encoding="utf-8")


def numbered_by_weight(labels: NDArray[np.int64], weight: Floats) -> NDArray[np.int64]:
    """Renumbers the clusters 0, 1, …: the heaviest becomes 0, and of equal weights the lowest leaf comes first."""
    mass = np.bincount(labels, weight)
    lowest_leaf, number = np.empty((2, len(mass)), dtype=np.int64)
    lowest_leaf[labels[::-1]] = np.arange(len(labels))[::-1]  # reversed: the write of the lowest leaf is the last
    number[np.lexsort((lowest_leaf, -mass))] = np.arange(len(mass))
    return number[labels]


def _as_list(values: Any, name: str) -> list[Any]:
    """A number becomes a list of one number."""
    if np.ndim(values) > 1:
        raise ValueError(f"{name} has shape {np.shape(values)}: must be a number or a list of numbers")
    return [values] if np.ndim(values) == 0 else list(values)
