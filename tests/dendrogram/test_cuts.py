"""Adaptive cuts: compared with scipy, scikit-learn's HDBSCAN and brute force over sets of leaves."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import silverbirch as sb
from dendrograms import CHAIN, by_weight, chain, points, seeds, some

METHODS = ["single", "average", "ward"]
CUTS = {
    "n_clusters and min_size": {"n_clusters": 3, "min_size": 4},
    "height and min_size": {"height": 1.0, "min_size": 4},
    "max_size": {"max_size": 12},
    "both sizes": {"n_clusters": 2, "min_size": 4, "max_size": 15},
    "eom": {"method": "eom", "min_size": 4},
    "eom and max_size": {"method": "eom", "min_size": 4, "max_size": 15},
    "dynamic": {"method": "dynamic", "min_size": 4},
}


def weighted(seed, n=50, largest=4):
    """Rows in five groups, with whole weights."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, 2)) + 8 * random.normal(size=(5, 2))[random.integers(0, 5, n)]
    return rows, random.integers(1, largest, n).astype(float)


def of_features(rows, weight, method):
    return sb.Dendrogram(sb.linkage(rows, method, weights=weight), sb.ClusterFeatures(weight, rows, 0))


def cut_if_possible(dendrogram, arguments, **more):
    """The labels; None where there are not as many clusters of min_size."""
    try:
        return dendrogram.cut(**arguments, **more)
    except ValueError as error:
        if "clusters weigh min_size" in str(error):
            return None
        raise


# -- what holds for every cut


@pytest.mark.parametrize("arguments", CUTS.values(), ids=CUTS.keys())
@pytest.mark.parametrize("method", [*METHODS, "centroid"])
@some
@given(seed=seeds)
def test_clusters_are_whole_branches_of_the_sizes_asked_for(method, arguments, seed):
    rows, weight = weighted(seed)
    dendrogram = of_features(rows, weight, method)
    labels = cut_if_possible(dendrogram, arguments, noise=True)
    if labels is None:
        return
    assert labels.min() >= -1
    inside = labels >= 0
    np.testing.assert_array_equal(labels[inside], by_weight(labels[inside], weight[inside]) if inside.any() else [])
    sizes = dendrogram.weights[dendrogram.nodes(labels)]  # raises an error unless each cluster is a whole branch
    assert (sizes >= arguments.get("min_size", 0)).all()
    assert (sizes <= arguments.get("max_size", math.inf)).all()
    if "n_clusters" in arguments and "max_size" not in arguments:
        assert len(sizes) == arguments["n_clusters"]


@pytest.mark.parametrize("arguments", CUTS.values(), ids=CUTS.keys())
@some
@given(seed=seeds)
def test_leaves_that_join_clusters_are_those_that_were_noise(arguments, seed):
    rows, weight = weighted(seed)
    dendrogram = of_features(rows, weight, "single")
    with_noise, labels = (cut_if_possible(dendrogram, arguments, noise=noise) for noise in (True, False))
    if labels is None:
        return
    assert labels.min() == 0
    np.testing.assert_array_equal(labels, by_weight(labels, weight))
    inside = with_noise >= 0
    assert labels.max() == max(with_noise.max(), 0)
    assert not inside.any() or adjusted_rand_score(with_noise[inside], labels[inside]) == 1


@pytest.mark.parametrize("arguments", CUTS.values(), ids=CUTS.keys())
@some
@given(seed=seeds)
def test_a_leaf_joins_the_heaviest_cluster_of_the_first_branch_that_has_one(arguments, seed):
    rows, weight = weighted(seed)
    dendrogram = of_features(rows, weight, "average")
    with_noise, labels = (cut_if_possible(dendrogram, arguments, noise=noise) for noise in (True, False))
    if labels is None or with_noise.max() < 0:
        return
    below = [{i} for i in range(len(rows))]
    for left, right in dendrogram.Z[:, :2].astype(int):
        below.append(below[left] | below[right])
    for leaf in np.flatnonzero(with_noise < 0):
        branches = (sorted(below[node]) for node in dendrogram.path(leaf).nodes)
        met = next(found for branch in branches if (found := with_noise[branch][with_noise[branch] >= 0]).size)
        member = np.flatnonzero(with_noise == met.min())[0]  # labels ascend as weights descend
        assert labels[leaf] == labels[member]


@pytest.mark.parametrize("arguments", CUTS.values(), ids=CUTS.keys())
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", [True, False])
@some
@given(seed=seeds)
def test_a_leaf_of_weight_w_is_the_same_as_w_leaves_at_height_zero(method, arguments, noise, seed):
    rows, weight = weighted(seed, n=30)
    copies = np.repeat(np.arange(30), weight.astype(int))
    labels = cut_if_possible(of_features(rows, weight, method), arguments, noise=noise)
    expanded = cut_if_possible(sb.Dendrogram(sb.linkage(rows[copies], method)), arguments, noise=noise)
    if labels is None:
        assert expanded is None
    else:
        np.testing.assert_array_equal(labels[copies], expanded)


@pytest.mark.parametrize("arguments", CUTS.values(), ids=CUTS.keys())
def test_deep_dendrograms_are_cut_without_recursion(arguments):
    labels = cut_if_possible(sb.Dendrogram(chain(CHAIN)), arguments)
    assert labels is None or labels.shape == (CHAIN,)


@pytest.mark.parametrize("arguments", CUTS.values(), ids=CUTS.keys())
def test_one_leaf_is_one_cluster_or_noise(arguments):
    leaf = sb.Dendrogram(np.empty((0, 4)), sb.ClusterFeatures([9.0], [[1.0]], 3.0))
    if "n_clusters" not in arguments:
        assert leaf.cut(**arguments).tolist() == [0]


@pytest.mark.parametrize("arguments", CUTS.values(), ids=CUTS.keys())
def test_equal_rows_are_cut_without_a_warning(arguments):
    labels = cut_if_possible(sb.Dendrogram(sb.linkage(np.ones((40, 2)), "single"), np.ones((40, 2))), arguments)
    assert labels is None or labels.min() >= 0


# -- one level


@pytest.mark.parametrize("method", METHODS)
@some
@given(seed=seeds, n_clusters=st.integers(1, 6), min_size=st.integers(1, 8))
def test_clusters_of_min_size_are_those_of_the_first_cut_that_has_as_many(method, seed, n_clusters, min_size):
    Z = hierarchy.linkage(points(40, 2, seed), method)
    partitions = hierarchy.cut_tree(Z)[:, ::-1].T  # entry i has i + 1 clusters
    heavy = [(np.bincount(labels) >= min_size).sum() for labels in partitions]
    dendrogram = sb.Dendrogram(Z)
    if max(heavy) < n_clusters:
        with pytest.raises(ValueError, match=f"at most {max(heavy)} clusters weigh min_size={min_size}"):
            dendrogram.cut(n_clusters, min_size=min_size)
        return
    labels = partitions[heavy.index(n_clusters)]
    inside = np.bincount(labels)[labels] >= min_size
    found = dendrogram.cut(n_clusters, min_size=min_size, noise=True)
    np.testing.assert_array_equal(found >= 0, inside)
    np.testing.assert_array_equal(found[inside], by_weight(labels[inside]))


@pytest.mark.parametrize("method", METHODS)
@some
@given(seed=seeds, height=st.floats(0.1, 4), min_size=st.integers(1, 8))
def test_at_a_height_light_clusters_of_fcluster_are_noise(method, seed, height, min_size):
    Z = hierarchy.linkage(points(40, 2, seed), method)
    labels = hierarchy.fcluster(Z, height, "distance")
    inside = np.bincount(labels)[labels] >= min_size
    found = sb.Dendrogram(Z).cut(height=height, min_size=min_size, noise=True)
    np.testing.assert_array_equal(found >= 0, inside)
    np.testing.assert_array_equal(found[inside], by_weight(labels[inside]) if inside.any() else [])


@pytest.mark.parametrize("method", METHODS)
@some
@given(seed=seeds, n_clusters=st.integers(1, 6), max_size=st.integers(1, 20))
def test_clusters_above_max_size_are_split_into_the_largest_branches_that_are_not(method, seed, n_clusters, max_size):
    Z = hierarchy.linkage(points(40, 2, seed), method)
    below = [{leaf} for leaf in range(40)]
    for left, right in Z[:, :2].astype(int):
        below.append(below[left] | below[right])
    allowed = [branch for i, branch in enumerate(below) if i < 80 - n_clusters and len(branch) <= max_size]
    largest = {frozenset(max((b for b in allowed if leaf in b), key=len)) for leaf in range(40)}
    labels = sb.Dendrogram(Z).cut(n_clusters, max_size=max_size)
    assert {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)} == largest


def test_a_leaf_heavier_than_max_size_stays_whole():
    features = sb.ClusterFeatures([9.0, 1.0, 1.0], [[0.0], [5.0], [6.0]], 0)
    assert sb.Dendrogram(sb.linkage(features, "ward"), features).cut(max_size=3).tolist() == [0, 1, 1]


def test_lists_with_sizes_are_the_cuts_of_each_number():
    dendrogram = of_features(*weighted(1), "ward")
    for name, values in (("n_clusters", [2, 5, 3]), ("height", [2.0, 9.0])):
        labels = dendrogram.cut(**{name: values}, min_size=3, noise=True)
        for column, value in zip(labels.T, values, strict=True):
            np.testing.assert_array_equal(column, dendrogram.cut(**{name: value}, min_size=3, noise=True))


# -- excess of mass


def blobs_in_noise():
    spreads = [0.3, 0.5, 1, 0.2, 0.8, 0.4]
    blobs = make_blobs(300, centers=6, cluster_std=spreads, random_state=5)[0]
    return np.concatenate([blobs, np.random.default_rng(0).uniform(-12, 12, size=(100, 2))])


DENSITIES = {
    "blobs": make_blobs(300, centers=5, random_state=1)[0],
    "moons": make_moons(400, noise=0.08, random_state=2)[0],
    "uniform": np.random.default_rng(0).uniform(size=(300, 2)),
    "blobs in noise": blobs_in_noise(),
    "eight columns": make_blobs(300, 8, centers=4, random_state=3)[0],
}


@pytest.mark.parametrize("max_size", [None, 60])
@pytest.mark.parametrize("min_size", [5, 10, 25])
@pytest.mark.parametrize("rows", DENSITIES.values(), ids=DENSITIES.keys())
def test_excess_of_mass_on_the_tree_of_hdbscan_gives_its_clusters_and_its_noise(rows, min_size, max_size):
    theirs = HDBSCAN(min_cluster_size=min_size, max_cluster_size=max_size, algorithm="brute", copy=True).fit(rows)
    tree = theirs._single_linkage_tree_
    Z = np.column_stack([tree[name] for name in ("left_node", "right_node", "value", "cluster_size")]).astype(float)
    labels = sb.Dendrogram(Z).cut(method="eom", min_size=min_size, max_size=max_size, noise=True)
    np.testing.assert_array_equal(labels < 0, theirs.labels_ < 0)
    assert adjusted_rand_score(labels, theirs.labels_) == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("max_leaves", [1000, 300])
def test_excess_of_mass_of_aggregated_leaves_is_close_to_that_of_their_rows(seed, max_leaves):
    centres, spreads = [[0, 0], [2.5, 0], [9, 1], [2, 7]], [0.25, 0.25, 1.3, 0.5]
    rows = make_blobs([900, 900, 1200, 500], centers=centres, cluster_std=spreads, random_state=seed)[0]
    exact = sb.Dendrogram(sb.linkage(rows, "single")).cut(method="eom", min_size=100, noise=True)
    assert exact.max() == 3
    tree = sb.CFTree(max_leaves=max_leaves).insert(rows)
    dendrogram = sb.Dendrogram(sb.linkage(tree.features, "single"), tree.features)
    labels = dendrogram.cut(method="eom", min_size=100, noise=True)[tree.assign(rows)]
    assert adjusted_rand_score(exact, labels) > 0.97


# -- dynamic tree cut


def dynamic_by_brute_force(Z, min_size):
    """The clusters as sets of leaves, from the definition, for leaves of weight 1."""
    n, heights = len(Z) + 1, np.sort(Z[:, 2])
    low = heights[math.ceil(0.05 * (n - 1)) - 1]
    top = low + 0.99 * (heights[-1] - low)
    first_merge = {int(leaf): row[2] for row in Z for leaf in row[:2] if leaf < n}

    def distinct(branch, height):
        size = len(branch)
        if size < min_size:
            return False
        core = min(min_size / 2 + math.sqrt(size - min_size / 2), size)
        joined = sorted(first_merge[leaf] for leaf in branch)
        whole = int(core)
        scatter = (sum(joined[:whole]) + (core - whole) * (joined[whole] if whole < size else 0)) / core
        return scatter < low + 0.73 * (top - low) and height - scatter >= 0.75 * 0.27 * (top - low)

    branches = [({leaf}, None) for leaf in range(n)]  # the leaves, and the clusters if there are any
    for left, right, height, _ in Z:
        pair = [branches[int(left)], branches[int(right)]]
        apart = height > top or any(clusters is not None for _, clusters in pair)
        if not apart and not all(distinct(leaves, height) for leaves, _ in pair):
            found = None
        else:
            found = []
            for leaves, clusters in pair:
                found += clusters if clusters is not None else [leaves] if distinct(leaves, min(height, top)) else []
        branches.append((pair[0][0] | pair[1][0], found))
    return {frozenset(cluster) for cluster in branches[-1][1] or []}


@pytest.mark.parametrize("method", METHODS)
@some
@given(seed=seeds, min_size=st.integers(2, 12))
def test_the_dynamic_cut_follows_its_definition(method, seed, min_size):
    rows, _ = weighted(seed, n=80)
    Z = hierarchy.linkage(rows, method)
    labels = sb.Dendrogram(Z).cut(method="dynamic", min_size=min_size, noise=True)
    found = {frozenset(np.flatnonzero(labels == label).tolist()) for label in range(labels.max() + 1)}
    assert found == dynamic_by_brute_force(Z, min_size)


@pytest.mark.parametrize("method", METHODS)
def test_the_dynamic_cut_finds_separated_groups_of_unequal_spread(method):
    rows, truth = make_blobs([40, 60, 80], centers=[[0, 0], [30, 0], [0, 30]], cluster_std=[0.5, 1, 2], random_state=0)
    labels = sb.Dendrogram(sb.linkage(rows, method)).cut(method="dynamic", min_size=20)
    assert adjusted_rand_score(labels, truth) == 1


# -- arguments


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"min_size": 3}, ValueError, "either n_clusters or height"),
        ({"method": "eom"}, ValueError, "method='eom' needs min_size"),
        ({"method": "dynamic"}, ValueError, "method='dynamic' needs min_size"),
        ({"method": "eom", "min_size": 3, "n_clusters": 2}, ValueError, "leave n_clusters and height out"),
        ({"method": "dynamic", "min_size": 3, "height": 2}, ValueError, "leave n_clusters and height out"),
        ({"method": "dynamic", "min_size": 3, "max_size": 9}, ValueError, "takes no max_size"),
        ({"method": "leaf", "min_size": 3}, ValueError, "method='leaf': must be one of"),
        ({"n_clusters": 2, "min_size": 5, "max_size": 9}, ValueError, "less than twice min_size=5"),
        ({"n_clusters": 2, "min_size": 0}, ValueError, "min_size=0"),
        ({"n_clusters": 2, "max_size": np.nan}, ValueError, "max_size=nan"),
        ({"n_clusters": 2, "max_size": "ten"}, TypeError, "max_size='ten'"),
        ({"n_clusters": 2, "noise": "yes"}, TypeError, "noise='yes'"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused_by_name(arguments, error, message):
    with pytest.raises(error, match=message):
        sb.Dendrogram(chain(20)).cut(**arguments)
