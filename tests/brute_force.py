"""Brute force: a cluster is the set of its points, and distances follow their definitions over these points."""

import importlib
import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist, squareform

import silverbirch as sb

linkage_module = importlib.import_module("silverbirch.linkage.cluster")

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
REDUCIBLE = ("single", "complete", "average", "weighted", "ward", "minimax")
GREEDY = ("agnes", "anderberg", "generic")
CF_DISTANCES = ("centroid", "manhattan", "average", "diameter", "ward", "radius")
FEATURE_METHODS = ("ward", "average", "weighted", "centroid", "median")
few = settings(deadline=None, max_examples=30)
ignore_square = pytest.mark.filterwarnings("ignore:y looks like a square distance matrix")


class Group(NamedTuple):
    rows: np.ndarray
    weight: np.ndarray
    vote: np.ndarray  # the weight of each row where both children of a merge count the same


def groups_of(labels, weight):
    rows = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return [Group(r, weight[r], weight[r] / weight[r].sum()) for r in rows]


def singles(X):
    return groups_of(np.arange(len(X)), np.ones(len(X)))


def joined(a, b):
    return Group(np.r_[a.rows, b.rows], np.r_[a.weight, b.weight], np.r_[a.vote, b.vote] / 2)


def definitions(X, D=None):
    """Each linkage and CF distance by name, as a function of two groups; `squared` uses squared distances."""
    D = squareform(pdist(X)) if D is None else D

    def mean(group, counts):
        return counts @ X[group.rows] / counts.sum()

    def sse(group):
        return group.weight @ ((X[group.rows] - mean(group, group.weight)) ** 2).sum(axis=1)

    def across(a, b, by_a, by_b, power=1):
        return by_a @ D[np.ix_(a.rows, b.rows)] ** power @ by_b / (by_a.sum() * by_b.sum())

    def squared_diameter(group):
        n = group.weight.sum()
        return group.weight @ D[np.ix_(group.rows, group.rows)] ** 2 @ group.weight / (n * (n - 1))

    def root(value):
        return np.sqrt(max(value, 0.0))

    return {
        "single": lambda a, b: D[np.ix_(a.rows, b.rows)].min(),
        "complete": lambda a, b: D[np.ix_(a.rows, b.rows)].max(),
        "average": lambda a, b: across(a, b, a.weight, b.weight),
        "weighted": lambda a, b: across(a, b, a.vote, b.vote),
        "squared average": lambda a, b: root(across(a, b, a.weight, b.weight, 2)),
        "squared weighted": lambda a, b: root(across(a, b, a.vote, b.vote, 2)),
        "centroid": lambda a, b: np.linalg.norm(mean(a, a.weight) - mean(b, b.weight)),
        "manhattan": lambda a, b: abs(mean(a, a.weight) - mean(b, b.weight)).sum(),
        "median": lambda a, b: np.linalg.norm(mean(a, a.vote) - mean(b, b.vote)),
        "ward": lambda a, b: root(2 * (sse(joined(a, b)) - sse(a) - sse(b))),
        "radius": lambda a, b: root(sse(joined(a, b)) / joined(a, b).weight.sum()),
        "diameter": lambda a, b: root(squared_diameter(joined(a, b))),
        "minimax": lambda a, b: radii(D, joined(a, b).rows).min(),
        "medoid": lambda a, b: D[medoid(D, a), medoid(D, b)],
    }


def radii(D, rows):
    return D[np.ix_(rows, rows)].max(axis=1)


def medoid(D, group):
    order = np.argsort(group.rows)
    rows, weight = group.rows[order], group.weight[order]
    return rows[np.argmin(D[np.ix_(rows, rows)] @ weight)]


class BruteForce:
    def __init__(self, groups, distance):
        self.distance = distance
        self.clusters = dict(enumerate(groups))
        self.next = len(groups)
        self.between = {(i, j): distance(groups[i], groups[j]) for i, j in itertools.combinations(self.clusters, 2)}

    def merge(self, i, j):
        merged = joined(self.clusters.pop(i), self.clusters.pop(j))
        self.between = {pair: d for pair, d in self.between.items() if not {i, j} & set(pair)}
        self.between |= {(k, self.next): self.distance(group, merged) for k, group in self.clusters.items()}
        self.clusters[self.next] = merged
        self.next += 1
        return merged


def greedy(groups, distance):
    state, leaves, Z = BruteForce(groups, distance), dict.fromkeys(range(len(groups)), 1), []
    while state.between:
        i, j = min(state.between, key=state.between.get)
        leaves[state.next] = leaves[i] + leaves[j]
        Z.append((i, j, state.between[i, j], leaves[state.next]))
        state.merge(i, j)
    return np.array(Z)


def assert_each_merge_is_the_global_minimum(Z, groups, distance):
    state = BruteForce(groups, distance)
    assert len(Z) == len(groups) - 1
    for i, j, height, _ in np.asarray(Z):
        merged = state.between[int(i), int(j)]
        assert merged**2 <= min(state.between.values()) ** 2 * (1 + 1e-9) + 1e-9
        assert height**2 == pytest.approx(merged**2, rel=1e-9, abs=1e-9)  # squares: the sums to compare with cancel
        state.merge(int(i), int(j))


def features_of(X, groups):
    weight = np.array([g.weight.sum() for g in groups])
    mean = np.array([np.average(X[g.rows], axis=0, weights=g.weight) for g in groups])
    sse = [g.weight @ ((X[g.rows] - m) ** 2).sum(axis=1) for g, m in zip(groups, mean, strict=True)]
    return sb.ClusterFeatures(weight, mean, np.array(sse))


def random_points(n=40, d=3, seed=1):
    return np.random.default_rng(seed).normal(size=(n, d))


def random_features(n=50, d=3, seed=2):
    rng = np.random.default_rng(seed)
    return sb.ClusterFeatures(rng.uniform(0.5, 20, size=n), rng.normal(size=(n, d)), rng.uniform(0, 3, size=n))


@st.composite
def grid_points(draw, min_rows=2):
    """Points of small integers, which have many ties and duplicates and are exact."""
    shape = draw(st.tuples(st.integers(min_rows, 14), st.integers(1, 3)))
    return draw(arrays(np.float64, shape, elements=st.integers(-4, 4)))


@st.composite
def grouped_points(draw):
    """Points, weights and groups: at least two groups, each of positive weight."""
    X = draw(grid_points(min_rows=4))
    weight = draw(arrays(np.float64, len(X), elements=st.floats(1, 8, width=16)))
    labels = draw(arrays(np.int64, len(X), elements=st.integers(0, 5)))
    labels[:2] = 0, 1
    return X, weight, groups_of(labels, weight)
