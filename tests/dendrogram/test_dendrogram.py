"""Dendrogram: checks of the input, and cuts compared with scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy

import silverbirch as sb
from dendrograms import LINKAGES, MONOTONE, by_weight, chain, points, seeds, some


@pytest.mark.parametrize("method", ["minimax", "medoid"])
def test_prototypes_are_carried_from_the_linkage(method):
    Z = sb.linkage(points(), method)
    dendrogram = sb.Dendrogram(Z)
    np.testing.assert_array_equal(dendrogram.prototypes, Z.prototypes)
    assert dendrogram.prototypes.shape == (59,)
    below = [{i} for i in range(60)]
    for (left, right), prototype in zip(Z[:, :2].astype(int), dendrogram.prototypes, strict=True):
        below.append(below[left] | below[right])
        assert int(prototype) in below[-1]


def test_other_linkages_have_no_prototypes():
    assert sb.Dendrogram(sb.linkage(points(), "ward")).prototypes is None


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, np.ndarray.tolist, lambda Z: Z.astype(np.float32)])
def test_a_matrix_from_scipy_is_accepted_in_any_form(kind):
    Z = chain(8)
    dendrogram = sb.Dendrogram(kind(Z))
    np.testing.assert_array_equal(dendrogram.Z, Z)
    assert dendrogram.n_leaves == 8


def test_the_matrix_is_copied():
    Z = chain(5)
    dendrogram = sb.Dendrogram(Z)
    Z[:] = 0
    np.testing.assert_array_equal(dendrogram.Z, chain(5))


def with_entry(row, column, value):
    Z = chain(5)
    Z[row, column] = value
    return Z


BAD_MATRICES = {
    "three columns": chain(5)[:, :3],
    "one dimension": chain(5).ravel(),
    "three dimensions": chain(5)[None],
    "forward reference": with_entry(0, 1, 6),
    "own row": with_entry(0, 1, 5),
    "a leaf that is not there": with_entry(3, 0, 11),
    "a leaf merged twice": with_entry(1, 0, 0),
    "a row merged twice": with_entry(2, 1, 5),
    "itself merged with itself": with_entry(0, 0, 0),
    "negative number": with_entry(0, 0, -1),
    "half a number": with_entry(0, 0, 0.5),
    "NaN height": with_entry(1, 2, np.nan),
    "infinite height": with_entry(1, 2, np.inf),
    "NaN number": with_entry(1, 0, np.nan),
    "strings": [["a"] * 4],
}


@pytest.mark.parametrize("Z", BAD_MATRICES.values(), ids=BAD_MATRICES.keys())
def test_what_is_not_a_linkage_matrix_is_refused(Z):
    with pytest.raises(ValueError):
        sb.Dendrogram(Z)


def test_a_matrix_that_counts_more_leaves_than_there_are_is_refused_as_in_scipy():
    assert not hierarchy.is_valid_linkage(with_entry(3, 3, 17))
    with pytest.raises(ValueError):
        sb.Dendrogram(with_entry(3, 3, 17))


@pytest.mark.parametrize("count", [1, 4, 6])
def test_features_that_do_not_belong_to_the_matrix_are_refused(count):
    with pytest.raises(ValueError, match=f"5 leaves but there are {count} features"):
        sb.Dendrogram(chain(5), points(count))


def test_one_leaf_is_a_dendrogram(tmp_path):
    dendrogram = sb.Dendrogram(np.empty((0, 4)), sb.ClusterFeatures([3.0], [[1.0, 2.0]], [12.0]))
    assert dendrogram.n_leaves == 1
    assert dendrogram.cut(n_clusters=1).tolist() == dendrogram.cut(height=0.0).tolist() == [0]
    assert dendrogram.sse(1) == 12
    assert dendrogram.rmsd(1) == 2
    assert dendrogram.weights.tolist() == [3]
    assert dendrogram.to_newick() == "0;"
    assert dendrogram.cophenetic().shape == (0,)
    assert dendrogram.cophenetic(0, 0) == 0
    assert dendrogram.to_networkx().number_of_nodes() == 1
    assert len(dendrogram.plot().get_xticks()) == 1
    dendrogram.to_html(tmp_path / "page.html")
    with pytest.raises(ValueError, match="n_clusters=2 but there are 1 leaves"):
        dendrogram.cut(n_clusters=2)


def test_a_matrix_spoilt_afterwards_is_refused_not_followed():
    dendrogram = sb.Dendrogram(chain(5), np.arange(5.0)[:, None])
    dendrogram.Z[:, 0] = 1e12
    for spoilt in (lambda: dendrogram.cut(n_clusters=1), lambda: dendrogram.cut(height=3), lambda: dendrogram.rmsd(2)):
        with pytest.raises(ValueError, match="not a linkage matrix"):
            spoilt()


def test_k_may_be_of_any_integer_type():
    dendrogram = sb.Dendrogram(chain(300), np.arange(300.0)[:, None])
    np.testing.assert_array_equal(dendrogram.sse(np.array([3], dtype=np.uint8)), dendrogram.sse([3]))


# -- cutting


@pytest.mark.parametrize("method", [*LINKAGES, "minimax", "medoid"])
def test_cut_gives_exactly_k_nested_clusters_numbered_by_weight(method):
    dendrogram = sb.Dendrogram(sb.linkage(points(), method))
    finer = None
    for k in range(60, 0, -1):
        labels = dendrogram.cut(n_clusters=k)
        assert labels.shape == (60,)
        assert len(np.unique(labels)) == k
        np.testing.assert_array_equal(labels, by_weight(labels))
        if finer is not None:
            assert len({*zip(finer.tolist(), labels.tolist(), strict=True)}) == k + 1
        finer = labels


@pytest.mark.parametrize("method", LINKAGES)
def test_cut_into_k_keeps_all_but_the_last_merges(method):
    Z = hierarchy.linkage(points(), method)
    below = [[leaf] for leaf in range(60)]
    labels = np.arange(60)
    for k, (left, right) in zip(range(59, 0, -1), Z[:, :2].astype(int), strict=True):
        below.append(below[left] + below[right])
        labels[below[-1]] = min(below[-1])
        np.testing.assert_array_equal(sb.Dendrogram(Z).cut(n_clusters=k), by_weight(labels))


@pytest.mark.parametrize("method", MONOTONE)
def test_cut_into_k_is_the_partition_of_cut_tree(method):
    Z = hierarchy.linkage(points(), method)
    expected = hierarchy.cut_tree(Z)  # column i: the clusters after i merges; wrong in scipy where there are inversions
    for k in range(1, 61):
        np.testing.assert_array_equal(sb.Dendrogram(Z).cut(n_clusters=k), by_weight(expected[:, 60 - k]))


@pytest.mark.parametrize("method", MONOTONE)
def test_cut_into_k_is_the_partition_of_fcluster_maxclust_where_nothing_ties(method):
    Z = sb.linkage(points(), method)
    for k in range(1, 61):
        expected = hierarchy.fcluster(Z, k, "maxclust")
        np.testing.assert_array_equal(sb.Dendrogram(Z).cut(n_clusters=k), by_weight(expected))


@pytest.mark.parametrize("method", LINKAGES)
@some
@given(seed=seeds, ties=st.booleans())
def test_cut_at_a_height_is_the_partition_of_fcluster(method, seed, ties):
    rows = points(40, 2, seed)
    Z = hierarchy.linkage(np.round(rows) if ties else rows, method)
    dendrogram = sb.Dendrogram(Z)
    heights = np.concatenate([Z[::4, 2], Z[::4, 2] * 0.999, [-1.0, 0.0, Z[:, 2].max() * 2, np.inf]])
    for height in heights:
        expected = by_weight(hierarchy.fcluster(Z, height, "distance"))
        np.testing.assert_array_equal(dendrogram.cut(height=height), expected)


def random_tree(n, seed):
    """A random topology with random heights: many inversions and ties."""
    rng = np.random.default_rng(seed)
    alive, count, Z = list(range(n)), [1] * n, []
    for _ in range(n - 1):
        left, right = (alive.pop(rng.integers(len(alive))) for _ in range(2))
        count.append(count[left] + count[right])
        alive.append(len(count) - 1)
        Z.append([left, right, rng.integers(1, n), count[-1]])
    return np.array(Z, dtype=float)


@some
@given(seed=seeds)
def test_cut_of_any_inversions_is_the_partition_of_fcluster(seed):
    Z = random_tree(20, seed)
    dendrogram = sb.Dendrogram(Z)
    for height in range(21):
        expected = by_weight(hierarchy.fcluster(Z, height, "distance"))
        np.testing.assert_array_equal(dendrogram.cut(height=height), expected)
    np.testing.assert_array_equal(dendrogram.cophenetic(), hierarchy.cophenet(Z))
    np.testing.assert_array_equal(dendrogram.cophenetic(*np.triu_indices(20, 1)), hierarchy.cophenet(Z))


@pytest.mark.parametrize("method", MONOTONE)
def test_cuts_into_several_numbers_are_the_partitions_of_cut_tree(method):
    Z = hierarchy.linkage(points(), method)
    counts = [7, 1, 60, 2, 7]
    labels = sb.Dendrogram(Z).cut(n_clusters=counts)
    expected = np.hstack([hierarchy.cut_tree(Z, [k]) for k in counts])
    np.testing.assert_array_equal(labels, np.apply_along_axis(by_weight, 0, expected))
    np.testing.assert_array_equal(sb.Dendrogram(Z).cut(n_clusters=np.array(counts)), labels)


@some
@given(seed=seeds, k=st.integers(1, 30))
def test_clusters_are_numbered_by_the_weight_of_their_features(seed, k):
    rows, weight = points(30, seed=seed), np.random.default_rng(seed).integers(1, 4, 30).astype(float)
    features = sb.ClusterFeatures(weight, rows, 0)
    Z = sb.linkage(features, "ward")
    labels = sb.Dendrogram(Z, features).cut(n_clusters=k)
    np.testing.assert_array_equal(labels, by_weight(labels, weight))
    np.testing.assert_array_equal(labels, by_weight(sb.Dendrogram(Z).cut(n_clusters=k), weight))
    assert (np.diff(np.bincount(labels, weight)) <= 0).all()


@some
@given(seed=seeds, heights=st.lists(st.integers(0, 21), max_size=5))
def test_cuts_at_several_heights_are_the_cuts_at_each(seed, heights):
    dendrogram = sb.Dendrogram(random_tree(20, seed))
    labels = dendrogram.cut(height=heights)
    assert labels.shape == (20, len(heights))
    for column, height in zip(labels.T, heights, strict=True):
        np.testing.assert_array_equal(column, dendrogram.cut(height=height))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": [2, 0]}, "n_clusters=0"),
        ({"n_clusters": [2, 9]}, "n_clusters=9 but there are 5 leaves"),
        ({"n_clusters": [[2]]}, "must be a number or a list"),
        ({"height": [[1.0]]}, "must be a number or a list"),
        ({"height": [1.0, np.nan]}, "height=nan"),
    ],
)
def test_lists_to_cut_by_are_checked_one_by_one(arguments, message):
    with pytest.raises(ValueError, match=message):
        sb.Dendrogram(chain(5)).cut(**arguments)


@pytest.mark.parametrize("arguments", [{}, {"n_clusters": 2, "height": 1.0}])
def test_cut_takes_one_of_n_clusters_and_height(arguments):
    with pytest.raises(ValueError, match=r"n_clusters.*height"):
        sb.Dendrogram(chain(5)).cut(**arguments)


@pytest.mark.parametrize("k", [0, -1, 6, True, 2.0, "2", np.nan])
@pytest.mark.parametrize("ask", ["cut", "sse", "rmsd", "plot"])
def test_numbers_of_clusters_out_of_range_are_refused_by_value(ask, k):
    dendrogram = sb.Dendrogram(chain(5), points(5))
    with pytest.raises((ValueError, TypeError), match="n_clusters"):
        getattr(dendrogram, ask)(**{"k" if ask in ("sse", "rmsd") else "n_clusters": k})


def test_more_clusters_than_leaves_says_how_many_there_are_and_the_remedy():
    with pytest.raises(ValueError, match=r"n_clusters=6 .* 5 leaves: lower n_clusters"):
        sb.Dendrogram(chain(5)).cut(n_clusters=6)
    aggregated = sb.ClusterFeatures(2, points(5), 1)
    with pytest.raises(ValueError, match=r"n_clusters=6 .* 5 leaves: raise max_leaves or lower n_clusters"):
        sb.Dendrogram(chain(5), aggregated).cut(n_clusters=6)


@pytest.mark.parametrize("height", [np.nan, "high"])
def test_a_height_that_is_no_number_is_refused(height):
    with pytest.raises((ValueError, TypeError)):
        sb.Dendrogram(chain(5)).cut(height=height)
