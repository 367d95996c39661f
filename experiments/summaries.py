"""Alternatives to the cluster features of a CF-tree for too many rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

from silverbirch import _core
from silverbirch.checks import Floats
from silverbirch.features import ClusterFeatures
from silverbirch.tree import CFTree

from .jobs import BIRCH, KMEANS, SAMPLE

_MOST_FITS = 8
_CLOSE, _AIM = 0.8, 0.9


def random_sample(X: Floats, size: int, seed: int) -> tuple[ClusterFeatures, float]:
    chosen = np.random.default_rng([seed, 1]).choice(len(X), size, replace=False)
    return ClusterFeatures(1, X[chosen], 0), 0.0


def mini_batch_k_means(X: Floats, size: int, seed: int) -> tuple[ClusterFeatures, float]:
    """The features of the clusters of MiniBatchKMeans. It starts from random rows, because k-means++ is slow."""
    from sklearn.cluster import MiniBatchKMeans

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where two centres coincide
        labels = MiniBatchKMeans(size, init="random", n_init=1, random_state=seed).fit_predict(X)
    groups = ClusterFeatures._adopt(*_core.grouped(X, None, labels.astype(np.int64), size, None))
    return groups[groups.weight > 0], 0.0


def birch(X: Floats, size: int, seed: int) -> tuple[ClusterFeatures, float]:
    """The centres of the subclusters of scikit-learn's Birch.

    Birch takes a threshold and no limit on leaves. It is fitted with several thresholds, beginning with that of our
    tree, to get close to `size` subclusters but not more; only the time of one fit counts.
    """
    from sklearn.cluster import Birch

    begin = time.process_time()
    threshold = CFTree(max_leaves=size).insert(X).threshold
    too_many, few_enough = 0.0, np.inf
    best, seconds = np.empty((0, X.shape[1])), 0.0
    for fit in range(_MOST_FITS):
        last = time.process_time()
        centers = Birch(threshold=threshold, n_clusters=None, compute_labels=False).fit(X).subcluster_centers_
        if len(best) < len(centers) <= size:
            best, seconds = centers, time.process_time() - last
        if _CLOSE * size <= len(centers) <= size or (fit == _MOST_FITS - 1 and len(best)):
            break
        too_many, few_enough = (threshold, few_enough) if len(centers) > size else (too_many, threshold)
        # The number of leaves falls like a power of the threshold; between two known thresholds, bisect.
        guess = threshold * (len(centers) / (_AIM * size)) ** 0.3
        threshold = guess if too_many < guess < few_enough else (too_many + min(few_enough, 2 * too_many)) / 2
    if not len(best):
        raise ValueError(f"scikit-learn's Birch had more than {size} subclusters in {_MOST_FITS} fits")
    return ClusterFeatures(1, best, 0), time.process_time() - begin - seconds


MAKERS: dict[str, Callable[[Floats, int, int], tuple[ClusterFeatures, float]]] = {
    SAMPLE: random_sample,
    KMEANS: mini_batch_k_means,
    BIRCH: birch,
}
