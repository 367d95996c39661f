"""Rows for models, and the visible state of a fitted model."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

LINKAGES = ["ward", "average", "weighted", "centroid", "median", "single", "complete"]
AGGREGATION = [{"max_leaves": None}, {"max_leaves": 40}, {"max_leaves": None, "threshold": 0.3}]

seeds = st.integers(0, 2**32 - 1)
some = settings(deadline=None, max_examples=25)


def points(n=300, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def groups(n=300, k=4, d=3, seed=0):
    """Rows around k centres far apart, in random order."""
    rng = np.random.default_rng(seed)
    return 20 * np.eye(max(k, d))[rng.integers(0, k, n), :d] + rng.normal(size=(n, d))


def scipys(X, linkage):
    """scipy's Z of all rows; average and weighted use squared distances, and heights are their roots."""
    if linkage not in ("average", "weighted"):
        return hierarchy.linkage(X, linkage)
    Z = hierarchy.linkage(pdist(X, "sqeuclidean"), linkage)
    Z[:, 2] **= 0.5
    return Z


def state(model, X):
    """The visible state of a fitted model, as bytes."""
    arrays = [
        *model.features_.arrays(), model.linkage_matrix_, model.subcluster_labels_, model.cluster_centers_,
        model.predict(X), model.transform(X), np.array([model.threshold_, model.n_features_in_, model.score(X)]),
        getattr(model, "labels_", np.empty(0)),
    ]  # fmt: skip
    return [np.ascontiguousarray(a).tobytes() for a in arrays]
