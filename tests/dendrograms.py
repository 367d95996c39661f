"""Dendrograms for the tests, and checks that they share."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

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


def by_weight(labels, weight=None):
    """The same clusters of leaves, numbered by weight, ties by the lowest leaf; for whole weights."""
    weight = np.ones(len(labels)) if weight is None else weight
    clusters = np.unique(labels)
    mass = [weight[labels == c].sum() for c in clusters]
    lowest = [np.flatnonzero(labels == c)[0] for c in clusters]
    order = sorted(range(len(clusters)), key=lambda i: (-mass[i], lowest[i]))
    return np.argsort(order)[np.searchsorted(clusters, labels)]


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
