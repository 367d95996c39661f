"""networkx walks through the dendrogram."""

import json

import networkx as nx
import pytest
from scipy.cluster.hierarchy import cophenet, linkage, to_tree


def test_the_graph_is_scipys_tree(recipe, blobs):
    X, _ = blobs
    page = recipe("networkx", X=X)

    Z = linkage(X, "average")
    _, nodes = to_tree(Z, rd=True)
    assert nx.is_arborescence(page.graph)
    assert {node for node in page.below if node < len(X)} == set(nodes[page.root - 1].pre_order())
    assert page.graph.nodes[page.meeting]["height"] == pytest.approx(cophenet(Z)[0], rel=1e-12)
    assert json.dumps(page.nested).count('"height"') == 2 * len(X) - 1
