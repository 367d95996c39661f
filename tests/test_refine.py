"""Another pass over the rows gives finer leaves."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import silverbirch as sb
from trees import assert_holds, assert_same_bits, gaussian_clusters, random_rows


def by_hand(features, X, weight):
    """One step of Lloyd's algorithm in numpy."""
    nearest = cdist(X, features.mean, "sqeuclidean").argmin(axis=1)
    groups = [(weight[nearest == i], X[nearest == i]) for i in range(len(features))]
    groups = [(w, x) for w, x in groups if w.sum() > 0]
    means = [np.average(x, axis=0, weights=w) for w, x in groups]
    sses = [w @ ((x - mean) ** 2).sum(axis=1) for (w, x), mean in zip(groups, means, strict=True)]
    return np.array([w.sum() for w, _ in groups]), np.array(means), np.array(sses)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), leaves=st.integers(1, 40), dtype=st.sampled_from([np.float32, np.float64]))
def test_refined_features_are_a_step_of_lloyds_algorithm(seed, leaves, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3)).astype(dtype)
    weight = rng.integers(0, 3, 200).astype(float) + (np.arange(200) == 0)
    features = sb.CFTree(max_leaves=leaves).insert(X, weight).features
    refined = features.refined(X, weight)
    for mine, theirs in zip(refined.arrays(), by_hand(features, X.astype(float), weight), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
    assert refined.sse.sum() <= features.sse.sum() * (1 + 1e-12)
    assert_same_bits(refined, features.refined(X, weight, n_jobs=2))


def test_features_no_row_is_nearest_to_are_left_out():
    features = sb.ClusterFeatures(1, [[0.0], [5.0], [100.0]], 0)
    assert len(features.refined([[0.0], [1.0], [6.0]])) == 2


def test_rows_of_another_width_cannot_refine():
    with pytest.raises(ValueError, match="3 columns but the features have 2"):
        sb.ClusterFeatures(1, random_rows(), 0).refined(random_rows(10, 3))


@pytest.mark.parametrize("refine", [1, 3])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_refined_model_holds_all_rows_and_predicts_its_labels(refine, n_jobs):
    X = gaussian_clusters(6000, 3)
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    model = sb.Betula(10, max_leaves=300, refine=refine, n_jobs=n_jobs).fit(X, sample_weight=weight)
    assert_holds(model.features_, X, weight)
    assert len(model.features_) == len(model.subcluster_labels_) <= 300
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    np.testing.assert_array_equal(
        model.labels_, model.subcluster_labels_[cdist(X, model.features_.mean).argmin(axis=1)]
    )
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)


def test_refining_makes_the_leaves_finer_and_the_estimate_of_rmsd_closer():
    X = random_rows(20_000, 3)
    plain, refined = (sb.Betula(50, max_leaves=500, refine=refine).fit(X) for refine in (0, 1))
    assert refined.features_.sse.sum() < plain.features_.sse.sum()
    true = [np.sqrt(-model.score(X) / len(X)) for model in (plain, refined)]
    estimates = [model.dendrogram_.rmsd(50) for model in (plain, refined)]
    assert abs(estimates[1] - true[1]) < abs(estimates[0] - true[0])


def test_refined_leaves_stay_for_another_cut_and_end_with_new_rows():
    X = gaussian_clusters(3000)
    model = sb.Betula(10, max_leaves=200, refine=1).fit(X)
    leaves = model.features_
    assert model.recut(n_clusters=5).features_ is leaves
    assert model.n_clusters_ == 5
    model.partial_fit(X[:100])
    assert_same_bits(model.features_, model.tree_.features)
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize(("refine", "error"), [(-1, ValueError), (1.5, TypeError), (True, ValueError)])
def test_refine_must_be_a_number_of_passes(refine, error):
    with pytest.raises(error, match="refine="):
        sb.Betula(refine=refine).fit(random_rows())
