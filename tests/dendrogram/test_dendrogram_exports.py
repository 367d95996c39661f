"""Dendrogram: Newick, networkx and the page, read back."""

import re
from html.parser import HTMLParser

import networkx
import numpy as np
import pytest

import silverbirch as sb
from dendrograms import CHAIN, LINKAGES, aggregated, chain, points
from newick import parsed_newick


def clades_and_heights(text):
    """The names below each inner node, and its height, computed from the branch lengths."""
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
    assert not {"link", "img", "iframe", "object"} & set(page.tags)
    assert page.tags.count("script") == 2  # the data and the script of the page
    assert page.text.count(TITLE) == 2  # in the head and as heading


def test_html_page_names_no_address_but_namespaces(tmp_path):
    path = tmp_path / "page.html"
    sb.Dendrogram(chain(5)).to_html(path)
    text = path.read_text(encoding="utf-8")
    assert Page(text).outside == []
    named = set(re.findall(r"(?<![= ]\")https?://[^\s<\"]+", text))
    assert named == {"http://www.w3.org/2000/svg"}  # the script asks for elements of this namespace


def test_html_page_is_the_same_bytes_each_time(tmp_path):
    dendrogram = sb.Dendrogram(chain(5), points(5))
    for name in ("one", "two"):
        dendrogram.to_html(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
