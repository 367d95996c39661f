"""Orders of the leaves of a dendrogram, by brute force."""

import itertools

import numpy as np
from scipy.spatial.distance import squareform


def cost(order, condensed):
    """The sum of the distances of neighbours."""
    D = squareform(condensed)
    return D[order[:-1], order[1:]].sum()


def every_order(Z):
    """All orders that a dendrogram of a few leaves allows."""
    orders = [[(leaf,)] for leaf in range(len(Z) + 1)]
    for a, b in Z[:, :2].astype(int):
        pairs = [*itertools.product(orders[a], orders[b])]
        orders.append([x + y for x, y in pairs] + [y + x for x, y in pairs])
    return orders[-1]


def least_cost(Z, condensed):
    """The cost of the optimal order, from its definition: for each pair of ends, over all pairs of inner ends."""
    D, n = squareform(condensed), len(Z) + 1
    costs = [{(leaf, leaf): 0.0} for leaf in range(n)]  # of each node, by its ends
    for a, b in Z[:, :2].astype(int):
        merged: dict[tuple[int, int], float] = {}
        for ((u, m), first), ((k, w), second) in itertools.product(costs[a].items(), costs[b].items()):
            merged[u, w] = min(merged.get((u, w), np.inf), first + D[m, k] + second)
        costs.append(merged | {(w, u): total for (u, w), total in merged.items()})
    return min(costs[-1].values())
