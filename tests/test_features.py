"""Cluster features against exact rational arithmetic."""

import copy
import pickle
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import silverbirch as sb
from cluster_features import (
    FAR,
    assert_close_to_exact,
    assert_same_bits,
    coordinates,
    exact,
    example,
    features_of,
    grid_points,
    quick,
    single_features,
)

# --- the algebra of merging


@quick
@given(single_features(), single_features())
def test_a_merge_is_exact_up_to_rounding(a, b):
    largest = float(np.abs([a.mean, b.mean]).max())
    expected = exact([a.weight[0], b.weight[0]], [a.mean[0], b.mean[0]], [a.sse[0], b.sse[0]])
    assert_close_to_exact(a.merged_with(b), expected, largest)


@quick
@given(single_features(), st.tuples(coordinates(), coordinates()), st.floats(1e-3, 1e3))
def test_adding_a_weighted_point_is_exact_up_to_rounding(a, point, weight):
    expected = exact([a.weight[0], weight], [a.mean[0], point], [a.sse[0], 0])
    merged = a.merged_with(sb.ClusterFeatures([weight], [point], [0]))
    assert_close_to_exact(merged, expected, max(np.abs(a.mean).max(), *map(abs, point)))


@quick
@given(grid_points(most=20), st.sampled_from([0.0, FAR, -FAR]))
def test_points_added_one_by_one_give_mean_and_sse_wherever_they_lie(points, shift):
    expected = exact(np.ones(len(points)), points + shift, np.zeros(len(points)))
    largest = len(points) * float(np.abs(points + shift).max())
    assert_close_to_exact(features_of(points + shift), expected, largest, sse_relative=1e-5 if shift else 1e-12)


@quick
@given(grid_points(least=2, most=2), st.integers(1, 1000), st.integers(1, 1000))
def test_a_merge_far_from_the_origin_loses_no_digit_of_the_sse(points, first, second):
    expected = exact([first, second], points + FAR, [0, 0])
    merged = features_of(points + FAR, [first, second])
    assert_close_to_exact(merged, expected, FAR + 64)


def test_classic_features_fail_where_these_hold():
    """BIRCH stores (N, LS, SS) and subtracts two large squares: at 1e8 no digit of the sse is correct."""
    points = np.random.default_rng(1).integers(-16, 17, size=(200, 2)) / 16 + FAR
    _, _, sse = exact(np.ones(200), points, np.zeros(200))
    n, linear_sum, square_sum = len(points), points.sum(axis=0), float((points**2).sum())
    classic = square_sum - float(linear_sum @ linear_sum) / n
    assert abs(classic / float(sse) - 1) > 0.1
    assert features_of(points).sse[0] == pytest.approx(float(sse), rel=1e-7)


@quick
@given(grid_points(), st.data())
def test_integer_weight_is_the_same_as_repetition(points, data):
    counts = data.draw(st.lists(st.integers(1, 5), min_size=len(points), max_size=len(points)))
    weighted, repeated = features_of(points, counts), features_of(np.repeat(points, counts, axis=0))
    assert weighted.weight == repeated.weight
    np.testing.assert_allclose(weighted.mean, repeated.mean, atol=1e-11)
    np.testing.assert_allclose(weighted.sse, repeated.sse, rtol=1e-11, atol=1e-11)


@quick
@given(st.lists(single_features(), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_merge_order_does_not_change_mean_or_sse(features, random):
    merged = reduce(sb.ClusterFeatures.merged_with, features)
    random.shuffle(features)
    other = reduce(sb.ClusterFeatures.merged_with, features)
    largest = max(np.abs(f.mean).max() for f in features)
    np.testing.assert_allclose(merged.weight, other.weight, rtol=1e-14)
    np.testing.assert_allclose(merged.mean, other.mean, rtol=0, atol=1e-14 * largest * len(features))
    np.testing.assert_allclose(merged.sse, other.sse, rtol=1e-9)


@quick
@given(st.lists(st.tuples(coordinates(1e99), coordinates(1e-140)), min_size=1, max_size=10))
def test_sse_is_never_negative(points):
    assert features_of(np.array(points)).sse[0] >= 0


@quick
@given(st.lists(single_features(), min_size=1, max_size=6))
def test_total_is_exact_up_to_rounding(features):
    many = sb.ClusterFeatures(*(np.concatenate(arrays) for arrays in zip(*(f.arrays() for f in features), strict=True)))
    largest = len(many) * float(np.abs(many.mean).max())
    assert_close_to_exact(many.total(), exact(*many.arrays()), largest, sse_relative=1e-9)


def test_total_far_from_the_origin_keeps_its_digits():
    points = np.random.default_rng(2).integers(-16, 17, size=(500, 3)) / 16
    near, far = (sb.ClusterFeatures(np.ones(500), points + s, np.zeros(500)).total() for s in (0, FAR))
    np.testing.assert_allclose(far.mean - FAR, near.mean, atol=3e-8)
    np.testing.assert_allclose(far.sse, near.sse, rtol=1e-9)


@pytest.mark.parametrize("empty", [sb.ClusterFeatures([0], [[7.0, 7.0]], [0])], ids=["weight 0"])
def test_weight_zero_is_the_same_as_no_feature(empty):
    a = example(dimensions=2)
    assert a.merged_with(empty) == a
    assert empty.merged_with(a) == a
    assert empty.merged_with(empty).weight == 0


def test_total_of_nothing_is_refused():
    with pytest.raises(ValueError, match="all weights are zero"):
        sb.ClusterFeatures([0, 0], [[1.0], [2.0]], [0, 0]).total()


def test_features_of_no_weight_add_nothing_to_a_total_or_a_merge():
    features = sb.ClusterFeatures([1, 0, 2], [[0.0], [7.0], [3.0]], [1.0, 9.0, 2.0])
    assert features.total() == features[[0, 2]].total()
    nothing = features[1]
    assert nothing.merged_with(features[0]) == features[0].merged_with(nothing) == features[0]
    merged = sb.Dendrogram([[0, 1, 7, 2], [2, 3, 8, 3]], features).merged_features
    assert merged[0] == features[0]
    np.testing.assert_allclose(merged.sse[1], features.total().sse[0])


# --- arrays of features


def test_merging_is_elementwise():
    a, b = example(seed=1), example(seed=2)
    merged = a.merged_with(b)
    for i in range(len(a)):
        assert_same_bits(merged[i], a[i].merged_with(b[i]))


def test_one_feature_merges_with_each_of_many():
    a, b = example(seed=1), example(count=1, seed=2)
    for merged, pairs in ((a.merged_with(b), [(x, b) for x in a]), (b.merged_with(a), [(b, x) for x in a])):
        assert len(merged) == len(a)
        for got, (left, right) in zip(merged, pairs, strict=True):
            assert_same_bits(got, left.merged_with(right))


@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        (example(count=4), ValueError, "6 with 4 features.*lengths must agree or be 1"),
        (example(dimensions=2), ValueError, "3 and 2 columns"),
        (np.ones((6, 3)), TypeError, "not ndarray"),
    ],
)
def test_what_does_not_fit_is_not_merged(other, error, message):
    with pytest.raises(error, match=message):
        example().merged_with(other)


def test_a_single_number_stands_for_every_row():
    X = np.arange(6.0).reshape(3, 2)
    assert sb.ClusterFeatures(1, X, 0) == sb.ClusterFeatures(np.ones(3), X, np.zeros(3))


@pytest.mark.parametrize(
    "item",
    [slice(1, 4), slice(None, None, -1), slice(0, 0), [4, 0, 0], np.array([True, False] * 3), np.array([5, 1])],
    ids=repr,
)
def test_a_selection_selects_from_all_three_arrays(item):
    features = example()
    chosen = features[item]
    for got, whole in zip(chosen.arrays(), features.arrays(), strict=True):
        np.testing.assert_array_equal(got, whole[item])
        assert not np.shares_memory(got, whole)
    assert len(chosen) == len(chosen.weight)


@pytest.mark.parametrize("i", [0, 5, -1, -6, np.int64(2)])
def test_a_number_selects_one_feature(i):
    features = example()
    assert len(features[i]) == 1
    np.testing.assert_array_equal(features[i].mean, features.mean[[i]])
    assert (features[i].weight, features[i].sse) == (features.weight[i], features.sse[i])


@pytest.mark.parametrize("i", [6, -7])
def test_a_number_out_of_range_is_refused(i):
    with pytest.raises(IndexError, match=f"feature {i} does not exist: there are 6"):
        example()[i]


def test_iterating_gives_every_feature_once():
    features = example()
    assert [f.weight[0] for f in features] == features.weight.tolist()


@pytest.mark.parametrize("name", ["weight", "mean", "sse"])
@pytest.mark.parametrize(
    "made",
    [
        example(),
        example()[1:3],
        example().merged_with(example()),
        example().total(),
        pickle.loads(pickle.dumps(example())),
        copy.deepcopy(example()),
    ],
    ids=["constructed", "sliced", "merged", "total", "unpickled", "copied"],
)
def test_features_are_frozen(made, name):
    before = made[:]
    with pytest.raises(ValueError, match="read-only"):
        getattr(made, name)[0] = 1.0
    with pytest.raises(AttributeError, match=f"{name} cannot be set"):
        setattr(made, name, np.ones(len(made)))
    assert made == before


@pytest.mark.parametrize("name", ["weight", "mean", "sse"])
def test_an_array_of_features_cannot_be_deleted(name):
    features = example()
    with pytest.raises(AttributeError):
        delattr(features, name)


def test_input_arrays_are_copied_and_stay_writable():
    weight, mean, sse = np.ones(3), np.ones((3, 2)), np.ones(3)
    features = sb.ClusterFeatures(weight, mean, sse)
    for array in (weight, mean, sse):
        array[:] = 5.0
    assert features == sb.ClusterFeatures(np.ones(3), np.ones((3, 2)), np.ones(3))


def test_equality_looks_at_every_array():
    a = example()
    assert a == example()
    for changed in ((a.weight + 1, a.mean, a.sse), (a.weight, a.mean + 1, a.sse), (a.weight, a.mean, a.sse + 1)):
        assert a != sb.ClusterFeatures(*changed)
    assert a != a[:3]
    assert a != "features"
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_a_copy_has_the_same_bits(copied):
    assert_same_bits(copied(example()), example())


def test_representation_counts_features_and_weight():
    features = example()
    assert repr(features) == f"ClusterFeatures(6 features, 3 dimensions, weight {features.weight.sum():,.12g})"


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        (([-1.0], [[0.0]], [0]), ValueError, r"weight\[0\] = -1.0: must be finite and not negative"),
        (([1, np.nan], [[0.0], [1.0]], [0, 0]), ValueError, r"weight\[1\] = nan"),
        (([1, 1], [[0.0], [1.0]], [0, np.inf]), ValueError, r"sse\[1\] = inf"),
        (([1], [[0.0]], [-1e-9]), ValueError, r"sse\[0\] = -1e-09"),
        (([1, 1], [[0.0]], [0]), ValueError, r"weight has shape \(2,\) but there are 1 rows"),
        (([1], [[np.nan]], [0]), ValueError, "mean: row 0, column 0 is nan"),
        (([1], [0.0], [0]), ValueError, r"mean is 1-D: .*reshape"),
        (([], np.empty((0, 2)), []), ValueError, r"mean has shape \(0, 2\)"),
        (([1], [["a"]], [0]), TypeError, "mean holds strings"),
    ],
)
def test_bad_arrays_are_refused(arrays, error, message):
    with pytest.raises(error, match=message):
        sb.ClusterFeatures(*arrays)
