"""Betula compared with scipy on the full data and with brute force."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import cdist
from sklearn.base import clone

import silverbirch as sb
from dendrograms import by_first_occurrence, by_weight
from models import AGGREGATION, LINKAGES, groups, points, scipys, seeds, some, state
from trees import assert_same_bits

# -- the result, against scipy and brute force


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("k", [1, 2, 7, 50, 300])
def test_without_aggregation_labels_are_the_cut_of_the_full_data(linkage, k):
    X = points()
    labels = sb.Betula(k, linkage=linkage, max_leaves=None).fit(X).labels_
    expected = sb.Dendrogram(scipys(X, linkage)).cut(n_clusters=k)
    np.testing.assert_array_equal(by_first_occurrence(labels), by_first_occurrence(expected))
    np.testing.assert_array_equal(np.bincount(labels), np.bincount(expected))
    if linkage not in ("centroid", "median"):
        theirs = hierarchy.fcluster(scipys(X, linkage), k, "maxclust")
        np.testing.assert_array_equal(by_first_occurrence(labels), by_first_occurrence(theirs))


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 2.0])
def test_distance_threshold_is_the_cut_of_fcluster(linkage, share):
    X = points(150)
    Z = scipys(X, linkage)
    height = share * Z[:, 2].max()
    model = sb.Betula(distance_threshold=height, linkage=linkage, max_leaves=None).fit(X)
    expected = by_first_occurrence(hierarchy.fcluster(Z, height, "distance"))
    np.testing.assert_array_equal(by_first_occurrence(model.labels_), expected)
    assert model.n_clusters_ == expected.max() + 1


@pytest.mark.parametrize("linkage", LINKAGES)
def test_without_aggregation_heights_are_those_of_the_full_data(linkage):
    X = points(150)
    Z = sb.Betula(linkage=linkage, max_leaves=None).fit(X).linkage_matrix_
    np.testing.assert_allclose(Z[:, 2], scipys(X, linkage)[:, 2], rtol=1e-9)


@pytest.mark.parametrize("linkage", [*LINKAGES, "minimax", "medoid"])
@pytest.mark.parametrize("aggregation", AGGREGATION)
def test_labels_equal_predict_and_are_numbered_by_weight(linkage, aggregation):
    X = points()
    model = sb.Betula(8, linkage=linkage, **aggregation).fit(X)
    assert model.labels_.dtype == np.int64
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    leaves = model.subcluster_labels_
    np.testing.assert_array_equal(leaves, by_weight(leaves, model.features_.weight))
    np.testing.assert_array_equal(model.labels_, clone(model).fit_predict(X))


@pytest.mark.parametrize("linkage", LINKAGES)
@some
@given(seed=seeds, k=st.integers(2, 9))
def test_shuffled_rows_keep_the_numbers_of_clusters_of_different_weight(linkage, seed, k):
    X = points(100, 2, seed)
    model = sb.Betula(k, linkage=linkage, max_leaves=None).fit(X)
    order = np.random.default_rng(seed).permutation(len(X))
    shuffled = clone(model).fit(X[order])
    sizes = np.bincount(model.labels_)
    np.testing.assert_array_equal(np.bincount(shuffled.labels_), sizes)
    alone = (np.count_nonzero(sizes == sizes[:, None], axis=1) == 1)[model.labels_[order]]
    np.testing.assert_array_equal(shuffled.labels_[alone], model.labels_[order][alone])


@pytest.mark.parametrize("max_leaves", [None, 100])
def test_fit_chunks_files_and_merged_trees_number_the_clusters_alike(max_leaves, tmp_path):
    X = np.concatenate([100.0 * c + points(60 - 10 * c, 2, seed=c) for c in (3, 0, 1, 4, 2)])
    sizes = np.bincount(sb.Betula(5, max_leaves=max_leaves).fit(X).labels_)
    assert sizes.tolist() == [60, 50, 40, 30, 20]
    expected = np.repeat([3, 0, 1, 4, 2], [30, 60, 50, 20, 40])
    in_chunks, of_trees = sb.Betula(5, max_leaves=max_leaves), sb.Betula(5, max_leaves=max_leaves)
    for chunk in np.array_split(X, 7):
        in_chunks.partial_fit(chunk)
        of_trees.partial_fit(sb.CFTree(max_leaves=max_leaves).insert(chunk).features)
    np.save(tmp_path / "rows.npy", X)
    of_file = sb.Betula(5, max_leaves=max_leaves).fit(tmp_path / "rows.npy")
    in_chunks.save(tmp_path / "model.sb")
    for model in (in_chunks, of_trees, of_file, sb.load(tmp_path / "model.sb")):
        np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("aggregation", AGGREGATION)
@some
@given(seed=seeds)
def test_predict_gives_the_label_of_the_exactly_nearest_subcluster(aggregation, seed):
    model = sb.Betula(5, **aggregation).fit(points(200, 2, seed))
    new = 2 * points(200, 2, seed + 1)
    nearest = cdist(new, model.subcluster_centers_, "sqeuclidean").argmin(axis=1)
    np.testing.assert_array_equal(model.predict(new), model.subcluster_labels_[nearest])


def test_predict_takes_the_lowest_subcluster_among_equally_near_ones():
    grid = np.stack(np.meshgrid(*[np.arange(0.0, 16.0, 2.0)] * 2), axis=-1).reshape(-1, 2)
    model = sb.Betula(len(grid), max_leaves=None).fit(grid)
    between = grid + 1
    nearest = cdist(between, model.subcluster_centers_, "sqeuclidean").argmin(axis=1)
    np.testing.assert_array_equal(model.predict(between), model.subcluster_labels_[nearest])


@pytest.mark.parametrize("parameters", [{}, {"max_leaves": 30}, {"linkage": "complete", "max_leaves": 30}])
def test_with_neither_cut_there_is_one_cluster(parameters):
    model = sb.Betula(**parameters).fit(points())
    assert model.n_clusters_ == 1
    assert not model.labels_.any()


@pytest.mark.parametrize("aggregation", AGGREGATION)
@pytest.mark.parametrize("mode", ["linkage", "centers", "aggregation"])
def test_fitted_attributes_agree_with_each_other(aggregation, mode):
    X = points()
    model = sb.Betula(6, mode=mode, **aggregation).fit(X)
    m = len(model.features_)
    assert model.n_features_in_ == 3
    assert model.labels_.shape == (300,)
    assert model.subcluster_centers_.shape == (m, 3)
    assert model.subcluster_labels_.shape == (m,)
    assert model.linkage_matrix_.shape == (m - 1, 4)
    assert hierarchy.is_valid_linkage(model.linkage_matrix_)
    assert model.cluster_centers_.shape == (model.n_clusters_, 3) == (6, 3)
    assert model.threshold_ >= model.threshold
    assert m <= (aggregation["max_leaves"] or 300)
    np.testing.assert_array_equal(model.subcluster_centers_, model.features_.mean)
    assert model.features_.weight.sum() == 300
    assert model.dendrogram_.features == model.features_
    cut = model.dendrogram_.cut(n_clusters=6)
    np.testing.assert_array_equal(model.subcluster_labels_, cut)
    for cluster in range(6):
        mean = X[model.labels_ == cluster].mean(axis=0)
        np.testing.assert_allclose(model.cluster_centers_[cluster], mean, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("aggregation", AGGREGATION)
def test_after_partial_fit_cluster_centers_are_the_means_of_the_features(aggregation):
    model = sb.Betula(6, **aggregation).partial_fit(points())
    for cluster in range(6):
        members = model.subcluster_labels_ == cluster
        mean = np.average(model.subcluster_centers_[members], axis=0, weights=model.features_.weight[members])
        np.testing.assert_allclose(model.cluster_centers_[cluster], mean, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("aggregation", AGGREGATION)
@pytest.mark.parametrize("linkage", LINKAGES)
def test_after_fit_cluster_centers_are_the_means_of_the_labelled_rows(linkage, aggregation):
    X = points()
    model = sb.Betula(6, linkage=linkage, **aggregation).fit(X)
    means = [X[model.labels_ == cluster].mean(axis=0) for cluster in range(6)]
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-12, atol=1e-12)


def test_transform_gives_the_distances_to_the_cluster_centers():
    X, new = points(), points(50, seed=1)
    model = sb.Betula(6, max_leaves=40).fit(X)
    np.testing.assert_allclose(model.transform(new), cdist(new, model.cluster_centers_), rtol=1e-12)
    np.testing.assert_array_equal(clone(model).fit_transform(X), model.transform(X))
    assert model.transform(new.astype(np.float32)).dtype == np.float32


def test_score_is_minus_the_sse_of_the_labelled_rows():
    X, new = points(), points(50, seed=1)
    weight = np.arange(50.0)
    model = sb.Betula(6, max_leaves=40).fit(X)
    squared = ((new - model.cluster_centers_[model.predict(new)]) ** 2).sum(axis=1)
    assert model.score(new) == pytest.approx(-squared.sum(), rel=1e-12)
    assert model.score(new, sample_weight=weight) == pytest.approx(-weight @ squared, rel=1e-12)


def test_without_aggregation_score_is_minus_the_sse_of_the_dendrogram():
    X = points()
    for k in (1, 5, 100):
        model = sb.Betula(k, max_leaves=None).fit(X)
        assert model.score(X) == pytest.approx(-model.dendrogram_.sse(k), rel=1e-10)


def test_a_better_clustering_has_the_greater_score():
    X = groups()
    scores = [sb.Betula(k).fit(X).score(X) for k in (1, 2, 3, 4)]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1] < 0


@pytest.mark.parametrize("max_leaves", [None, 60])
@pytest.mark.parametrize("linkage", ["ward", "average", "centroid", "single", "complete"])
def test_data_moved_far_away_gives_the_same_partition(max_leaves, linkage):
    X = np.round(groups(500) * 2**20) / 2**20  # so that the move itself does not round
    here, there = (sb.Betula(4, linkage=linkage, max_leaves=max_leaves).fit(X + offset) for offset in (0.0, 1e8))
    np.testing.assert_array_equal(here.labels_, there.labels_)
    np.testing.assert_allclose(there.cluster_centers_ - 1e8, here.cluster_centers_, atol=1e-6)


# -- the same bits


@pytest.mark.parametrize("linkage", ["ward", "complete"])
@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
def test_two_fits_with_the_same_number_of_jobs_give_the_same_bits(linkage, n_jobs):
    X = points(10_000)
    model = sb.Betula(20, linkage=linkage, max_leaves=500, n_jobs=n_jobs)
    expected = state(model.fit(X), X)
    assert state(clone(model).fit(X), X) == expected
    if n_jobs == 1:
        assert state(clone(model).set_params(n_jobs=None).fit(X), X) == expected


def test_the_number_of_jobs_does_not_change_a_bit_where_there_are_few_rows():
    X = points(2000)
    model = sb.Betula(20, max_leaves=500)
    assert state(clone(model).set_params(n_jobs=2).fit(X), X) == state(model.fit(X), X)


@pytest.mark.parametrize("sizes", [[300], [1] * 300, [100, 1, 199], [250, 50]])
@pytest.mark.parametrize("aggregation", AGGREGATION)
@pytest.mark.parametrize("weighted", [False, True])
def test_chunks_give_the_same_bits_as_the_whole(sizes, aggregation, weighted):
    X = groups()
    weight = np.random.default_rng(1).integers(1, 4, 300).astype(float) if weighted else None
    whole = sb.Betula(4, **aggregation).fit(X, sample_weight=weight)
    parts = clone(whole)
    for chunk in np.split(np.arange(300), np.cumsum(sizes)[:-1]):
        parts.partial_fit(X[chunk], sample_weight=None if weight is None else weight[chunk])
    assert_same_bits(parts.features_, whole.features_)
    assert parts.linkage_matrix_.tobytes() == whole.linkage_matrix_.tobytes()
    np.testing.assert_array_equal(parts.predict(X), whole.labels_)
    np.testing.assert_array_equal(parts.labels_, whole.labels_[-sizes[-1] :])


def test_chunks_of_sorted_rows_give_the_same_labels_as_the_whole():
    X = np.concatenate([100.0 * c + points(200, 2, seed=c) for c in (3, 0, 5, 1, 4, 2)])
    whole = sb.Betula(6, max_leaves=50).fit(X)
    parts = clone(whole)
    for chunk in np.split(X, 4):
        parts.partial_fit(chunk)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


def test_results_follow_each_chunk():
    X = groups()
    model = sb.Betula(2)
    assert model.partial_fit(X[:100]).features_.weight.sum() == 100
    assert model.n_clusters_ == 2
    assert model.partial_fit(X[100:]).features_.weight.sum() == 300
    np.testing.assert_array_equal(model.predict(X), sb.Betula(2).fit(X).labels_)


# -- weights


@pytest.mark.parametrize("aggregation", AGGREGATION)
@pytest.mark.parametrize("linkage", ["ward", "average", "centroid"])
def test_an_integer_weight_is_the_row_so_many_times(aggregation, linkage):
    X = groups()
    weight = np.random.default_rng(1).integers(1, 5, len(X))
    model = sb.Betula(4, linkage=linkage, **aggregation)
    weighted, repeated = clone(model).fit(X, sample_weight=weight), clone(model).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(weighted.labels_, repeated.predict(X))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-10, atol=1e-10)
    if aggregation == {"max_leaves": None}:
        heights = (model.linkage_matrix_[:, 2] for model in (weighted, repeated))
        np.testing.assert_allclose(*(h[h > 0] for h in heights), rtol=1e-9)


@pytest.mark.parametrize("linkage", ["ward", "average", "centroid", "single"])
def test_equal_rows_share_a_subcluster(linkage):
    X = points()
    features = sb.Betula(linkage=linkage, max_leaves=None).fit(np.concatenate([X, X])).features_
    assert len(features) == 300
    assert (features.weight == 2).all()


@pytest.mark.parametrize("aggregation", AGGREGATION)
def test_weight_zero_is_no_row(aggregation):
    X = groups()
    weight = np.random.default_rng(1).integers(0, 2, len(X)).astype(float)
    X[weight == 0] *= 1000  # would be seen if they counted
    weight[0] = 1
    with_zeros = sb.Betula(4, **aggregation).fit(X, sample_weight=weight)
    without = sb.Betula(4, **aggregation).fit(X[weight > 0])
    assert with_zeros.features_ == without.features_
    np.testing.assert_array_equal(with_zeros.linkage_matrix_, without.linkage_matrix_)
    np.testing.assert_array_equal(with_zeros.predict(X), without.predict(X))


def test_weight_one_is_no_weight_and_a_single_weight_is_for_all():
    X = points()
    expected = state(sb.Betula(5, max_leaves=40).fit(X), X)
    assert state(sb.Betula(5, max_leaves=40).fit(X, sample_weight=np.ones(300)), X) == expected
    assert state(sb.Betula(5, max_leaves=40).fit(X, sample_weight=1.0), X) == expected


BAD_WEIGHTS = {
    "negative": [1.0, -1.0, 1.0],
    "NaN": [1.0, np.nan, 1.0],
    "infinite": [1.0, np.inf, 1.0],
    "too few": [1.0, 1.0],
    "too many": [1.0] * 4,
    "2-D": [[1.0]] * 3,
    "strings": ["a", "b", "c"],
    "all zero": [0.0] * 3,
}


@pytest.mark.parametrize("weight", BAD_WEIGHTS.values(), ids=BAD_WEIGHTS.keys())
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_weights_are_refused(method, weight):
    with pytest.raises((ValueError, TypeError)):
        getattr(sb.Betula(), method)(points(3), sample_weight=weight)


# -- memory and progress


def test_distances_beyond_max_memory_are_refused_with_the_bytes_and_a_remedy_that_works():
    X = points(3000, 2)
    model = sb.Betula(5, linkage="minimax", max_memory="2MB")
    leaves = len(clone(model).set_params(linkage="ward").fit(X).features_)
    with pytest.raises(sb.MemoryLimitError, match=r"36 MB.*max_memory leaves 1\.\d+ MB.*ward") as error:
        model.fit(X)
    assert leaves == 3000
    remedy = int(re.search(r"lower max_leaves to (\d+)", str(error.value))[1])
    assert model.set_params(max_leaves=remedy).fit(X).n_clusters_ == 5


@pytest.mark.parametrize("linkage", ["ward", "average", "weighted", "centroid", "median", "single", "complete"])
def test_linear_linkages_stay_within_a_limit_the_distances_would_pass(linkage):
    assert sb.Betula(5, linkage=linkage, max_memory="1MB").fit(points(3000, 2)).n_clusters_ == 5


def test_max_memory_limits_the_leaves():
    X = points(3000, 2)
    counts = [len(sb.Betula(max_memory=size).fit(X).features_) for size in ("10kB", "100kB", 10**7)]
    assert 2 <= counts[0] < counts[1] < counts[2] == 3000


def test_progress_goes_to_stderr_and_only_when_asked_for(capfd):
    X = points(3000)
    quiet = sb.Betula(5, max_leaves=100).fit(X)
    assert capfd.readouterr() == ("", "")
    loud = sb.Betula(5, max_leaves=100, progress=True).fit(X)
    out, err = capfd.readouterr()
    assert out == ""
    assert "ward linkage: 100%" in err
    assert "nearest leaves: 100%" in err
    np.testing.assert_array_equal(loud.labels_, quiet.labels_)


def test_progress_of_the_tree_comes_to_its_end(capfd):
    sb.Betula(5, max_leaves=100, progress=True).fit(points(3000))
    assert "tree: 100%" in capfd.readouterr().err


def test_an_interrupted_chunk_leaves_a_model_that_goes_with_its_tree(monkeypatch):
    X = points(4000, 2)
    model = sb.Betula(3, max_leaves=100).fit(X[:2000])
    insert = sb.CFTree.insert

    def interrupted(tree, source, **options):
        insert(tree, next(source.chunks()).rows[:700])
        raise KeyboardInterrupt

    monkeypatch.setattr(sb.CFTree, "insert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[2000:])
    assert model.features_.weight.sum() == 2700
    assert model.dendrogram_.n_leaves == len(model.features_)
    assert model.predict(X).max() == 2
    assert not hasattr(model, "labels_")
