"""The CF-tree in parts: neither threads nor chunks nor a stop at a file change a bit of it."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from trees import assert_holds, assert_same_bits, gaussian_clusters, random_rows, snapshot

ROWS = 30_000  # the first two thousand go into one part
LEAVES = 3000  # enough to be divided


def tree_of(X, weight=None, **parameters):
    return sb.CFTree(**({"max_leaves": LEAVES} | parameters)).insert(X, weight)


def sorted_clusters(count, dimensions=2):
    X = gaussian_clusters(count, dimensions)
    return X[np.argsort(X[:, 0])]


def part_count(tree):
    return tree._core.part_count


def test_few_columns_and_many_leaves_are_divided():
    X = gaussian_clusters(ROWS)
    assert part_count(tree_of(X)) > 1
    assert part_count(tree_of(X, max_leaves=25_000)) >= 16
    assert part_count(tree_of(X[:2000])) == 1
    assert part_count(tree_of(X, max_leaves=400)) == 1
    assert part_count(tree_of(gaussian_clusters(5000, 17))) == 1


@pytest.mark.parametrize("rows", [gaussian_clusters, random_rows, sorted_clusters])
@pytest.mark.parametrize("dimensions", [1, 5, 20])
def test_threads_change_no_bit(rows, dimensions):
    X = rows(ROWS, dimensions)
    one = tree_of(X)
    assert_holds(one.features, X)
    assert one.n_rebuilds > 0
    for n_jobs in (2, 3, 5, -1):
        assert snapshot(tree_of(X, n_jobs=n_jobs)) == snapshot(one)


@settings(max_examples=25, deadline=None)
@given(
    cuts=st.lists(st.integers(0, ROWS), max_size=6),
    jobs=st.lists(st.sampled_from([None, 2, 3]), min_size=7, max_size=7),
    stored=st.sets(st.integers(0, 6)),
    weighted=st.booleans(),
    max_leaves=st.sampled_from([1100, 2100, None]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_chunks_threads_and_files_change_no_bit(cuts, jobs, stored, weighted, max_leaves, dtype):
    X = gaussian_clusters(ROWS).astype(dtype)
    weight = np.random.default_rng(1).integers(0, 3, ROWS) * 0.3 if weighted else None
    tree = sb.CFTree(max_leaves=max_leaves)
    for number, rows in enumerate(np.split(np.arange(ROWS), sorted(cuts))):
        if not len(rows):
            continue
        tree.n_jobs = jobs[number]
        tree.insert(X[rows], None if weight is None else weight[rows])
        assert len(tree) <= (max_leaves or ROWS)
        if number in stored:
            tree = pickle.loads(pickle.dumps(tree))
    assert snapshot(tree) == snapshot(tree_of(X, weight, max_leaves=max_leaves))


def test_weight_zero_is_no_row_and_weights_count():
    X = random_rows(ROWS)
    weight = np.random.default_rng(1).integers(0, 4, ROWS).astype(float)
    tree = tree_of(X, weight, n_jobs=2)
    assert snapshot(tree) == snapshot(tree_of(X[weight > 0], weight[weight > 0]))
    assert_holds(tree.features, X, weight)


def test_features_are_inserted_as_rows_are():
    X = random_rows(ROWS)
    assert snapshot(tree_of(sb.ClusterFeatures(1, X, 0), n_jobs=2)) == snapshot(tree_of(X))


@pytest.mark.parametrize("limited", [False, True])
def test_different_rows_up_to_the_limit_are_kept_apart(limited):
    X = np.round(random_rows(ROWS) * 12)
    rows, counts = np.unique(X + 0.0, axis=0, return_counts=True)
    tree = tree_of(X, max_leaves=len(rows) if limited else None)
    order = np.lexsort(tree.features.mean.T[::-1])
    np.testing.assert_array_equal(tree.features.mean[order], rows)
    np.testing.assert_array_equal(tree.features.weight[order], counts)
    assert part_count(tree) > 1


@pytest.mark.parametrize("rows", [1000, 2048, 12_345, ROWS - 1000])
def test_a_file_goes_on_to_the_same_bits_with_any_threads(rows, tmp_path):
    X = gaussian_clusters(ROWS, 3)
    tree = tree_of(X[:rows], n_jobs=3)
    tree.save(tmp_path / "tree.sb")
    again = sb.CFTree.load(tmp_path / "tree.sb")
    assert snapshot(again) == snapshot(tree)
    assert snapshot(again.insert(X[rows:])) == snapshot(tree.insert(X[rows:])) == snapshot(tree_of(X))


def test_a_part_without_rows_is_stored_too(tmp_path):
    X = np.zeros((ROWS, 2))
    X[:50] = random_rows(50)
    tree = tree_of(X)
    assert part_count(tree) > 1
    tree.save(tmp_path / "tree.sb")
    assert snapshot(sb.CFTree.load(tmp_path / "tree.sb").insert(X)) == snapshot(tree_of(X).insert(X))


def test_trees_of_one_part_and_of_several_merge():
    X = gaussian_clusters(ROWS)
    trees = [tree_of(X[:10_000]), tree_of(X[10_000:20_000], max_leaves=300), tree_of(X[20_000:], n_jobs=3)]
    for first in range(3):
        merged = sb.CFTree(max_leaves=LEAVES, n_jobs=2 if first else None)
        for tree in np.roll(np.array(trees, dtype=object), first):
            merged.merge(tree)
        assert_holds(merged.features, X)
        assert len(merged) <= LEAVES
        assert merged.threshold >= max(tree.threshold for tree in trees)


def test_a_stream_that_moves_from_part_to_part_keeps_the_limit():
    X = random_rows(3 * ROWS, 2)
    X[ROWS:] *= 0.01
    X[2 * ROWS :] += 3.0
    tree = sb.CFTree(max_leaves=LEAVES)
    for chunk in np.array_split(X, 300):
        assert len(tree.insert(chunk)) <= LEAVES
    assert_holds(tree.features, X)


@pytest.mark.parametrize("rows", [gaussian_clusters, random_rows])
def test_sorted_rows_are_aggregated_as_finely_as_by_one_part(rows):
    X = rows(200_000, 3)
    X = X[np.argsort(X[:, 0])]
    parts = tree_of(X)
    one = sb.CFTree(max_leaves=LEAVES)
    options = one._core_options
    one._core_options = lambda *of: options(*of)._replace(parts=1)
    one.insert(X)
    assert part_count(parts) > part_count(one) == 1
    fineness = [tree.features.sse.sum() * len(tree) ** (2 / 3) for tree in (parts, one)]
    assert fineness[0] < 1.05 * fineness[1]


def test_the_nodes_stay_within_the_memory():
    for n_jobs in (None, 5):
        tree = sb.CFTree(max_memory="2MB", n_jobs=n_jobs)
        for seed in range(10):
            tree.insert(random_rows(20_000, 8, seed) + seed)
            assert tree.memory_bytes < 1_000_000
        assert part_count(tree) > 1


def test_bad_rows_leave_the_tree_as_it_was():
    X = random_rows(ROWS)
    bad = X.copy()
    bad[-1, 0] = np.nan
    for n_jobs in (None, 2):
        for tree in (sb.CFTree(max_leaves=LEAVES, n_jobs=n_jobs), tree_of(X, n_jobs=n_jobs)):
            before = snapshot(tree)
            with pytest.raises(ValueError, match="column 0 is nan"):
                tree.insert(bad)
            assert snapshot(tree) == before
        with pytest.raises(ValueError, match="3 columns"):
            tree.insert(random_rows(10, 3))
        assert snapshot(tree) == before
        assert_same_bits(tree.insert(X).features, tree_of(X).insert(X).features)


def test_a_damaged_file_is_refused(tmp_path):
    from silverbirch.storage import container

    path = tmp_path / "tree.sb"
    tree_of(gaussian_clusters(ROWS)).save(path)
    _, header, arrays = container.read(path, "tree")
    first, *others = header["parts"]
    damages = [
        (header | {"points": -1.0}, arrays),
        (header | {"parts": others}, arrays),
        (header | {"parts": [first | {"limits": [0, 0]}, *others]}, arrays),
        (header | {"parts": [first | {"limits": [1]}, *others]}, arrays),
        (header | {"parts": [first | {"squared_threshold": -1.0}, *others]}, arrays),
        (header | {"interval": [1, 2, 3]}, arrays),
        (header | {"interval": [1, -2, 3, 4]}, arrays),
        (header | {"interval": [1, 1, 2**61, 2**61]}, arrays),
        (header, arrays | {"offsets": arrays["offsets"][:-1]}),
        (header, arrays | {"normals": np.full_like(arrays["normals"], np.nan)}),
        (header, {name: array for name, array in arrays.items() if name != "0.0.mean"}),
        (header | {"parameters": header["parameters"] | {"n_jobs": 0}}, arrays),
    ]
    for damaged in damages:
        container.write(path, "tree", *damaged)
        with pytest.raises(sb.ModelFileError, match="does not hold a whole tree"):
            sb.CFTree.load(path)
