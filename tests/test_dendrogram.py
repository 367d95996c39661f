"""Dendrogram: cutting, measuring and exporting, against scipy and against brute force over the points."""

import itertools
import re
from html.parser import HTMLParser

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy

import silverbirch as sb

MONOTONE = ["single", "complete", "average", "weighted", "ward"]
WITH_INVERSIONS = ["centroid", "median"]
LINKAGES = [*MONOTONE, *WITH_INVERSIONS]
CHAIN = 20_000

seeds = st.integers(0, 2**32 - 1)
some = settings(deadline=None, max_examples=40)


def points(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def by_first_occurrence(labels):
    """The same partition, numbered by first occurrence."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def sse_by_brute_force(rows, labels):
    return sum(((rows[labels == c] - rows[labels == c].mean(axis=0)) ** 2).sum() for c in np.unique(labels))


def chain(n):
    """Each row of Z adds one leaf: the deepest tree of n leaves."""
    row = np.arange(n - 1)
    return np.column_stack([row + 1, np.where(row == 0, 0, n + row - 1), row + 1.0, row + 2.0])


def aggregated(n=400, d=2, n_groups=30, seed=0):
    """Rows, the group of each, and the cluster feature of each group."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)])
    rows = 5 * rng.normal(size=(n_groups, d))[group] + rng.normal(size=(n, d))
    members = [rows[group == g] for g in range(n_groups)]
    mean = np.array([m.mean(axis=0) for m in members])
    sse = [((m - m.mean(axis=0)) ** 2).sum() for m in members]
    return rows, group, sb.ClusterFeatures([len(m) for m in members], mean, sse)


# -- cutting


@pytest.mark.parametrize("method", [*LINKAGES, "minimax", "medoid"])
def test_cut_gives_exactly_k_nested_clusters_numbered_by_first_occurrence(method):
    dendrogram = sb.Dendrogram(sb.linkage(points(), method))
    finer = None
    for k in range(60, 0, -1):
        labels = dendrogram.cut(n_clusters=k)
        assert labels.shape == (60,)
        assert len(np.unique(labels)) == k
        np.testing.assert_array_equal(labels, by_first_occurrence(labels))
        if finer is not None:
            assert len({*zip(finer.tolist(), labels.tolist(), strict=True)}) == k + 1
        finer = labels


@pytest.mark.parametrize("method", LINKAGES)
def test_cut_into_k_keeps_all_but_the_last_merges(method):
    Z = hierarchy.linkage(points(), method)
    below = [[leaf] for leaf in range(60)]
    labels = np.arange(60)
    for k, (left, right) in zip(range(59, 0, -1), Z[:, :2].astype(int), strict=True):
        below.append(below[left] + below[right])
        labels[below[-1]] = min(below[-1])
        np.testing.assert_array_equal(sb.Dendrogram(Z).cut(n_clusters=k), by_first_occurrence(labels))


@pytest.mark.parametrize("method", MONOTONE)
def test_cut_into_k_is_the_partition_of_cut_tree(method):
    Z = hierarchy.linkage(points(), method)
    expected = hierarchy.cut_tree(Z)  # column i: the clusters after i merges; wrong in scipy where there are inversions
    for k in range(1, 61):
        np.testing.assert_array_equal(sb.Dendrogram(Z).cut(n_clusters=k), by_first_occurrence(expected[:, 60 - k]))


@pytest.mark.parametrize("method", MONOTONE)
def test_cut_into_k_is_the_partition_of_fcluster_maxclust_where_nothing_ties(method):
    Z = sb.linkage(points(), method)
    for k in range(1, 61):
        expected = hierarchy.fcluster(Z, k, "maxclust")
        np.testing.assert_array_equal(sb.Dendrogram(Z).cut(n_clusters=k), by_first_occurrence(expected))


@pytest.mark.parametrize("method", LINKAGES)
@some
@given(seed=seeds, ties=st.booleans())
def test_cut_at_a_height_is_the_partition_of_fcluster(method, seed, ties):
    rows = points(40, 2, seed)
    Z = hierarchy.linkage(np.round(rows) if ties else rows, method)
    dendrogram = sb.Dendrogram(Z)
    heights = np.concatenate([Z[::4, 2], Z[::4, 2] * 0.999, [-1.0, 0.0, Z[:, 2].max() * 2, np.inf]])
    for height in heights:
        expected = by_first_occurrence(hierarchy.fcluster(Z, height, "distance"))
        np.testing.assert_array_equal(dendrogram.cut(height=height), expected)


def random_tree(n, seed):
    """Any topology with heights in any order: inversions everywhere, ties too."""
    rng = np.random.default_rng(seed)
    alive, count, Z = list(range(n)), [1] * n, []
    for _ in range(n - 1):
        left, right = (alive.pop(rng.integers(len(alive))) for _ in range(2))
        count.append(count[left] + count[right])
        alive.append(len(count) - 1)
        Z.append([left, right, rng.integers(1, n), count[-1]])
    return np.array(Z, dtype=float)


@some
@given(seed=seeds)
def test_cut_of_any_inversions_is_the_partition_of_fcluster(seed):
    Z = random_tree(20, seed)
    dendrogram = sb.Dendrogram(Z)
    for height in range(21):
        expected = by_first_occurrence(hierarchy.fcluster(Z, height, "distance"))
        np.testing.assert_array_equal(dendrogram.cut(height=height), expected)
    np.testing.assert_array_equal(dendrogram.cophenetic(), hierarchy.cophenet(Z))
    np.testing.assert_array_equal(dendrogram.cophenetic(*np.triu_indices(20, 1)), hierarchy.cophenet(Z))


@pytest.mark.parametrize("method", MONOTONE)
def test_cuts_into_several_numbers_are_the_columns_of_cut_tree(method):
    Z = hierarchy.linkage(points(), method)
    counts = [7, 1, 60, 2, 7]
    labels = sb.Dendrogram(Z).cut(n_clusters=counts)
    expected = np.hstack([hierarchy.cut_tree(Z, [k]) for k in counts])
    np.testing.assert_array_equal(labels, np.apply_along_axis(by_first_occurrence, 0, expected))
    np.testing.assert_array_equal(sb.Dendrogram(Z).cut(n_clusters=np.array(counts)), labels)


@some
@given(seed=seeds, heights=st.lists(st.integers(0, 21), max_size=5))
def test_cuts_at_several_heights_are_the_cuts_at_each(seed, heights):
    dendrogram = sb.Dendrogram(random_tree(20, seed))
    labels = dendrogram.cut(height=heights)
    assert labels.shape == (20, len(heights))
    for column, height in zip(labels.T, heights, strict=True):
        np.testing.assert_array_equal(column, dendrogram.cut(height=height))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": [2, 0]}, "n_clusters=0"),
        ({"n_clusters": [2, 9]}, "n_clusters=9 but there are 5 leaves"),
        ({"n_clusters": [[2]]}, "must be a number or a list"),
        ({"height": [[1.0]]}, "must be a number or a list"),
        ({"height": [1.0, np.nan]}, "height=nan"),
    ],
)
def test_lists_to_cut_by_are_checked_one_by_one(arguments, message):
    with pytest.raises(ValueError, match=message):
        sb.Dendrogram(chain(5)).cut(**arguments)


@pytest.mark.parametrize("arguments", [{}, {"n_clusters": 2, "height": 1.0}])
def test_cut_takes_one_of_n_clusters_and_height(arguments):
    with pytest.raises(ValueError, match=r"n_clusters.*height"):
        sb.Dendrogram(chain(5)).cut(**arguments)


@pytest.mark.parametrize("k", [0, -1, 6, True, 2.0, "2", np.nan])
@pytest.mark.parametrize("ask", ["cut", "sse", "rmsd", "plot"])
def test_numbers_of_clusters_out_of_range_are_refused_by_value(ask, k):
    dendrogram = sb.Dendrogram(chain(5), points(5))
    with pytest.raises((ValueError, TypeError), match="n_clusters"):
        getattr(dendrogram, ask)(**{"k" if ask in ("sse", "rmsd") else "n_clusters": k})


def test_more_clusters_than_leaves_says_how_many_there_are_and_the_remedy():
    with pytest.raises(ValueError, match=r"n_clusters=6 .* 5 leaves: raise max_leaves"):
        sb.Dendrogram(chain(5)).cut(n_clusters=6)


@pytest.mark.parametrize("height", [np.nan, "high"])
def test_a_height_that_is_no_number_is_refused(height):
    with pytest.raises((ValueError, TypeError)):
        sb.Dendrogram(chain(5)).cut(height=height)


# -- measuring


@pytest.mark.parametrize("method", [*LINKAGES, "minimax"])
def test_sse_and_rmsd_of_points_equal_brute_force(method):
    rows = points()
    dendrogram = sb.Dendrogram(sb.linkage(rows, method), rows)
    for k in range(1, 61):
        expected = sse_by_brute_force(rows, dendrogram.cut(n_clusters=k))
        assert dendrogram.sse(k) == pytest.approx(expected, rel=1e-10, abs=1e-10)
        assert dendrogram.rmsd(k) == pytest.approx(np.sqrt(expected / 60), rel=1e-10, abs=1e-6)


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("offset", [0.0, 2.0**26])
def test_sse_and_rmsd_of_features_equal_brute_force_over_their_member_points(method, offset):
    rows, group, features = aggregated()
    moved = sb.ClusterFeatures(features.weight, features.mean + offset, features.sse)
    dendrogram = sb.Dendrogram(sb.linkage(moved, method), moved)
    for k in range(1, len(features) + 1):
        expected = sse_by_brute_force(rows, dendrogram.cut(n_clusters=k)[group])
        assert dendrogram.sse(k) == pytest.approx(expected, rel=1e-6 if offset else 1e-10)
        assert dendrogram.rmsd(k) == pytest.approx(np.sqrt(expected / len(rows)), rel=1e-6 if offset else 1e-10)


@some
@given(seed=seeds, weight=st.lists(st.integers(1, 5), min_size=12, max_size=12))
def test_sse_of_weighted_points_equals_that_of_repeated_points(seed, weight):
    rows = points(12, 2, seed)
    dendrogram = sb.Dendrogram(sb.linkage(rows, "ward", weights=weight), sb.ClusterFeatures(weight, rows, 0))
    for k in (1, 4, 12):
        repeated = np.repeat(dendrogram.cut(n_clusters=k), weight)
        expected = sse_by_brute_force(np.repeat(rows, weight, axis=0), repeated)
        assert dendrogram.sse(k) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("measure", ["sse", "rmsd"])
@pytest.mark.parametrize("k", [[1, 5, 60], np.arange(1, 61), np.array([[2, 3], [4, 5]]), range(1, 4), np.array([7])])
def test_an_array_of_k_gives_the_array_of_the_numbers(measure, k):
    rows = points()
    ask = getattr(sb.Dendrogram(sb.linkage(rows, "ward"), rows), measure)
    result = ask(k)
    assert result.shape == np.shape(k)
    np.testing.assert_array_equal(result.ravel(), [ask(int(one)) for one in np.ravel(k)])
    assert isinstance(ask(3), float)


@pytest.mark.parametrize("measure", ["sse", "rmsd"])
def test_an_empty_array_of_k_gives_an_empty_array(measure):
    assert getattr(sb.Dendrogram(chain(5), points(5)), measure)([]).shape == (0,)


@pytest.mark.parametrize("k", [[1, 0], [1, 6], [1.5, 2.0]])
def test_an_array_of_k_with_one_out_of_range_is_refused(k):
    with pytest.raises((ValueError, TypeError), match="n_clusters"):
        sb.Dendrogram(chain(5), points(5)).sse(k)


@pytest.mark.parametrize("method", LINKAGES)
def test_sse_never_rises_with_k_nor_falls_below_zero(method):
    rows = np.repeat(points(20, 2), 3, axis=0) + 1e8
    sse = sb.Dendrogram(sb.linkage(rows, method), rows).sse(np.arange(1, 61))
    assert (sse >= 0).all()
    assert (np.diff(sse) <= 1e-9 * sse[0]).all()
    assert sse[-1] == 0


@pytest.mark.parametrize("measure", ["sse", "rmsd"])
def test_measures_without_features_say_what_they_need(measure):
    with pytest.raises(ValueError, match=r"Dendrogram\(Z, features\)"):
        getattr(sb.Dendrogram(chain(5)), measure)(2)


@pytest.mark.parametrize("known", [True, False])
def test_weights_hold_the_leaves_then_the_merges_and_end_in_the_total(known):
    _, _, features = aggregated()
    Z = sb.linkage(features, "ward")
    leaf_weight = features.weight if known else np.ones(len(features))
    weights = sb.Dendrogram(Z, features if known else None).weights
    assert weights.shape == (2 * len(features) - 1,)
    np.testing.assert_array_equal(weights[: len(features)], leaf_weight)
    for row, (left, right) in enumerate(Z[:, :2].astype(int)):
        assert weights[len(features) + row] == weights[left] + weights[right]
    assert weights[-1] == leaf_weight.sum()


def test_the_root_of_the_merged_features_is_their_total():
    _, _, features = aggregated()
    root, total = sb.Dendrogram(sb.linkage(features, "ward"), features).merged_features[-1], features.total()
    for ours, expected in zip(root.arrays(), total.arrays(), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", LINKAGES)
def test_cophenetic_equals_scipys_for_all_pairs_and_one_by_one(method):
    Z = hierarchy.linkage(points(), method)
    expected = hierarchy.cophenet(Z)
    dendrogram = sb.Dendrogram(Z)
    np.testing.assert_array_equal(dendrogram.cophenetic(), expected)
    i, j = np.triu_indices(60, 1)
    np.testing.assert_array_equal(dendrogram.cophenetic(i, j), expected)
    np.testing.assert_array_equal(dendrogram.cophenetic(j, i), expected)
    assert dendrogram.cophenetic(2, 5) == dendrogram.cophenetic(5, 2) == expected[(i == 2) & (j == 5)]
    assert isinstance(dendrogram.cophenetic(2, 5), float)


def test_cophenetic_broadcasts_and_is_zero_of_a_leaf_with_itself():
    dendrogram = sb.Dendrogram(hierarchy.linkage(points(12), "average"))
    leaves = np.arange(12)
    square = dendrogram.cophenetic(leaves[:, None], leaves)
    assert square.shape == (12, 12)
    np.testing.assert_array_equal(square, square.T)
    np.testing.assert_array_equal(square.diagonal(), 0)
    np.testing.assert_array_equal(dendrogram.cophenetic(3, leaves), square[3])
    assert dendrogram.cophenetic([], []).shape == (0,)


def test_cophenetic_goes_down_a_deep_chain():
    dendrogram = sb.Dendrogram(chain(CHAIN))
    np.testing.assert_array_equal(dendrogram.cophenetic(0, [0, 1, 7, CHAIN - 1]), [0, 1, 7, CHAIN - 1])
    assert dendrogram.cophenetic(5, 3) == 5


@pytest.mark.parametrize("pair", [(0, 5), (-1, 0), ([0, 1], [2, 9])])
def test_cophenetic_of_leaves_that_are_not_there_is_refused(pair):
    with pytest.raises(IndexError, match="0 to 4"):
        sb.Dendrogram(chain(5)).cophenetic(*pair)


def test_cophenetic_of_half_a_leaf_is_refused():
    with pytest.raises((TypeError, ValueError, IndexError)):
        sb.Dendrogram(chain(5)).cophenetic(0.5, 1)


@pytest.mark.parametrize("arguments", [{"i": 1}, {"j": 1}])
def test_cophenetic_takes_both_leaves_or_neither(arguments):
    with pytest.raises(ValueError, match="both i and j"):
        sb.Dendrogram(chain(5)).cophenetic(**arguments)


# -- exporting


def newick_tokens(text):
    return re.findall(r"'(?:[^']|'')*'|[(),:;]|[^(),:;']+", text)


def parsed_newick(text):
    """Nested nodes with children or a name, and the length of the branch above; unquoted underscores are blanks."""
    tokens = newick_tokens(text)
    assert "".join(tokens) == text
    assert tokens[-1] == ";"
    open_nodes, done = [], None
    for before, token in itertools.pairwise([None, *tokens[:-1]]):
        if token == "(":
            open_nodes.append([])
        elif token in (",", ")"):
            open_nodes[-1].append(done)
            if token == ")":
                done = {"children": open_nodes.pop(), "length": 0.0}
        elif before == ":":
            done["length"] = float(token)
        elif token != ":":
            quoted = token.startswith("'")
            name = token[1:-1].replace("''", "'") if quoted else token.replace("_", " ")
            done = {"name": name, "length": 0.0}
    assert not open_nodes
    return done


def clades_and_heights(text):
    """The names below each inner node with its height over the leaves, from the branch lengths alone."""
    clades = {}

    def names_and_height(node):
        if "name" in node:
            return frozenset([node["name"]]), 0.0
        below = [names_and_height(child) for child in node["children"]]
        heights = [height + child["length"] for (_, height), child in zip(below, node["children"], strict=True)]
        assert heights == pytest.approx([heights[0]] * len(heights), abs=1e-12)
        names = frozenset().union(*(n for n, _ in below))
        clades[names] = heights[0]
        return names, heights[0]

    names_and_height(parsed_newick(text))
    return clades


def clades_of(Z, names):
    below = [frozenset([name]) for name in names]
    for left, right in Z[:, :2].astype(int):
        below.append(below[left] | below[right])
    return dict(zip(below[len(names) :], Z[:, 2], strict=True))


@pytest.mark.parametrize("method", LINKAGES)
def test_newick_parses_back_to_the_same_topology_and_heights(method):
    Z = sb.linkage(points(40), method)
    expected = clades_of(Z, [str(i) for i in range(40)])
    ours = clades_and_heights(sb.Dendrogram(Z).to_newick())
    assert ours.keys() == expected.keys()
    assert [ours[c] for c in expected] == pytest.approx(list(expected.values()), rel=1e-12)


NAMES = ["plain", "two words", "it's", "a,b", "(c)", "d:e", "f;g", "[h]", "", "Ω", '"', "line\nbreak", "-1", "''"]


def test_newick_names_are_quoted_so_that_they_come_back():
    Z = sb.linkage(points(len(NAMES)), "average")
    ours = clades_and_heights(sb.Dendrogram(Z).to_newick(NAMES))
    assert ours.keys() == clades_of(Z, NAMES).keys()


def test_newick_quotes_underscores_because_unquoted_ones_mean_blanks():
    assert sb.Dendrogram(chain(2)).to_newick(["a_b", "c"]).count("'a_b'") == 1


@pytest.mark.parametrize("names", [[], ["a"], ["a"] * 6])
def test_newick_needs_one_name_for_each_leaf(names):
    with pytest.raises(ValueError, match=f"{len(names)} names but 5 leaves"):
        sb.Dendrogram(chain(5)).to_newick(names)


def test_a_deep_chain_is_cut_and_exported_without_recursion():
    rows = np.arange(CHAIN, dtype=float)[:, None] ** 2
    dendrogram = sb.Dendrogram(chain(CHAIN), rows)
    assert dendrogram.cut(n_clusters=3).tolist() == [0] * (CHAIN - 2) + [1, 2]
    assert dendrogram.cut(height=1.5).tolist() == [0, *range(CHAIN - 1)]
    assert dendrogram.sse(CHAIN - 1) == 0.5
    newick = dendrogram.to_newick()
    assert newick.count("(") == newick.count(")") == CHAIN - 1
    node, depth = parsed_newick(newick), 0
    while "children" in node:
        node, depth = max(node["children"], key=lambda child: "children" in child), depth + 1
    assert depth == CHAIN - 1
    assert dendrogram.to_networkx().number_of_edges() == 2 * CHAIN - 2


def test_networkx_graph_is_the_tree_with_heights_and_weights():
    _, _, features = aggregated()
    Z = sb.linkage(features, "ward")
    dendrogram = sb.Dendrogram(Z, features)
    graph = dendrogram.to_networkx()
    m = len(features)
    assert networkx.is_arborescence(graph)
    assert sorted(graph.nodes) == list(range(2 * m - 1))
    assert [n for n, degree in graph.in_degree if degree == 0] == [2 * m - 2]
    assert sorted(n for n, degree in graph.out_degree if degree == 0) == list(range(m))
    assert {(a, b) for a, b in graph.edges} == {(m + i, int(c)) for i in range(m - 1) for c in Z[i, :2]}
    assert [graph.nodes[n]["height"] for n in range(2 * m - 1)] == [0.0] * m + Z[:, 2].tolist()
    assert [graph.nodes[n]["weight"] for n in range(2 * m - 1)] == dendrogram.weights.tolist()


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.outside, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.outside += [
            f"{tag} {name}={value}"
            for name, value in attributes
            if not name.startswith("xmlns") and re.search(r"https?:|^//|\bfile:", value or "")
        ]

    def handle_data(self, data):
        self.text.append(data)


TITLE = "<script>alert('&')</script>"


@pytest.mark.parametrize("known", [True, False])
def test_html_page_needs_no_other_file_and_escapes_its_title(tmp_path, known):
    rows = points()
    path = tmp_path / "page.html"
    sb.Dendrogram(sb.linkage(rows, "ward"), rows if known else None).to_html(path, title=TITLE)
    page = Page(path.read_text(encoding="utf-8"))
    assert page.tags.count("svg") == (2 if known else 1)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert page.text.count(TITLE) == 2  # in the head and as heading


def test_html_page_names_no_address_but_namespaces(tmp_path):
    path = tmp_path / "page.html"
    sb.Dendrogram(chain(5)).to_html(path)
    text = path.read_text(encoding="utf-8")
    assert Page(text).outside == []
    assert re.findall(r"(?<!=\")https?://[^\s<\"]+", text) == []


def test_html_page_is_the_same_bytes_each_time(tmp_path):
    dendrogram = sb.Dendrogram(chain(5), points(5))
    for name in ("one", "two"):
        dendrogram.to_html(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


# -- what goes in


@pytest.mark.parametrize("method", ["minimax", "medoid"])
def test_prototypes_are_carried_from_the_linkage(method):
    Z = sb.linkage(points(), method)
    dendrogram = sb.Dendrogram(Z)
    np.testing.assert_array_equal(dendrogram.prototypes, Z.prototypes)
    assert dendrogram.prototypes.shape == (59,)
    below = [{i} for i in range(60)]
    for (left, right), prototype in zip(Z[:, :2].astype(int), dendrogram.prototypes, strict=True):
        below.append(below[left] | below[right])
        assert int(prototype) in below[-1]


def test_other_linkages_have_no_prototypes():
    assert sb.Dendrogram(sb.linkage(points(), "ward")).prototypes is None


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, np.ndarray.tolist, lambda Z: Z.astype(np.float32)])
def test_a_matrix_from_scipy_is_accepted_in_any_form(kind):
    Z = chain(8)
    dendrogram = sb.Dendrogram(kind(Z))
    np.testing.assert_array_equal(dendrogram.Z, Z)
    assert dendrogram.n_leaves == 8


def test_the_matrix_is_copied():
    Z = chain(5)
    dendrogram = sb.Dendrogram(Z)
    Z[:] = 0
    np.testing.assert_array_equal(dendrogram.Z, chain(5))


def with_entry(row, column, value):
    Z = chain(5)
    Z[row, column] = value
    return Z


BAD_MATRICES = {
    "three columns": chain(5)[:, :3],
    "one dimension": chain(5).ravel(),
    "three dimensions": chain(5)[None],
    "forward reference": with_entry(0, 1, 6),
    "own row": with_entry(0, 1, 5),
    "a leaf that is not there": with_entry(3, 0, 11),
    "a leaf merged twice": with_entry(1, 0, 0),
    "a row merged twice": with_entry(2, 1, 5),
    "itself merged with itself": with_entry(0, 0, 0),
    "negative number": with_entry(0, 0, -1),
    "half a number": with_entry(0, 0, 0.5),
    "NaN height": with_entry(1, 2, np.nan),
    "infinite height": with_entry(1, 2, np.inf),
    "NaN number": with_entry(1, 0, np.nan),
    "strings": [["a"] * 4],
}


@pytest.mark.parametrize("Z", BAD_MATRICES.values(), ids=BAD_MATRICES.keys())
def test_what_is_not_a_linkage_matrix_is_refused(Z):
    with pytest.raises(ValueError):
        sb.Dendrogram(Z)


def test_a_matrix_that_counts_more_leaves_than_there_are_is_refused_as_in_scipy():
    assert not hierarchy.is_valid_linkage(with_entry(3, 3, 17))
    with pytest.raises(ValueError):
        sb.Dendrogram(with_entry(3, 3, 17))


@pytest.mark.parametrize("count", [1, 4, 6])
def test_features_that_do_not_belong_to_the_matrix_are_refused(count):
    with pytest.raises(ValueError, match=f"5 leaves but there are {count} features"):
        sb.Dendrogram(chain(5), points(count))


def test_one_leaf_is_a_dendrogram(tmp_path):
    dendrogram = sb.Dendrogram(np.empty((0, 4)), sb.ClusterFeatures([3.0], [[1.0, 2.0]], [12.0]))
    assert dendrogram.n_leaves == 1
    assert dendrogram.cut(n_clusters=1).tolist() == dendrogram.cut(height=0.0).tolist() == [0]
    assert dendrogram.sse(1) == 12
    assert dendrogram.rmsd(1) == 2
    assert dendrogram.weights.tolist() == [3]
    assert dendrogram.to_newick() == "0;"
    assert dendrogram.cophenetic().shape == (0,)
    assert dendrogram.cophenetic(0, 0) == 0
    assert dendrogram.to_networkx().number_of_nodes() == 1
    assert len(dendrogram.plot().get_xticks()) == 1
    dendrogram.to_html(tmp_path / "page.html")
    with pytest.raises(ValueError, match="n_clusters=2 but there are 1 leaves"):
        dendrogram.cut(n_clusters=2)


def test_a_matrix_spoilt_afterwards_is_refused_not_followed():
    dendrogram = sb.Dendrogram(chain(5), np.arange(5.0)[:, None])
    dendrogram.Z[:, 0] = 1e12
    for spoilt in (lambda: dendrogram.cut(n_clusters=1), lambda: dendrogram.cut(height=3), lambda: dendrogram.rmsd(2)):
        with pytest.raises(ValueError, match="not a linkage matrix"):
            spoilt()


def test_k_may_be_of_any_integer_type():
    dendrogram = sb.Dendrogram(chain(300), np.arange(300.0)[:, None])
    np.testing.assert_array_equal(dendrogram.sse(np.array([3], dtype=np.uint8)), dendrogram.sse([3]))
