"""Dendrogram: names, the nodes of clusters, subtrees and paths."""

import copy
import pickle
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

import silverbirch as sb
from dendrograms import CHAIN, LINKAGES, aggregated, chain, points, seeds, some
from newick import parsed_newick


def leaves_of(Z):
    """The leaves below each node, as sets."""
    below = [{leaf} for leaf in range(len(Z) + 1)]
    for left, right in Z[:, :2].astype(int):
        below.append(below[left] | below[right])
    return below


# -- the nodes of clusters


@pytest.mark.parametrize("method", LINKAGES)
@some
@given(seed=seeds, k=st.integers(1, 40))
def test_the_leaves_below_the_node_of_a_cluster_are_the_cluster(method, seed, k):
    Z = hierarchy.linkage(points(40, 2, seed), method)
    dendrogram = sb.Dendrogram(Z)
    labels = dendrogram.cut(n_clusters=k)
    nodes, below = dendrogram.nodes(labels), leaves_of(Z)
    assert [below[node] for node in nodes] == [{*np.flatnonzero(labels == i).tolist()} for i in range(k)]
    np.testing.assert_array_equal(dendrogram.nodes(n_clusters=k), nodes)


@some
@given(seed=seeds)
def test_labels_have_nodes_exactly_if_every_cluster_is_a_branch(seed):
    Z = hierarchy.linkage(points(8, 2, seed), "average")
    labels = np.random.default_rng(seed).integers(-1, 2, 8)
    clusters = [{*np.flatnonzero(labels == i).tolist()} for i in range(labels.max() + 1)]
    below = leaves_of(Z)
    if all(cluster in below for cluster in clusters):
        assert [below[node] for node in sb.Dendrogram(Z).nodes(labels)] == clusters
    else:
        with pytest.raises(ValueError, match=r"is not a whole branch|is missing"):
            sb.Dendrogram(Z).nodes(labels)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 0, 1, 0, 0], "cluster 0 is not a whole branch"),
        ([0, 1, 2, 4, 4], "label 3 is missing"),
        ([0, 1, 2, 3, 10**12], "label 1000000000000 of 5 leaves"),
        ([0, 0, 0], "one whole number for each of the 5 leaves"),
        ([0.0, 0.0, 0.0, 0.0, 0.0], "one whole number"),
        (None, "either labels or n_clusters"),
    ],
)
def test_labels_without_nodes_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        sb.Dendrogram(chain(5)).nodes(labels)


def test_noise_alone_has_no_nodes():
    assert sb.Dendrogram(chain(5)).nodes([-1] * 5).tolist() == []


# -- subtrees


@pytest.mark.parametrize("method", LINKAGES)
@some
@given(seed=seeds, node=st.integers(0, 58))
def test_the_heights_of_a_subtree_are_those_of_the_whole(method, seed, node):
    rows = points(30, 2, seed)
    Z = sb.linkage(rows, method)
    whole = sb.Dendrogram(Z, rows, names={i: f"node {i}" for i in range(59)})
    part = whole.subtree(node)
    below = leaves_of(Z)
    assert part.leaves.tolist() == sorted(below[node])
    among = squareform(whole.cophenetic())[np.ix_(part.leaves, part.leaves)]
    np.testing.assert_array_equal(part.cophenetic(), squareform(among, checks=False))
    np.testing.assert_array_equal(part.features.mean, rows[part.leaves])
    named = {
        name: {*part.leaves[list(leaves)]} for name, leaves in zip(part.names.values(), leaves_of(part.Z), strict=True)
    }
    assert named == {f"node {i}": branch for i, branch in enumerate(below) if branch <= below[node]}


def test_the_subtree_of_the_root_is_the_whole():
    features = aggregated()[2]
    whole = sb.Dendrogram(sb.linkage(features, "ward"), features)
    part = whole.subtree(2 * whole.n_leaves - 2)
    np.testing.assert_array_equal(part.Z, whole.Z)
    assert part.features == features
    np.testing.assert_array_equal(part.leaves, whole.leaves)


@pytest.mark.parametrize("method", ["minimax", "medoid"])
def test_prototypes_of_a_subtree_are_the_same_rows(method):
    rows = points(30)
    whole = sb.Dendrogram(sb.linkage(rows, method), rows)
    part = whole.subtree(cluster=0, n_clusters=3)
    row_of = {frozenset(b): i for i, b in enumerate(leaves_of(whole.Z)[30:])}
    for prototype, branch in zip(part.prototypes, leaves_of(part.Z)[part.n_leaves :], strict=True):
        assert part.leaves[prototype] == whole.prototypes[row_of[frozenset(part.leaves[list(branch)])]]


def test_a_cluster_names_its_subtree():
    dendrogram = sb.Dendrogram(sb.linkage(points(), "ward"), points())
    labels = dendrogram.cut(n_clusters=7)
    for part in (dendrogram.subtree(cluster=3, n_clusters=7), dendrogram.subtree(cluster=3, labels=labels)):
        assert part.leaves.tolist() == np.flatnonzero(labels == 3).tolist()
        assert part.sse(1) == pytest.approx(((points()[labels == 3] - points()[labels == 3].mean(axis=0)) ** 2).sum())


def test_a_leaf_is_a_subtree():
    part = sb.Dendrogram(chain(5), points(5), names=list("abcde")).subtree(3)
    assert (part.n_leaves, part.leaves.tolist(), part.names) == (1, [3], {0: "d"})


def test_deep_dendrograms_have_subtrees_and_paths():
    deep = sb.Dendrogram(chain(CHAIN))
    assert deep.subtree(2 * CHAIN - 3).n_leaves == CHAIN - 1
    assert len(deep.path(0).nodes) == CHAIN


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, ValueError),
        ({"node": 3, "cluster": 1}, ValueError),
        ({"cluster": 1}, ValueError),
        ({"cluster": 3, "n_clusters": 3}, IndexError),
        ({"node": 9}, IndexError),
        ({"node": -1}, IndexError),
        ({"node": 1.0}, TypeError),
    ],
)
def test_a_subtree_that_is_not_there_is_refused(arguments, error):
    with pytest.raises(error):
        sb.Dendrogram(chain(5)).subtree(**arguments)


# -- paths


@some
@given(seed=seeds, leaf=st.integers(0, 29))
def test_a_path_has_every_branch_that_contains_the_leaf(seed, leaf):
    features = aggregated(seed=seed)[2]
    Z = sb.linkage(features, "average")
    dendrogram = sb.Dendrogram(Z, features)
    path = dendrogram.path(leaf)
    below = leaves_of(Z)
    assert path.nodes.tolist() == [node for node in range(59) if leaf in below[node]]
    assert path.heights.tolist() == [0.0, *Z[path.nodes[1:] - 30, 2]]
    assert path.weights.tolist() == [sum(features.weight[i] for i in below[node]) for node in path.nodes]


def test_a_path_of_a_node_that_is_not_there_is_refused():
    with pytest.raises(IndexError, match="leaf=9 does not exist"):
        sb.Dendrogram(chain(5)).path(9)


# -- names

NAMES = {0: "a b", 1: "b", 2: "c", 3: "d", 4: "e", 6: "it's", 8: "root"}


def named():
    return sb.Dendrogram(chain(5), points(5), names=NAMES)


@pytest.mark.parametrize(
    ("names", "error"), [(["a"], ValueError), ("abcde", ValueError), ({9: "x"}, IndexError), ({"a": "x"}, TypeError)]
)
def test_names_of_other_nodes_are_refused(names, error):
    with pytest.raises(error):
        sb.Dendrogram(chain(5), names=names)


def test_a_list_names_the_leaves():
    assert sb.Dendrogram(chain(3), names=["a", 2, "c"]).names == {0: "a", 1: "2", 2: "c"}


def test_clusters_are_named_at_their_nodes():
    dendrogram = sb.Dendrogram(sb.linkage(points(), "ward"))
    dendrogram.name_clusters(["large", "middle", "small"], 3)
    assert [dendrogram.names[node] for node in dendrogram.nodes(n_clusters=3)] == ["large", "middle", "small"]
    dendrogram.name_clusters({1: "other"}, labels=dendrogram.cut(n_clusters=3))
    assert [*dendrogram.names.values()] == ["large", "other", "small"]
    with pytest.raises(ValueError, match="2 names but 3 clusters"):
        dendrogram.name_clusters(["a", "b"], 3)
    with pytest.raises(IndexError, match="cluster=3 does not exist"):
        dendrogram.name_clusters({3: "a"}, 3)


def test_any_mapping_has_names_by_number():
    by_number = MappingProxyType({1: "b", 0: "a"})
    dendrogram = sb.Dendrogram(sb.linkage([[0.0], [3.0]]), names=by_number)
    assert dendrogram.names == {0: "a", 1: "b"}
    dendrogram.name_clusters(MappingProxyType({1: "d", 0: "c"}), 2)
    assert dendrogram.names == {0: "c", 1: "d"}


def test_newick_has_the_names_of_leaves_and_of_inner_nodes():
    text = named().to_newick()
    assert text == "(e:4,(d:3,(c:2,(b:1,'a b':1):1)'it''s':1):1)root;"
    assert parsed_newick(sb.Dendrogram(chain(2), names=["a", "b"]).to_newick())["children"][1]["name"] == "a"
    assert sb.Dendrogram(chain(2), names=["a", "b"]).to_newick(["x", "y"]) == "(y:1,x:1);"
    assert sb.Dendrogram(chain(2)).to_newick({2: "r"}) == "(1:1,0:1)r;"


def test_networkx_has_the_names():
    graph = named().to_networkx()
    assert {node: data["name"] for node, data in graph.nodes(data=True) if "name" in data} == NAMES


def test_names_are_drawn_at_tips_and_above_merges():
    ax = named().plot(max_leaves=3)
    tips = [label.get_text() for label in ax.get_xticklabels()]
    assert tips == ["e", "d", "it's (3)"]
    assert [text.get_text() for text in ax.texts] == ["root"]
    assert [label.get_text() for label in named().plot(labels=list("vwxyz")).get_xticklabels()] == list("zyxwv")


def test_names_are_in_the_page(tmp_path):
    sb.Dendrogram(chain(5), names={0: "first", 8: "<top>"}).to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "first" in page
    assert "&lt;top&gt;" in page


@pytest.mark.parametrize("again", [copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_copies_and_pickles_keep_names_and_leaves(again):
    part = named().subtree(6)
    assert (again(part).names, again(part).leaves.tolist()) == (part.names, part.leaves.tolist())


def test_pickles_without_names_are_loaded():
    state = {"Z": chain(5), "prototypes": None, "features": None}
    dendrogram = sb.Dendrogram.__new__(sb.Dendrogram)
    dendrogram.__setstate__(state)
    assert dendrogram.names == {}
    assert dendrogram.leaves.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("names", [NAMES, {0: ""}, {}, {3: "Ω\n"}])
def test_files_keep_names_and_leaves(tmp_path, names):
    whole = sb.Dendrogram(chain(5), points(5), names=names)
    for dendrogram in (whole, whole.subtree(7)):
        dendrogram.save(tmp_path / "d.sb")
        loaded = sb.Dendrogram.load(tmp_path / "d.sb")
        assert (loaded.names, loaded.leaves.tolist()) == (dendrogram.names, dendrogram.leaves.tolist())


def test_model_files_keep_the_names_of_their_dendrogram(tmp_path):
    model = sb.Betula(n_clusters=3).fit(points())
    model.dendrogram_.name_clusters(["a", "b", "c"], 3)
    model.save(tmp_path / "m.sb")
    assert sb.load(tmp_path / "m.sb").dendrogram_.names == model.dendrogram_.names


# -- the order of leaves


@pytest.mark.parametrize("method", LINKAGES)
@some
@given(seed=seeds)
def test_an_ordered_dendrogram_is_the_same_but_for_the_order_of_its_leaves(method, seed):
    X, random = points(40, 2, seed), np.random.default_rng(seed)
    dendrogram = sb.Dendrogram(sb.linkage(X, method), X, names={3: "three", 50: "fifty"})
    order = dendrogram.Z.copy()
    swapped = random.random(39) < 0.5
    order[swapped, 0], order[swapped, 1] = order[swapped, 1], order[swapped, 0].copy()
    order = hierarchy.leaves_list(order)
    ordered = dendrogram.ordered(order)
    np.testing.assert_array_equal(hierarchy.leaves_list(ordered.Z), order)
    np.testing.assert_array_equal(ordered.Z[:, 2:], dendrogram.Z[:, 2:])
    assert leaves_of(ordered.Z) == leaves_of(dendrogram.Z)
    np.testing.assert_array_equal(ordered.cut(n_clusters=7), dendrogram.cut(n_clusters=7))
    assert ordered.names == dendrogram.names
    assert ordered.features is dendrogram.features


def test_an_ordered_dendrogram_keeps_prototypes_and_the_leaves_of_a_subtree():
    whole = sb.Dendrogram(sb.linkage(points(30), "minimax"))
    part = whole.subtree(50)
    ordered = part.ordered(hierarchy.leaves_list(part.Z)[::-1])
    np.testing.assert_array_equal(ordered.prototypes, part.prototypes)
    np.testing.assert_array_equal(ordered.leaves, part.leaves)
    ordered.names[0] = "new"
    assert part.names == {}


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0, 2, 1, 3], r"row 0 of Z apart"),
        ([0, 1, 2, 2], r"each leaf once; position 3 is 2"),
        ([0, 1, 2, 4], r"each leaf once; position 3 is 4"),
        ([0, 1, 2, -1], r"each leaf once; position 3 is -1"),
        ([0, 1, 2], r"shape \(3,\): the number of each of the 4 leaves"),
        ([0.0, 1.0, 2.0, 3.0], r"order is float64"),
    ],
)
def test_orders_that_the_dendrogram_does_not_allow_are_refused(order, message):
    dendrogram = sb.Dendrogram([[0, 1, 1, 2], [2, 3, 2, 2], [4, 5, 3, 4]])
    with pytest.raises(ValueError, match=message):
        dendrogram.ordered(order)


def test_a_chain_and_a_single_leaf_can_be_ordered():
    dendrogram = sb.Dendrogram(chain(CHAIN))
    order = dendrogram.ordered(sb.leaf_order(dendrogram.Z, np.arange(CHAIN)[:, None].astype(float)))
    assert order.n_leaves == CHAIN
    assert sb.Dendrogram(np.empty((0, 4))).ordered([0]).n_leaves == 1
