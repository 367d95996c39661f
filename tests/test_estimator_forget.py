"""Betula(forget=…): clusters follow a stream that changes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import silverbirch as sb
from models import groups, points, state


def test_each_batch_forgets_a_share_of_all_earlier_weight():
    model = sb.Betula(2, forget=0.25, max_leaves=None)
    for batch in np.split(points(300), 3):
        model.partial_fit(batch)
    assert_allclose(np.sort(model.features_.weight), np.repeat([0.75**2, 0.75, 1], 100))


def test_forgetting_is_decay_before_each_insertion():
    batches = np.split(groups(900), 3)
    model = sb.Betula(3, forget=0.1, max_leaves=40)
    tree = sb.CFTree(max_leaves=40)
    for batch in batches:
        model.partial_fit(batch)
        tree.decay(0.9).insert(batch)
    assert model.features_ == tree.features


@pytest.mark.parametrize("forget", [None, 0, 0.0])
def test_without_forgetting_the_batches_do_not_matter(forget):
    X = points()
    whole, parts = (sb.Betula(3, forget=forget, max_leaves=40) for _ in range(2))
    whole.partial_fit(X)
    for batch in np.array_split(X, 7):
        parts.partial_fit(batch)
    assert state(whole, X)[:5] == state(parts, X)[:5]


def test_a_place_that_the_stream_has_left_disappears():
    random = np.random.default_rng(0)
    model = sb.Betula(1, forget=0.5, max_leaves=50)
    for _ in range(20):
        model.partial_fit(random.normal(size=(100, 2)))
    for _ in range(20):
        model.partial_fit(random.normal(size=(100, 2)) + 100)
    assert model.features_.mean.min() > 90


@pytest.mark.parametrize("bad", [np.full((10, 3), np.nan), [points(10), np.full((10, 3), np.inf)]])
def test_a_batch_that_is_refused_makes_nothing_forgotten(bad):
    X = points()
    model = sb.Betula(3, forget=0.5, max_leaves=40).partial_fit(X)
    before = state(model, X)
    with pytest.raises(ValueError, match=r"NaN|inf"):
        model.partial_fit(iter(bad) if isinstance(bad, list) else bad)
    assert state(model, X) == before
    assert model.tree_.n_points == len(X)


@pytest.mark.parametrize("refine", [0, 1])
@pytest.mark.parametrize("inserted", [0, 10])
def test_an_interrupt_makes_nothing_forgotten(monkeypatch, inserted, refine):
    X = points()
    model = sb.Betula(3, forget=0.995, max_leaves=40, refine=refine).fit(X)
    before, insert = state(model, X), sb.CFTree.insert

    def interrupted(tree, rows, **options):
        if inserted:
            insert(tree, X[:inserted], **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(sb.CFTree, "insert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X)
    assert state(model, X) == before
    assert model.tree_.n_points == len(X)


@pytest.mark.parametrize("forget", [1, -0.1, np.nan, 2])
def test_a_share_is_at_least_zero_and_less_than_one(forget):
    with pytest.raises(ValueError, match=r"forget=.*must be"):
        sb.Betula(forget=forget).fit(points())


def test_fit_forgets_nothing_and_features_are_batches_too():
    X = points()
    assert sb.Betula(2, forget=0.5, max_leaves=40).fit(X).tree_.n_points == len(X)
    model = sb.Betula(2, forget=0.5, max_leaves=None).partial_fit(X).partial_fit(sb.ClusterFeatures(1, X + 50, 0))
    assert_allclose(model.features_.weight.sum(), 1.5 * len(X))
    assert_array_equal(np.unique(model.features_.weight), [0.5, 1])
