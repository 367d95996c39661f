"""The CF-tree on several threads: a tree for each part of the space."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from trees import assert_holds, assert_same_bits, gaussian_clusters, random_rows, snapshot

ROWS = 30_000  # the first two thousand go into one tree


def tree_of(X, weight=None, **parameters):
    return sb.CFTree(**({"max_leaves": 1500, "n_jobs": 2} | parameters)).insert(X, weight)


@pytest.mark.parametrize("dimensions", [1, 2, 5, 20])
@pytest.mark.parametrize("max_leaves", [None, 300, 1500])
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_leaves_hold_all_rows_within_the_limit(dimensions, max_leaves, n_jobs):
    X = gaussian_clusters(ROWS // 3, dimensions)
    tree = tree_of(X, max_leaves=max_leaves, n_jobs=n_jobs)
    assert_holds(tree.features, X)
    assert tree.n_points == len(X)
    assert len(tree) == len(tree.features) <= (max_leaves or len(X))


@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, ROWS), max_size=6), dtype=st.sampled_from([np.float32, np.float64]))
def test_chunks_of_any_size_lose_nothing(cuts, dtype):
    X = gaussian_clusters(ROWS).astype(dtype)
    tree = sb.CFTree(max_leaves=600, n_jobs=2)
    inserted = 0
    for chunk in np.split(X, sorted(cuts)):
        if len(chunk):
            tree.insert(chunk)
            inserted += len(chunk)
            assert tree.n_points == inserted
            assert len(tree) <= 600
    assert_holds(tree.features, X.astype(np.float64))


def test_threads_beyond_the_cores_give_the_same_bits_each_time():
    X = gaussian_clusters(ROWS, 5)
    assert len({str(snapshot(tree_of(X, n_jobs=7))) for _ in range(5)}) == 1


def test_few_rows_and_small_limits_give_the_tree_of_one_thread():
    X = random_rows(ROWS)
    assert snapshot(tree_of(X[:2000])) == snapshot(tree_of(X[:2000], n_jobs=None))
    assert snapshot(tree_of(X, max_leaves=200)) == snapshot(tree_of(X, max_leaves=200, n_jobs=None))


def test_weight_zero_is_no_row_and_weights_count():
    X = random_rows(ROWS)
    weight = np.random.default_rng(1).integers(0, 4, ROWS).astype(float)
    tree = tree_of(X, weight)
    assert snapshot(tree) == snapshot(tree_of(X[weight > 0], weight[weight > 0]))
    assert_holds(tree.features, X, weight)


def test_without_a_limit_exactly_the_different_rows_are_the_leaves():
    X = np.round(random_rows(ROWS) * 20)
    features = tree_of(X, max_leaves=None).features
    rows, counts = np.unique(X + 0.0, axis=0, return_counts=True)
    order = np.lexsort(features.mean.T[::-1])
    np.testing.assert_array_equal(features.mean[order], rows)
    np.testing.assert_array_equal(features.weight[order], counts)


@pytest.mark.parametrize("rows", [1000, 12_345, ROWS - 1000])
@pytest.mark.parametrize("copied", [lambda tree, path: pickle.loads(pickle.dumps(tree)), "file"])
def test_a_stored_tree_goes_on_to_the_same_bits(rows, copied, tmp_path):
    X = gaussian_clusters(ROWS, 3)
    tree = tree_of(X[:rows])
    if copied == "file":
        tree.save(tmp_path / "tree.sb")
        again = sb.CFTree.load(tmp_path / "tree.sb")
    else:
        again = copied(tree, tmp_path)
    assert snapshot(again) == snapshot(tree)
    again.insert(X[rows:])
    assert snapshot(again) == snapshot(tree.insert(X[rows:]))


def test_a_part_without_rows_is_stored_too(tmp_path):
    X = np.zeros((ROWS, 2))
    X[:50] = random_rows(50)
    tree = tree_of(X)
    tree.save(tmp_path / "tree.sb")
    assert snapshot(sb.CFTree.load(tmp_path / "tree.sb").insert(X)) == snapshot(tree_of(X).insert(X))


def test_trees_of_any_number_of_threads_merge():
    X = gaussian_clusters(ROWS)
    parts = [tree_of(X[:10_000]), tree_of(X[10_000:20_000], n_jobs=None), tree_of(X[20_000:], n_jobs=3)]
    for first in range(3):
        merged = sb.CFTree(max_leaves=1500, n_jobs=2 if first else None)
        for part in np.roll(np.array(parts, dtype=object), first):
            merged.merge(part)
        assert_holds(merged.features, X)
        assert len(merged) <= 1500
        assert merged.threshold >= max(part.threshold for part in parts)


@pytest.mark.parametrize("rows", [gaussian_clusters, random_rows])
def test_sorted_rows_are_aggregated_as_finely(rows):
    X = rows(200_000, 3)
    X = X[np.argsort(X[:, 0])]
    threads, single = tree_of(X), tree_of(X, n_jobs=None)
    fineness = [tree.features.sse.sum() * len(tree) ** (2 / 3) for tree in (threads, single)]
    assert fineness[0] < 1.05 * fineness[1]


def test_an_interrupted_insert_keeps_the_rows_up_to_then():
    X = random_rows(3_000_000)

    def stop(done, total):
        if done:
            raise InterruptedError(done)

    tree = sb.CFTree(max_leaves=2000, n_jobs=2)
    with pytest.raises(InterruptedError) as caught:
        tree.insert(X, progress=stop)
    kept = int(tree.n_points)
    assert kept == caught.value.args[0] < len(X)
    assert_same_bits(tree.features, tree_of(X[:kept], max_leaves=2000).features)
    tree.insert(X[kept : kept + 9999])
    assert_holds(tree.features, X[: kept + 9999])


def test_the_nodes_stay_within_the_memory():
    for n_jobs in (2, 5):
        tree = sb.CFTree(max_memory="1MB", n_jobs=n_jobs)
        for seed in range(10):
            tree.insert(random_rows(20_000, 8, seed) + seed)
            assert tree.memory_bytes < 500_000


def test_bad_rows_leave_the_tree_as_it_was():
    X = random_rows(ROWS)
    tree = tree_of(X)
    before = snapshot(tree)
    bad = X.copy()
    bad[-1, 0] = np.nan
    with pytest.raises(ValueError, match="column 0 is nan"):
        tree.insert(bad)
    with pytest.raises(ValueError, match="3 columns"):
        tree.insert(random_rows(10, 3))
    assert snapshot(tree) == before


def test_a_damaged_file_is_refused(tmp_path):
    from silverbirch.storage import container

    path = tmp_path / "tree.sb"
    tree_of(gaussian_clusters(ROWS)).save(path)
    _, header, arrays = container.read(path, "tree")
    damages = [
        (header | {"rows": -1}, arrays),
        (header | {"points": -1.0}, arrays),
        (header | {"parts": header["parts"][:-1]}, arrays),
        (header, arrays | {"offsets": arrays["offsets"][:-1]}),
        (header, arrays | {"normals": np.full_like(arrays["normals"], np.nan)}),
        (header, {name: array for name, array in arrays.items() if name != "0.0.mean"}),
        (header | {"parameters": header["parameters"] | {"n_jobs": 0}}, arrays),
    ]
    for damaged in damages:
        container.write(path, "tree", *damaged)
        with pytest.raises(sb.ModelFileError, match="does not hold a whole tree"):
            sb.CFTree.load(path)
