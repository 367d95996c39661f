"""Complete, average and weighted linkage of points without a matrix: the result of the quadratic algorithms."""

import fastcluster
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import is_valid_linkage

import silverbirch as sb
from brute_force import few, random_features
from silverbirch import _core, machine
from trees import run_python

METHODS = ("complete", "average", "weighted")
KINDS = ("uniform", "clustered", "duplicated", "gridded", "collinear", "nested", "far")
TIED = ("duplicated", "gridded", "collinear")


def rows_of(kind, count, dimensions, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(count, dimensions))
    match kind:
        case "clustered":
            return rng.uniform(0, 50, size=(12, dimensions))[rng.integers(0, 12, count)] + rng.normal(
                size=(count, dimensions)
            )
        case "duplicated":
            return X[rng.integers(0, max(count // 3, 1), count)]
        case "gridded":
            return np.floor(X * max(2.0, count ** (1 / dimensions)))
        case "collinear":
            return np.round(X[:, :1] * count) * np.arange(1, dimensions + 1)
        case "nested":  # spreads of many magnitudes
            return X * 10.0 ** rng.integers(-6, 6, size=(count, 1))
        case "far":
            return X + 1e8
    return X


def assert_same_tree(Z, reference):
    assert_allclose(Z[:, 2], reference[:, 2], rtol=1e-12)
    assert_array_equal(Z[:, [0, 1, 3]], reference[:, [0, 1, 3]])


def assert_greedy(Z, X, weight, method):
    """With ties there are many greedy trees: every merge must still be at its height, and of nearest clusters."""
    assert is_valid_linkage(Z)
    n = len(X)
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    scale = 1e-11 * max(np.abs(X).max(), 1e-300)
    pairs = distances.copy()
    weight = np.asarray(weight, dtype=float).copy()
    at = list(range(n))  # the row of `pairs` that holds each node
    np.fill_diagonal(pairs, np.inf)
    for a, b, height, _ in Z:
        i, j = at[int(a)], at[int(b)]
        assert abs(pairs[i, j] - height) <= scale + 1e-11 * height
        assert height <= pairs.min() + scale + 1e-11 * height
        if method == "complete":
            merged = np.maximum(pairs[i], pairs[j])
        else:
            share = 0.5 if method == "weighted" else weight[i] / (weight[i] + weight[j])
            merged = share * pairs[i] + (1 - share) * pairs[j]
        pairs[i] = pairs[:, i] = merged
        pairs[i, i] = pairs[j] = pairs[:, j] = np.inf
        weight[i] += weight[j]
        at.append(i)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["uniform", "clustered"])
@pytest.mark.parametrize(("count", "dimensions"), [(3000, 2), (3000, 5), (1500, 9), (1000, 20)])
def test_large_inputs_give_the_tree_of_fastcluster(method, kind, count, dimensions):
    X = rows_of(kind, count, dimensions)
    reference = fastcluster.linkage(X, method)
    assert_same_tree(sb.linkage(X, method, algorithm="rounds"), reference)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", METHODS)
@given(
    kind=st.sampled_from(KINDS),
    count=st.integers(1, 120),
    dimensions=st.integers(1, 32),
    seed=st.integers(0, 1000),
    weighted=st.booleans(),
)
@few
def test_the_result_is_that_of_the_quadratic_algorithm_or_greedy_another_way_where_there_are_ties(
    method, dtype, kind, count, dimensions, seed, weighted
):
    X = rows_of(kind, count, dimensions, seed).astype(dtype)
    weight = np.random.default_rng(seed).integers(1, 5, count).astype(float) if weighted else np.ones(count)
    Z = sb.linkage(X, method, weights=weight, algorithm="rounds")
    assert Z.shape == (count - 1, 4)
    if count > 1 and kind in ("uniform", "clustered", "nested"):
        assert_same_tree(Z, sb.linkage(X, method, weights=weight, algorithm="nn_chain"))
    elif count > 1:
        assert_greedy(Z, X.astype(float), weight, method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", TIED)
def test_large_inputs_full_of_ties_are_merged_greedily(method, kind):
    X = rows_of(kind, 700, 3)
    assert_greedy(sb.linkage(X, method, algorithm="rounds"), X, np.ones(len(X)), method)


@pytest.mark.parametrize("method", METHODS)
def test_a_weight_is_the_same_as_the_row_repeated(method):
    rng = np.random.default_rng(3)
    X, weight = rng.uniform(size=(400, 3)), rng.integers(1, 4, 400)
    Z = sb.linkage(X, method, weights=weight, algorithm="rounds")
    repeated = sb.linkage(np.repeat(X, weight, axis=0), method, algorithm="rounds")
    assert_allclose(Z[:, 2], repeated[-399:, 2], rtol=1e-12)
    assert not repeated[:-399, 2].any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["uniform", "clustered", "gridded"])
def test_the_number_of_threads_does_not_change_a_bit(method, kind):
    X = rows_of(kind, 4000, 4)
    one, *others = (sb.linkage(X, method, algorithm="rounds", n_jobs=jobs).tobytes() for jobs in (1, 2, 3))
    assert others == [one, one]


@pytest.fixture
def restored_instruction_set():
    before = _core.instruction_set()
    yield
    _core.use_instruction_set(before)


@pytest.mark.usefixtures("restored_instruction_set")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dimensions", [3, 11])
def test_the_instruction_set_does_not_change_a_bit(method, dimensions):
    X = rows_of("clustered", 2000, dimensions)
    results = set()
    for name in _core.supported_instruction_sets():
        _core.use_instruction_set(name)
        results.add(sb.linkage(X, method, algorithm="rounds").tobytes())
    assert len(results) == 1


@pytest.mark.parametrize("method", METHODS)
def test_data_moved_far_away_gives_the_same_tree(method):
    X = np.round(rows_of("clustered", 1500, 3) * 2**16) / 2**16  # so that moving is exact
    near, far = (sb.linkage(X + offset, method, algorithm="rounds") for offset in (0.0, 2.0**27))
    assert_same_tree(far, near)


def test_complete_linkage_of_features_is_that_of_their_means():
    features = random_features(300)
    assert_array_equal(sb.linkage(features, "complete"), sb.linkage(features.mean, "complete"))


@pytest.mark.parametrize("method", METHODS)
def test_auto_agrees_with_a_matrix_whether_an_index_pays_or_not(method):
    for dimensions in (2, 40):
        X = rows_of("uniform", 1300, dimensions)
        Z = sb.linkage(X, method)
        assert_allclose(Z[:, 2], fastcluster.linkage(X, method)[:, 2], rtol=1e-12)


@pytest.mark.parametrize("method", ["single", "centroid", "median", "minimax", "medoid"])
def test_rounds_are_refused_for_linkages_they_cannot_do(method):
    with pytest.raises(ValueError, match=f"algorithm='rounds' does not compute '{method}'"):
        sb.linkage(rows_of("uniform", 20, 2), method, algorithm="rounds")


@pytest.mark.skipif(machine.peak_memory() is None, reason="this system does not report the memory of a process")
@pytest.mark.parametrize("method", ["complete", "average"])
def test_memory_is_linear_in_the_points(method):
    code = f"""
import numpy as np, silverbirch as sb
from silverbirch import machine
X = np.random.default_rng(0).uniform(size=(12_000, 3))
sb.linkage(X[:100], {method!r})
before = machine.peak_memory()
sb.linkage(X, {method!r})
print(machine.peak_memory() - before)
"""
    assert int(run_python(code).stdout) < 50_000_000  # a matrix takes 576 MB
