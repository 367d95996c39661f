"""Dendrogram: measures compared with scipy and with brute force over the points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy

import silverbirch as sb
from dendrograms import CHAIN, LINKAGES, aggregated, chain, points, seeds, some, sse_by_brute_force


@pytest.mark.parametrize("method", [*LINKAGES, "minimax"])
def test_sse_and_rmsd_of_points_equal_brute_force(method):
    rows = points()
    dendrogram = sb.Dendrogram(sb.linkage(rows, method), rows)
    for k in range(1, 61):
        expected = sse_by_brute_force(rows, dendrogram.cut(n_clusters=k))
        assert dendrogram.sse(k) == pytest.approx(expected, rel=1e-10, abs=1e-10)
        assert dendrogram.rmsd(k) == pytest.approx(np.sqrt(expected / 60), rel=1e-10, abs=1e-6)


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("offset", [0.0, 2.0**26])
def test_sse_and_rmsd_of_features_equal_brute_force_over_their_member_points(method, offset):
    rows, group, features = aggregated()
    moved = sb.ClusterFeatures(features.weight, features.mean + offset, features.sse)
    dendrogram = sb.Dendrogram(sb.linkage(moved, method), moved)
    for k in range(1, len(features) + 1):
        expected = sse_by_brute_force(rows, dendrogram.cut(n_clusters=k)[group])
        assert dendrogram.sse(k) == pytest.approx(expected, rel=1e-6 if offset else 1e-10)
        assert dendrogram.rmsd(k) == pytest.approx(np.sqrt(expected / len(rows)), rel=1e-6 if offset else 1e-10)


@some
@given(seed=seeds, weight=st.lists(st.integers(1, 5), min_size=12, max_size=12))
def test_sse_of_weighted_points_equals_that_of_repeated_points(seed, weight):
    rows = points(12, 2, seed)
    dendrogram = sb.Dendrogram(sb.linkage(rows, "ward", weights=weight), sb.ClusterFeatures(weight, rows, 0))
    for k in (1, 4, 12):
        repeated = np.repeat(dendrogram.cut(n_clusters=k), weight)
        expected = sse_by_brute_force(np.repeat(rows, weight, axis=0), repeated)
        assert dendrogram.sse(k) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("measure", ["sse", "rmsd"])
@pytest.mark.parametrize("k", [[1, 5, 60], np.arange(1, 61), np.array([[2, 3], [4, 5]]), range(1, 4), np.array([7])])
def test_an_array_of_k_gives_the_array_of_the_numbers(measure, k):
    rows = points()
    ask = getattr(sb.Dendrogram(sb.linkage(rows, "ward"), rows), measure)
    result = ask(k)
    assert result.shape == np.shape(k)
    np.testing.assert_array_equal(result.ravel(), [ask(int(one)) for one in np.ravel(k)])
    assert isinstance(ask(3), float)


@pytest.mark.parametrize("measure", ["sse", "rmsd"])
def test_an_empty_array_of_k_gives_an_empty_array(measure):
    assert getattr(sb.Dendrogram(chain(5), points(5)), measure)([]).shape == (0,)


@pytest.mark.parametrize("k", [[1, 0], [1, 6], [1.5, 2.0]])
def test_an_array_of_k_with_one_out_of_range_is_refused(k):
    with pytest.raises((ValueError, TypeError), match="n_clusters"):
        sb.Dendrogram(chain(5), points(5)).sse(k)


@pytest.mark.parametrize("method", LINKAGES)
def test_sse_never_rises_with_k_nor_falls_below_zero(method):
    rows = np.repeat(points(20, 2), 3, axis=0) + 1e8
    sse = sb.Dendrogram(sb.linkage(rows, method), rows).sse(np.arange(1, 61))
    assert (sse >= 0).all()
    assert (np.diff(sse) <= 1e-9 * sse[0]).all()
    assert sse[-1] == 0


@pytest.mark.parametrize("measure", ["sse", "rmsd"])
def test_measures_without_features_say_what_they_need(measure):
    with pytest.raises(ValueError, match=r"Dendrogram\(Z, features\)"):
        getattr(sb.Dendrogram(chain(5)), measure)(2)


@pytest.mark.parametrize("known", [True, False])
def test_weights_hold_the_leaves_then_the_merges_and_end_in_the_total(known):
    _, _, features = aggregated()
    Z = sb.linkage(features, "ward")
    leaf_weight = features.weight if known else np.ones(len(features))
    weights = sb.Dendrogram(Z, features if known else None).weights
    assert weights.shape == (2 * len(features) - 1,)
    np.testing.assert_array_equal(weights[: len(features)], leaf_weight)
    for row, (left, right) in enumerate(Z[:, :2].astype(int)):
        assert weights[len(features) + row] == weights[left] + weights[right]
    assert weights[-1] == leaf_weight.sum()


def test_the_root_of_the_merged_features_is_their_total():
    _, _, features = aggregated()
    root, total = sb.Dendrogram(sb.linkage(features, "ward"), features).merged_features[-1], features.total()
    for ours, expected in zip(root.arrays(), total.arrays(), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", LINKAGES)
def test_cophenetic_equals_scipys_for_all_pairs_and_one_by_one(method):
    Z = hierarchy.linkage(points(), method)
    expected = hierarchy.cophenet(Z)
    dendrogram = sb.Dendrogram(Z)
    np.testing.assert_array_equal(dendrogram.cophenetic(), expected)
    i, j = np.triu_indices(60, 1)
    np.testing.assert_array_equal(dendrogram.cophenetic(i, j), expected)
    np.testing.assert_array_equal(dendrogram.cophenetic(j, i), expected)
    assert dendrogram.cophenetic(2, 5) == dendrogram.cophenetic(5, 2) == expected[(i == 2) & (j == 5)]
    assert isinstance(dendrogram.cophenetic(2, 5), float)


def test_cophenetic_broadcasts_and_is_zero_of_a_leaf_with_itself():
    dendrogram = sb.Dendrogram(hierarchy.linkage(points(12), "average"))
    leaves = np.arange(12)
    square = dendrogram.cophenetic(leaves[:, None], leaves)
    assert square.shape == (12, 12)
    np.testing.assert_array_equal(square, square.T)
    np.testing.assert_array_equal(square.diagonal(), 0)
    np.testing.assert_array_equal(dendrogram.cophenetic(3, leaves), square[3])
    assert dendrogram.cophenetic([], []).shape == (0,)


def test_cophenetic_goes_down_a_deep_chain():
    dendrogram = sb.Dendrogram(chain(CHAIN))
    np.testing.assert_array_equal(dendrogram.cophenetic(0, [0, 1, 7, CHAIN - 1]), [0, 1, 7, CHAIN - 1])
    assert dendrogram.cophenetic(5, 3) == 5


@pytest.mark.parametrize("pair", [(0, 5), (-1, 0), ([0, 1], [2, 9])])
def test_cophenetic_of_leaves_that_are_not_there_is_refused(pair):
    with pytest.raises(IndexError, match="0 to 4"):
        sb.Dendrogram(chain(5)).cophenetic(*pair)


def test_cophenetic_of_half_a_leaf_is_refused():
    with pytest.raises((TypeError, ValueError, IndexError)):
        sb.Dendrogram(chain(5)).cophenetic(0.5, 1)


@pytest.mark.parametrize("arguments", [{"i": 1}, {"j": 1}])
def test_cophenetic_takes_both_leaves_or_neither(arguments):
    with pytest.raises(ValueError, match="both i and j"):
        sb.Dendrogram(chain(5)).cophenetic(**arguments)
