"""A dendrogram in the formats of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .dendrogram import Dendrogram


def newick(dendrogram: Dendrogram, names: dict[int, str]) -> str:
    n = dendrogram.n_leaves
    labels = {leaf: str(leaf) for leaf in range(n)} | names
    quoted = {node: _newick_name(name) for node, name in labels.items()}
    heights = [0.0] * n + dendrogram.Z[:, 2].tolist()
    children = dendrogram.Z[:, :2].astype(np.int64).tolist()
    # A stack instead of recursion: the dendrogram can be as deep as its number of leaves.
    parts: list[str] = []
    stack: list[int | str] = [2 * n - 2]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
        elif item < n:
            parts.append(quoted[item])
        else:
            left, right = children[item - n]
            height = heights[item]
            closing = f":{height - heights[right]:.17g})" + quoted.get(item, "")
            stack += [closing, right, f":{height - heights[left]:.17g},", left, "("]
    return "".join(parts) + ";"


def _newick_name(name: str) -> str:
    if name and not set(name) & set(" _()[]{}/\\,;:=*'\"`+-<>\t\n\r"):
        return name
    return "'" + name.replace("'", "''") + "'"


def networkx_graph(dendrogram: Dendrogram) -> Any:
    try:
        import networkx
    except ImportError:
        raise ImportError("to_networkx needs networkx: pip install networkx") from None
    n = dendrogram.n_leaves
    graph = networkx.DiGraph()
    heights = np.concatenate([np.zeros(n), dendrogram.Z[:, 2]])
    for node, (height, weight) in enumerate(zip(heights, dendrogram.weights, strict=True)):
        graph.add_node(node, height=float(height), weight=float(weight))
    for node, name in dendrogram.names.items():
        graph.nodes[node]["name"] = name
    for row, parts in enumerate(dendrogram.Z[:, :2].astype(np.int64).tolist()):
        graph.add_edges_from((n + row, part) for part in parts)
    return graph
