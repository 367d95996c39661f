"""The memory of the CF-tree."""

import numpy as np
import pytest

import silverbirch as sb
from trees import gaussian_clusters, random_rows, snapshot


@pytest.mark.parametrize("dimensions", [2, 5, 64])
@pytest.mark.parametrize(("max_memory", "limit"), [("1MB", 10**6), ("300kB", 300_000)])
@pytest.mark.parametrize("kind", ["random", "sorted", "clusters", "powers of two"])
def test_max_memory_bounds_the_tree_and_its_rebuild(kind, max_memory, limit, dimensions):
    count = 20_000 if dimensions < 10 else 4_000
    X = {
        "random": lambda: random_rows(count, dimensions),
        "sorted": lambda: np.sort(random_rows(count, dimensions), axis=0),
        "clusters": lambda: gaussian_clusters(count, dimensions),
        "powers of two": lambda: 2.0 ** np.random.default_rng(0).integers(-200, 200, size=(count, dimensions)),
    }[kind]()
    tree = sb.CFTree(max_memory=max_memory)
    most = 0
    for chunk in np.array_split(X, 50):
        tree.insert(chunk)
        most = max(most, 2 * tree.memory_bytes)  # a rebuild holds two trees
    assert tree.n_rebuilds > 0
    assert most <= limit


def test_more_memory_gives_more_leaves():
    leaves = [len(sb.CFTree(max_memory=m).insert(random_rows(5000))) for m in ("20kB", "200kB", "20MB")]
    assert leaves[0] < leaves[1] < leaves[2] == 5000


def test_max_leaves_and_max_memory_both_hold():
    X = random_rows(3000)
    small = sb.CFTree(max_memory="20kB").insert(X)
    assert len(sb.CFTree(max_leaves=2000, max_memory="20kB").insert(X)) == len(small) < 2000
    assert len(sb.CFTree(max_leaves=7, max_memory="20kB").insert(X)) <= 7


@pytest.mark.parametrize(("max_memory", "dimensions"), [(1, 1), (300, 2), ("1kB", 100)])
def test_too_little_memory_is_refused_and_the_tree_stays_empty(max_memory, dimensions):
    tree = sb.CFTree(max_memory=max_memory)
    with pytest.raises(ValueError, match=f"does not hold a tree of rows of {dimensions} columns: raise max_memory"):
        tree.insert(random_rows(5, dimensions))
    assert snapshot(tree) == snapshot(sb.CFTree(max_memory=max_memory))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1MB", 10**6),
        ("300kB", 300_000),
        ("2 GiB", 2**31),
        ("1.5MB", 1_500_000),
        (" 64 mib ", 2**26),
        ("1KiB", 1024),
        ("1TB", 10**12),
        ("512", 512),
        ("512B", 512),
        (2e6, 2_000_000),
        (4096, 4096),
    ],
)
def test_memory_is_read_with_its_unit(text, count):
    assert sb.CFTree(max_memory=text).max_memory == count


def test_far_outliers_do_not_fill_the_memory_with_empty_nodes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 70)) * 10 ** rng.uniform(-3, 3, size=(6000, 1))
    tree = sb.CFTree(max_leaves=2000, distance="average").insert(X)
    assert tree.memory_bytes < 20 * 8 * 2000 * 70
