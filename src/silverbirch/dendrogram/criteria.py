"""How well the cut into each number of clusters fits, from the features of the leaves alone.

- The relative gap of the heights: how far apart the merges are that end and that begin k clusters.
- T. Caliński, J. Harabasz (1974). A dendrite method for cluster analysis. Communications in Statistics 3(1).
- D. L. Davies, D. W. Bouldin (1979). A cluster separation measure. IEEE TPAMI 1(2). Here with the root mean squared
  distance to the centre, which features determine exactly.
- The simplified silhouette: P. J. Rousseeuw (1987). Silhouettes. J. Comput. Appl. Math. 20, with distances to centres.
- The gap statistic: R. Tibshirani, G. Walther, T. Hastie (2001). Estimating the number of clusters in a data set via
  the gap statistic. J. R. Stat. Soc. B 63(2).
- The stability: T. Lange, V. Roth, M. L. Braun, J. M. Buhmann (2004). Stability-based validation of clustering
  solutions. Neural Computation 16(6). Here as the adjusted Rand index (L. Hubert, P. Arabie, 1985) with resampled
  features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats
from ..features import ClusterFeatures
from ..linkage import linkage
from ..names import Method, Mode

if TYPE_CHECKING:
    from .dendrogram import Dendrogram

Labels = NDArray[np.int64]
Scores = dict[str, Floats]  # an entry for each k = 1 … k_max, NaN where it is not defined

_ROUNDING = 1e-12  # relative; duplicates make heights, distances and sums of squares 0, which divide others


def height_gaps(dendrogram: Dendrogram, k_max: int) -> Floats:
    """For each k, the height of the merge that ends k clusters, relative to the height of the one that made them."""
    ending = np.maximum.accumulate(dendrogram.Z[:, 2])[::-1]  # entry 0 is the merge of 2 clusters into 1
    return np.concatenate([[np.nan], ending[: k_max - 1] / np.maximum(ending[1:k_max], _ROUNDING * ending[0])])


def centre_scores(dendrogram: Dendrogram, labels: Labels) -> Scores:
    """The three indices that compare clusters by their centres; column k - 1 of the labels is the cut into k."""
    features = dendrogram.features
    assert features is not None
    k = np.arange(1, labels.shape[1] + 1)
    sse = dendrogram.sse(k)
    within = np.maximum(sse, _ROUNDING * sse[0])
    harabasz, bouldin, silhouette = np.full((3, len(k)), np.nan)
    harabasz[1:] = (sse[0] - sse[1:]) / (k[1:] - 1) / (within[1:] / np.maximum(features.weight.sum() - k[1:], 1))
    X = features.mean - features.total().mean  # only differences count; this keeps digits
    for count in k[1:]:
        column = labels[:, count - 1]
        mass = np.bincount(column, features.weight)
        shares = np.zeros((count, len(X)))
        shares[column, np.arange(len(X))] = features.weight / mass[column]
        centres = shares @ X
        squares = np.maximum((X**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * X @ centres.T, 0)
        squares += (features.sse / features.weight)[:, None]  # the points of a leaf scatter about its mean
        bouldin[count - 1] = _davies_bouldin(centres, np.sqrt(np.einsum("cm,mc->c", shares, squares)))
        silhouette[count - 1] = _silhouette(squares, column, features.weight)
    return {"Calinski-Harabasz": harabasz, "Davies-Bouldin": bouldin, "silhouette": silhouette}


def _davies_bouldin(centres: Floats, spreads: Floats) -> float:
    lengths = (centres**2).sum(axis=1)
    squares = lengths[:, None] + lengths - 2 * centres @ centres.T
    ratios = (spreads[:, None] + spreads) / np.sqrt(np.maximum(squares, _ROUNDING * squares.max()))
    np.fill_diagonal(ratios, 0)
    return float(ratios.max(axis=1).mean())


def _silhouette(squares: Floats, labels: Labels, weight: Floats) -> float:
    """The weighted mean of (b - a) / max(a, b) for the distances a to the own and b to the nearest other centre."""
    rows = np.arange(len(labels))
    own = np.sqrt(squares[rows, labels])
    others = squares.copy()
    others[rows, labels] = np.inf
    other = np.sqrt(others.min(axis=1))
    largest = np.maximum(np.maximum(own, other), np.finfo(np.float64).tiny)
    return float(np.average((other - own) / largest, weights=weight))


def resampling_scores(
    dendrogram: Dendrogram, labels: Labels, method: Method, mode: Mode, n_draws: int, random_state: int
) -> Scores:
    """The gap statistic and its error, and the stability of the clusters and that of uniform reference data."""
    features = dendrogram.features
    assert features is not None
    k = np.arange(1, labels.shape[1] + 1)
    random = np.random.default_rng(random_state)
    low, high = _box(features)
    reference_logs, stability, reference_stability = np.empty((3, n_draws, len(k)))
    for draw in range(n_draws):
        points = random.uniform(low, high, size=(len(features), len(low)))
        reference = _clustered(ClusterFeatures(random.permutation(features.weight), points, 0), method, mode)
        reference_logs[draw] = _log_sse(reference, k)
        reference_labels = reference.cut(n_clusters=k)
        reference_stability[draw] = _agreement(random, reference, reference_labels, method, mode)
        stability[draw] = _agreement(random, dendrogram, labels, method, mode)
    means = type(dendrogram)(dendrogram.Z, ClusterFeatures(features.weight, features.mean, 0))
    return {
        "gap": reference_logs.mean(axis=0) - _log_sse(means, k),
        "gap error": reference_logs.std(axis=0) * np.sqrt(1 + 1 / n_draws),
        "stability": stability.mean(axis=0),
        "reference stability": reference_stability.mean(axis=0),
    }


def _box(features: ClusterFeatures) -> tuple[Floats, Floats]:
    """The bounds of the means along their principal axes, without axes in which all are equal."""
    X = features.mean - features.total().mean
    axes = np.linalg.svd(np.sqrt(features.weight)[:, None] * X, full_matrices=False)[2]
    along = X @ axes.T
    low, high = along.min(axis=0), along.max(axis=0)
    wide = high - low > 1e-9 * (high - low).max()
    return low[wide], high[wide]


def _log_sse(dendrogram: Dendrogram, k: Labels) -> Floats:
    sse = dendrogram.sse(k)
    logs: Floats = np.log(np.maximum(sse, _ROUNDING * sse[0]))
    return logs


def _clustered(features: ClusterFeatures, method: Method, mode: Mode) -> Dendrogram:
    from .dendrogram import Dendrogram

    return Dendrogram(linkage(features, method, mode=mode), features)


def _agreement(
    random: np.random.Generator, dendrogram: Dendrogram, labels: Labels, method: Method, mode: Mode
) -> Floats:
    """For each cut, its agreement with that of a bootstrap sample of the features, on the features of the sample."""
    features = dendrogram.features
    assert features is not None
    times = random.multinomial(len(features), np.full(len(features), 1 / len(features)))
    drawn = np.flatnonzero(times)
    k_max = min(labels.shape[1], len(drawn))
    sample = ClusterFeatures(
        features.weight[drawn] * times[drawn], features.mean[drawn], features.sse[drawn] * times[drawn]
    )
    resampled = _clustered(sample, method, mode).cut(n_clusters=np.arange(1, k_max + 1))
    weight = features.weight[drawn]
    found = [adjusted_rand_index(a, b, weight) for a, b in zip(labels[drawn, :k_max].T, resampled.T, strict=True)]
    return np.array(found + [0.0] * (labels.shape[1] - k_max))


def adjusted_rand_index(a: Labels, b: Labels, weight: Floats) -> float:
    """The adjusted Rand index of two labellings of weighted objects, over all pairs of different objects."""
    joint = a * (b.max() + 1) + b

    def pairs(labels: Labels) -> float:
        return float((np.bincount(labels, weight) ** 2).sum() - (weight**2).sum())

    expected = pairs(a) * pairs(b) / max(pairs(np.zeros_like(a)), np.finfo(np.float64).tiny)
    best = (pairs(a) + pairs(b)) / 2
    return 1.0 if best <= expected else (pairs(joint) - expected) / (best - expected)
