"""Calls each library: one function for each task and implementation.

An adapter imports its library and does the work that is not measured. Only `run` is timed; afterwards `describe` turns
its result into values for the raw row. Every library gets its fastest settings for the same work.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import data, on_gpu, partition
from .jobs import MACHINE, Job
from .work import Work

Adapter = Callable[[NDArray, Job], Work]
ADAPTERS: dict[tuple[str, str], Adapter] = {}


def adapter(task: str, implementation: str) -> Callable[[Adapter], Adapter]:
    def register(function: Adapter) -> Adapter:
        ADAPTERS[task, implementation] = function
        return function

    return register


# -- linkage: the whole dendrogram of points


def _linkage(run: Callable[[], NDArray], X: NDArray) -> Work:
    """The work of a library that returns scipy's Z."""

    def describe(Z: NDArray) -> dict[str, Any]:
        clusters = cluster_count(len(X))
        labels = partition.cut(Z, len(X), clusters)
        return {"heights": Z[:, 2], "clusters": clusters, "rmsd": partition.rmsd(X, labels)}

    return Work(run, describe)


@adapter("linkage", "silverbirch")
def silverbirch_linkage(X: NDArray, job: Job) -> Work:
    import silverbirch

    if job.device != "cpu":
        return on_gpu.silverbirch_linkage(X, job)
    return _linkage(lambda: silverbirch.linkage(X, job.method, n_jobs=job.threads), X)


@adapter("linkage", "silverbirch, CPU")
def silverbirch_linkage_on_cpu(X: NDArray, job: Job) -> Work:
    """All cores, where the other libraries of the suite have a GPU."""
    import silverbirch

    return _linkage(lambda: silverbirch.linkage(X, job.method, n_jobs=-1), X)


@adapter("linkage", "torch")
def torch_linkage(X: NDArray, job: Job) -> Work:
    return on_gpu.torch_linkage(X, job)


@adapter("product", "silverbirch")
def silverbirch_product(X: NDArray, job: Job) -> Work:
    return on_gpu.silverbirch_product(X)


@adapter("product", "torch")
def torch_product(X: NDArray, job: Job) -> Work:
    return on_gpu.torch_product(X)


@adapter("first call", "silverbirch")
def silverbirch_first_call(X: NDArray, job: Job) -> Work:
    return on_gpu.first_call(X)


@adapter("linkage", "scipy")
def scipy_linkage(X: NDArray, job: Job) -> Work:
    from scipy.cluster.hierarchy import linkage

    return _linkage(lambda: linkage(X, job.method), X)


@adapter("linkage", "fastcluster")
def fastcluster_linkage(X: NDArray, job: Job) -> Work:
    import fastcluster

    return _linkage(lambda: fastcluster.linkage(X, job.method), X)


@adapter("linkage", "fastcluster.linkage_vector")
def fastcluster_linkage_vector_linkage(X: NDArray, job: Job) -> Work:
    import fastcluster

    return _linkage(lambda: fastcluster.linkage_vector(X, job.method), X)


@adapter("linkage", "scikit-learn")
def sklearn_linkage(X: NDArray, job: Job) -> Work:
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(n_clusters=2, linkage=job.method, compute_full_tree=True, compute_distances=True)

    def describe(model: AgglomerativeClustering) -> dict[str, Any]:
        return _linkage(model.fit, X).describe(np.column_stack([model.children_, model.distances_]))

    return Work(lambda: model.fit(X), describe)


@adapter("linkage", "genieclust")
def genieclust_linkage(X: NDArray, job: Job) -> Work:
    """Genie without its correction for inequality is single linkage."""
    from genieclust import Genie

    clusters = cluster_count(len(X))

    def describe(model: Genie) -> dict[str, Any]:
        return {"heights": model.distances_, "clusters": clusters, "rmsd": partition.rmsd(X, model.labels_)}

    # A new model each time: it keeps its spanning tree.
    return Work(lambda: Genie(n_clusters=clusters, gini_threshold=1.0).fit(X), describe)


@adapter("linkage", "quitefastmst")
def quitefastmst_linkage(X: NDArray, job: Job) -> Work:
    """The minimum spanning tree; sorting its n edges would give single linkage."""
    from quitefastmst import mst_euclid, omp_set_num_threads

    omp_set_num_threads(job.threads)

    def describe(tree: tuple[NDArray, NDArray]) -> dict[str, Any]:
        order = np.argsort(tree[0])
        clusters = cluster_count(len(X))
        labels = partition.cut_spanning_tree(tree[1][order], len(X), clusters)
        return {"heights": tree[0], "clusters": clusters, "rmsd": partition.rmsd(X, labels)}

    return Work(lambda: mst_euclid(X), describe)


@adapter("linkage", "betula-cluster")
def betula_cluster_linkage(X: NDArray, job: Job) -> Work:
    """One leaf for each point, so that nothing is aggregated. The library gives labels but no heights."""
    clusters = cluster_count(len(X))

    def describe(labels: NDArray) -> dict[str, Any]:
        return {"clusters": clusters, "rmsd": partition.rmsd(X, labels)}

    return Work(lambda: _betula_cluster(len(X), clusters, job.method).fit_predict(X), describe)


# -- features: the dendrogram of weighted cluster features


@adapter("features", "silverbirch")
def silverbirch_features(X: NDArray, job: Job) -> Work:
    import silverbirch

    features = silverbirch.ClusterFeatures(*_shared_features(X, job))
    clusters = _feature_cluster_count(X, job)

    def describe(Z: NDArray) -> dict[str, Any]:
        labels = partition.cut(Z, len(features), clusters)
        rmsd = partition.rmsd_of_features(features.weight, features.mean, features.sse, labels)
        return {"leaves": len(features), "heights": Z[:, 2], "clusters": clusters, "rmsd": rmsd}

    return Work(lambda: silverbirch.linkage(features, job.method, n_jobs=job.threads), describe)


@adapter("features", "betula-cluster")
def betula_cluster_features(X: NDArray, job: Job) -> Work:
    """partial_fit() without rows only clusters the leaves."""
    model = _betula_cluster(job.max_leaves, _feature_cluster_count(X, job), job.method).partial_fit(X)

    def describe(model: Any) -> dict[str, Any]:
        sizes, radii = np.asarray(model.cluster_sizes_), np.asarray(model.cluster_radii_)
        rmsd = float(np.sqrt((sizes * radii**2).sum() / sizes.sum()))
        return {"leaves": model.n_leaves_, "clusters": len(sizes), "rmsd": rmsd}

    return Work(model.partial_fit, describe, repeatable=False)


def _shared_features(X: NDArray, job: Job) -> tuple[NDArray, NDArray, NDArray]:
    """The features that all libraries cluster: betula-cluster's leaves if installed, because it takes no others."""
    try:
        model = _betula_cluster(job.max_leaves, 2, job.method).partial_fit(X)
    except ImportError:
        import silverbirch

        features = silverbirch.CFTree(max_leaves=job.max_leaves).insert(X).features
        return features.weight, features.mean, features.sse
    return _leaves_of_betula_cluster(model)


# -- tree: rows into leaves


def _tree(run: Callable[[], Any], leaves: Callable[[Any], tuple], X: NDArray, rebuilds: Callable[[Any], int]) -> Work:
    def describe(model: Any) -> dict[str, Any]:
        weight, mean, sse = leaves(model)
        row = {"leaves": len(mean), "nearest_mse": partition.nearest_mse(X, mean), "rebuilds": rebuilds(model)}
        return row if sse is None else row | {"leaf_sse": float(sse.sum() / weight.sum())}

    return Work(run, describe)


@adapter("tree", "silverbirch")
def silverbirch_tree(X: NDArray, job: Job) -> Work:
    """Builds the tree with the estimator, which clusters the leaves only when a result is used."""
    import silverbirch

    def leaves(model: Any) -> tuple:
        return model.features_.weight, model.features_.mean, model.features_.sse

    def run() -> Any:
        return silverbirch.Betula(max_leaves=job.max_leaves, n_jobs=job.threads).partial_fit(X)

    return _tree(run, leaves, X, lambda model: model.tree_.n_rebuilds)


@adapter("tree", "betula-cluster")
def betula_cluster_tree(X: NDArray, job: Job) -> Work:
    def run() -> Any:
        return _betula_cluster(job.max_leaves, 2).partial_fit(X)

    return _tree(run, _leaves_of_betula_cluster, X, lambda model: model.n_rebuilds_)


@adapter("tree", "betulars")
def betulars_tree(X: NDArray, job: Job) -> Work:
    """With its defaults: it descends by the distance of centroids and absorbs by it. It takes float64 only."""
    from betulars import Betula

    rows = np.ascontiguousarray(X, dtype=np.float64)

    def leaves(model: Any) -> tuple[NDArray, NDArray, NDArray]:
        clusters = model.leaf_clusters
        weight = np.array([cluster.size for cluster in clusters], dtype=np.float64)
        return weight, np.array([cluster.centroid for cluster in clusters]), np.array([c.ssd for c in clusters])

    return _tree(lambda: Betula(rows, maxleaves=job.max_leaves), leaves, X, lambda model: model.rebuild_count)


@adapter("tree", "scikit-learn")
def sklearn_tree(X: NDArray, job: Job) -> Work:
    """Birch has no limit on leaves, so it gets the final threshold of silverbirch, which is not timed."""
    from sklearn.cluster import Birch

    import silverbirch

    threshold = silverbirch.CFTree(max_leaves=job.max_leaves).insert(X).threshold

    def run() -> Birch:
        return Birch(threshold=max(threshold, 1e-9), n_clusters=None, compute_labels=False).fit(X)

    return _tree(run, lambda model: (None, model.subcluster_centers_, None), X, lambda model: 0)


# -- assign: the nearest leaf of each row, among the leaves of the first tenth of the rows


def _assign(run: Callable[[], NDArray], X: NDArray, centers: NDArray) -> Work:
    """Runs once: a second run could find an index built already."""

    def describe(leaf: NDArray) -> dict[str, Any]:
        chosen, nearest = partition.nearest_leaf(X, centers)
        return {"leaves": len(centers), "exact_share": float((np.asarray(leaf)[chosen] == nearest).mean())}

    return Work(run, describe, repeatable=False)


def _tree_of_tenth(X: NDArray, job: Job) -> Any:
    import silverbirch

    return silverbirch.CFTree(max_leaves=job.max_leaves).insert(X[: max(1, len(X) // 10)])


@adapter("assign", "silverbirch")
def silverbirch_assign(X: NDArray, job: Job) -> Work:
    tree = _tree_of_tenth(X, job)
    return _assign(lambda: tree.assign(X, n_jobs=job.threads), X, tree.features.mean)


@adapter("assign", "scipy.cKDTree")
def ckdtree_assign(X: NDArray, job: Job) -> Work:
    """Searches the same leaves."""
    from scipy.spatial import cKDTree

    centers = _tree_of_tenth(X, job).features.mean
    return _assign(lambda: cKDTree(centers).query(X, workers=job.threads)[1], X, centers)


@adapter("assign", "betula-cluster")
def betula_cluster_assign(X: NDArray, job: Job) -> Work:
    """The descent of its own tree that its predict makes, without the label of the leaf."""
    model = _betula_cluster(job.max_leaves, 2).partial_fit(X[: max(1, len(X) // 10)])
    return _assign(lambda: model.assign_microclusters(X), X, model.microcluster_centers_)


# -- whole: from rows to labels of all rows


def _whole(run: Callable[[], NDArray], X: NDArray, clusters: int) -> Work:
    return Work(run, lambda labels: {"clusters": clusters, "rmsd": partition.rmsd(X, labels)}, repeatable=False)


@adapter("whole", "silverbirch")
def silverbirch_whole(X: NDArray, job: Job) -> Work:
    import silverbirch

    clusters = cluster_count(len(X))
    model = silverbirch.Betula(clusters, linkage=job.method, max_leaves=job.max_leaves, n_jobs=job.threads)
    return _whole(lambda: model.fit(X).labels_, X, clusters)


@adapter("whole", "betula-cluster")
def betula_cluster_whole(X: NDArray, job: Job) -> Work:
    clusters = cluster_count(len(X))
    return _whole(lambda: _betula_cluster(job.max_leaves, clusters, job.method).fit_predict(X), X, clusters)


# -- stream: rows that are generated chunk by chunk


@adapter("stream", "silverbirch")
def silverbirch_stream(X: NDArray, job: Job) -> Work:
    from time import process_time

    import silverbirch

    model = silverbirch.Betula(cluster_count(job.rows), max_leaves=job.max_leaves, n_jobs=job.threads)
    seconds = {"tree_cpu": 0.0, "linkage_cpu": 0.0}

    def run() -> Any:
        for chunk in data.cheap_mixture(job.rows, job.columns, data.CHUNK):
            begin = process_time()
            model.partial_fit(chunk)
            seconds["tree_cpu"] += process_time() - begin
        begin = process_time()
        model.dendrogram_  # noqa: B018  computed on first use
        seconds["linkage_cpu"] += process_time() - begin
        return model

    def describe(model: Any) -> dict[str, Any]:
        chunk = data.CHUNK * job.columns * 4 / 1e6
        clusters = model.n_clusters_
        quality = {"clusters": clusters, "rmsd": model.dendrogram_.rmsd(clusters)}
        return seconds | quality | {"leaves": len(model.features_), "chunk_mb": chunk}

    return Work(run, describe, repeatable=False)


# -- the machine itself


@adapter("loops", MACHINE)
def loops(X: NDArray, job: Job) -> Work:
    """A process for each thread, all with the same pure loop."""
    from multiprocessing import Pool

    pool = Pool(job.threads)
    return Work(lambda: pool.map(_loop, [5_000_000] * job.threads, chunksize=1), lambda result: {})


def _loop(count: int) -> None:
    for _ in range(count):
        pass


@adapter("copy", MACHINE)
def copy(X: NDArray, job: Job) -> Work:
    from concurrent.futures import ThreadPoolExecutor

    target, threads = np.zeros_like(X), ThreadPoolExecutor(job.threads)
    pieces = list(zip(np.array_split(target, job.threads), np.array_split(X, job.threads), strict=True))
    return Work(lambda: list(threads.map(lambda piece: np.copyto(*piece), pieces)), lambda result: {})


# -- shared


def cluster_count(objects: int) -> int:
    """The number of clusters: 500, or a tenth of the objects if that is less."""
    return max(1, min(500, objects // 10))


def _feature_cluster_count(X: NDArray, job: Job) -> int:
    """The number of clusters, chosen before the leaves are known: a tree has at least half of max_leaves."""
    return cluster_count(min(job.max_leaves, len(X)) // 2)


def _betula_cluster(max_leaves: int, clusters: int, method: str = "ward") -> Any:
    """The model of betula-cluster with its defaults and spherical features, the cheapest that Ward can use."""
    from betula_cluster import Betula

    return Betula(n_clusters=clusters, method=method, feature="spherical", max_leaves=max_leaves)


def _leaves_of_betula_cluster(model: Any) -> tuple[NDArray, NDArray, NDArray]:
    weight = np.asarray(model.microcluster_weights_, dtype=np.float64)
    mean = np.asarray(model.microcluster_centers_, dtype=np.float64)
    return weight, mean, weight * np.asarray(model.microcluster_radii_, dtype=np.float64) ** 2
