"""CFTree.decay: old rows count less, and the tree goes on as any other."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from silverbirch import _core
from trees import assert_same_bits, gaussian_clusters, random_rows, snapshot


def scaled_by_hand(features, factor, lightest):
    weight = features.weight * factor
    kept = weight >= max(lightest, _core.SMALLEST_WEIGHT)
    return weight[kept], features.mean[kept], (features.sse * factor)[kept]


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 1000),
    rows=st.sampled_from([1, 50, 3000, 8000]),
    dimensions=st.sampled_from([1, 3, 20]),
    max_leaves=st.sampled_from([1, 40, 2500, None]),
    factor=st.floats(1e-12, 1),
    lightest=st.sampled_from([0.0, 1e-3, 0.01, 0.5, 1.0, 3.0]),
    weighted=st.booleans(),
)
def test_leaves_are_those_scaled_by_hand_in_their_order(seed, rows, dimensions, max_leaves, factor, lightest, weighted):
    X = random_rows(rows, dimensions, seed)
    weight = np.random.default_rng(seed).exponential(size=rows) + 1e-3 if weighted else None
    tree = sb.CFTree(max_leaves=max_leaves, branching=7).insert(X, weight)
    before, threshold, rebuilds = tree.features, tree.threshold, tree.n_rebuilds
    weight, mean, sse = scaled_by_hand(before, factor, lightest)

    assert tree.decay(factor, lightest) is tree
    assert len(tree) == len(weight)
    if len(weight) == 0:
        assert snapshot(tree) == snapshot(sb.CFTree(max_leaves=max_leaves, branching=7))
        return
    assert_same_bits(tree.features, sb.ClusterFeatures(weight, mean, sse))
    assert tree.n_points == pytest.approx(weight.sum(), rel=1e-12)
    assert (tree.threshold, tree.n_rebuilds) == (threshold, rebuilds)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 1000),
    dimensions=st.sampled_from([1, 4, 17, 100]),
    max_leaves=st.sampled_from([30, 1100, 2500]),
    steps=st.lists(st.tuples(st.floats(0.01, 1), st.sampled_from([0.0, 0.01, 1.0])), min_size=1, max_size=5),
    stored=st.sets(st.integers(0, 4)),
    n_jobs=st.sampled_from([2, 3]),
)
def test_files_and_threads_change_no_bit_of_a_decaying_stream(
    tmp_path_factory, seed, dimensions, max_leaves, steps, stored, n_jobs
):
    path = tmp_path_factory.getbasetemp() / "decay.sb"
    one = sb.CFTree(max_leaves=max_leaves)
    other = sb.CFTree(max_leaves=max_leaves, n_jobs=n_jobs)
    for number, (factor, lightest) in enumerate(steps):
        X = random_rows(3000 if dimensions < 20 else 300, dimensions, seed + number) + number
        one.insert(X).decay(factor, lightest)
        other.insert(X).decay(factor, lightest)
        if number in stored:
            other.save(path)
            other = sb.CFTree.load(path)
            other.n_jobs = n_jobs
        assert snapshot(other) == snapshot(one)
        assert len(one) <= max_leaves


@pytest.mark.parametrize("lightest", [0, 0.01])
def test_a_factor_of_one_changes_no_bit(lightest):
    X = gaussian_clusters(6000, 3)
    tree, untouched = (sb.CFTree(max_leaves=1100).insert(X[:4000]) for _ in range(2))
    tree.decay(1, lightest)
    assert snapshot(tree) == snapshot(untouched)
    assert snapshot(tree.insert(X[4000:])) == snapshot(untouched.insert(X[4000:]))


def test_two_decays_are_one_by_the_product():
    X = gaussian_clusters(2000)
    twice = sb.CFTree(max_leaves=100).insert(X).decay(0.5).decay(0.25)
    once = sb.CFTree(max_leaves=100).insert(X).decay(0.125)
    assert_same_bits(twice.features, once.features)


def test_a_stream_that_moves_leaves_its_old_place():
    rng = np.random.default_rng(0)
    tree, remembering = sb.CFTree(max_leaves=300), sb.CFTree(max_leaves=300)
    for step in range(100):
        batch = rng.normal(loc=(step, 0), size=(200, 2))
        tree.decay(0.8).insert(batch)
        remembering.insert(batch)
    # A leaf that gets no more rows loses a factor of 0.8 each batch: 1000 rows are below 0.01 after 52 batches.
    assert tree.features.mean[:, 0].min() > 99 - 52 - 5
    assert remembering.features.mean[:, 0].min() < 2
    # Batches of 200 rows that fade by 0.8 sum up to 200 / (1 - 0.8) rows, 4 batches old on average.
    assert tree.n_points == pytest.approx(1000, rel=1e-3)
    assert np.average(tree.features.mean[:, 0], weights=tree.features.weight) == pytest.approx(95, abs=0.5)


def test_a_decayed_tree_merges_and_assigns_as_any_other():
    X = gaussian_clusters(3000)
    tree = sb.CFTree(max_leaves=60).insert(X)
    tree.assign(X[:10])  # the index of the leaves before must not be used afterwards
    tree.decay(0.01, lightest=0.3)
    features = tree.features
    distances = np.linalg.norm(X[:, None] - features.mean, axis=2)
    np.testing.assert_array_equal(tree.assign(X), distances.argmin(axis=1))

    both = sb.CFTree(max_leaves=60).insert(X + 500).merge(tree)
    assert both.features.weight.sum() == pytest.approx(3000 + features.weight.sum())
    np.testing.assert_allclose(
        both.features.total().mean[0],
        (3000 * (X + 500).mean(axis=0) + (features.weight[:, None] * features.mean).sum(axis=0))
        / (3000 + features.weight.sum()),
    )


@pytest.mark.parametrize("dimensions", [2, 20, 100])
def test_weights_at_the_limit_are_kept_and_below_it_removed(tmp_path, dimensions):
    X = random_rows(200, dimensions)
    tree = sb.CFTree(max_leaves=50).insert(X)
    tree.decay(_core.SMALLEST_WEIGHT, lightest=0)
    assert tree.features.weight.min() >= _core.SMALLEST_WEIGHT
    tree.save(tmp_path / "tree.sb")
    loaded = sb.CFTree.load(tmp_path / "tree.sb")
    assert snapshot(loaded) == snapshot(tree)
    assert snapshot(loaded.insert(X + 1)) == snapshot(tree.insert(X + 1))
    assert len(tree) <= 50
    tree.assign(X)


def test_a_tree_whose_leaves_all_go_is_as_new():
    X = gaussian_clusters(5000)
    tree = sb.CFTree(max_leaves=1100, threshold=0.5).insert(X).decay(0.5, lightest=1e6)
    assert (len(tree), tree.n_points, tree.threshold, tree.n_rebuilds) == (0, 0.0, 0.5, 0)
    with pytest.raises(ValueError, match="the tree is empty"):
        _ = tree.features
    assert snapshot(tree.decay(0.5)) == snapshot(sb.CFTree(max_leaves=1100, threshold=0.5))
    assert snapshot(tree.insert(X)) == snapshot(sb.CFTree(max_leaves=1100, threshold=0.5).insert(X))


@pytest.mark.parametrize("parameters", [{"max_leaves": 400}, {"max_leaves": 3000}])
def test_an_interrupted_decay_leaves_the_tree_as_it_was(parameters):
    tree = sb.CFTree(**parameters).insert(gaussian_clusters(20_000))
    before = snapshot(tree)

    def stop(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        tree._core.decay(0.5, 1.0, stop)
    assert snapshot(tree) == before
    undecayed = copy.deepcopy(tree)
    assert snapshot(tree.insert(random_rows())) == snapshot(undecayed.insert(random_rows()))


def test_a_progress_callback_cannot_decay_the_tree():
    tree = sb.CFTree().insert(random_rows())
    with pytest.raises(RuntimeError, match="being changed"):
        tree.insert(random_rows(), progress=lambda done, total: tree.decay(0.5))


@pytest.mark.parametrize("factor", [0, -0.1, 1.01, 90, np.nan, np.inf])
def test_other_factors_are_refused(factor):
    tree = sb.CFTree().insert(random_rows())
    before = snapshot(tree)
    with pytest.raises(ValueError, match="factor="):
        tree.decay(factor)
    assert snapshot(tree) == before


@pytest.mark.parametrize(
    ("arguments", "error"),
    [(("0.5",), TypeError), ((None,), TypeError), ((0.5, -1), ValueError), ((0.5, "1"), TypeError)],
)
def test_other_arguments_are_refused(arguments, error):
    with pytest.raises(error, match=r"factor=|lightest="):
        sb.CFTree().insert(random_rows()).decay(*arguments)
