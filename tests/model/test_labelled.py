"""The rows labelled to each leaf are summed up in the pass that labels them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import silverbirch as sb
from commands import silverbirch
from models import points, seeds, some
from silverbirch.model.labelled import LeafCounter
from silverbirch.rows import START, Chunk, Position
from trees import assert_same_bits


def by_hand(leaves, X, weight):
    """rows, weight, mean and sse of the rows nearest to each leaf; an empty leaf keeps its mean."""
    nearest = cdist(X, leaves.mean, "sqeuclidean").argmin(axis=1)
    found = []
    for leaf, own in enumerate(leaves.mean):
        x, w = X[(nearest == leaf) & (weight > 0)], weight[(nearest == leaf) & (weight > 0)]
        mean = np.average(x, axis=0, weights=w) if len(x) else own
        found.append((len(x), w.sum(), mean, w @ ((x - mean) ** 2).sum(axis=1)))
    return tuple(np.array(part) for part in zip(*found, strict=True))


@some
@given(
    seed=seeds,
    leaves=st.integers(1, 40),
    dtype=st.sampled_from([np.float32, np.float64]),
    weighted=st.booleans(),
    parts=st.integers(1, 6),
)
def test_labelled_leaves_are_the_sums_of_their_nearest_rows(seed, leaves, dtype, weighted, parts):
    random = np.random.default_rng(seed)
    X = (random.normal(size=(200, 3)) + random.choice([0, 1e6])).astype(dtype)
    weight = random.integers(0, 3, 200).astype(float) + (np.arange(200) == 0) if weighted else None
    features = sb.CFTree(max_leaves=leaves).insert(X[:50]).features  # of other rows, so that some leaves stay empty
    counter, nearest = LeafCounter(features), sb.CFTree(max_leaves=leaves).insert(X[:50]).assign(X)
    for part in np.array_split(np.arange(200), parts):
        chunk = Chunk(X[part], START, Position(1, 0), None if weight is None else weight[part])
        counter.add(chunk, nearest[part])
    labelled = counter.result()
    expected = by_hand(features, X.astype(float), np.ones(200) if weight is None else weight)
    np.testing.assert_array_equal(labelled.rows, expected[0])
    scale = 1e-8 * np.abs(X).max()
    for mine, theirs in zip(labelled.features.arrays(), expected[1:], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=scale)


@pytest.mark.parametrize("refine", [0, 1])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_keeps_them_whatever_the_number_of_jobs(n_jobs, refine):
    X = points(3000)
    model = sb.Betula(5, max_leaves=100, n_jobs=n_jobs, refine=refine).fit(X)
    rows, *expected = by_hand(model.features_, X, np.ones(3000))
    np.testing.assert_array_equal(model._labelled.rows, rows)
    for mine, theirs in zip(model._labelled.features.arrays(), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    assert_same_bits(model._labelled.features, sb.Betula(5, max_leaves=100, refine=refine).fit(X)._labelled.features)


def test_pieces_of_a_large_chunk_give_the_same_sums(monkeypatch):
    X = points(1000)
    whole = sb.Betula(5, max_leaves=50).fit(X)._labelled
    monkeypatch.setattr("silverbirch.model.labelled._PIECE", 64)
    pieces = sb.Betula(5, max_leaves=50).fit(X)._labelled
    np.testing.assert_array_equal(pieces.rows, whole.rows)
    for mine, theirs in zip(pieces.features.arrays(), whole.features.arrays(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_the_command_line_keeps_them_and_leaves_rows_out_that_have_no_label(missing, tmp_path):
    X = points(2000)
    if missing == "drop":
        X[::7, 1] = np.nan
    pd.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "rows.parquet")
    files = ["--labels", tmp_path / "labels.npy", "--model", tmp_path / "run.sb"]
    options = ["-k", 6, "--max-leaves", 60, "--missing", missing]
    result = silverbirch("cluster", tmp_path / "rows.parquet", *options, *files)
    assert result.exit_code == 0, result.stderr
    labels = np.load(tmp_path / "labels.npy")
    sizes = np.bincount(labels[~np.isnan(X[:, 1])])
    table = sb.Betula.load(tmp_path / "run.sb").clusters_
    np.testing.assert_array_equal(table.rows, sizes)
    assert f"of {sizes.min():,} to {sizes.max():,} rows" in result.output


def test_a_cut_of_the_command_line_keeps_the_sums_of_the_rows_of_the_model(tmp_path):
    X = points(2000)
    model = sb.Betula(6, max_leaves=60).fit(X)
    model.save(tmp_path / "run.sb")
    np.save(tmp_path / "other.npy", points(50, seed=1))
    command = ["cut", tmp_path / "run.sb", tmp_path / "other.npy", "-k", 4, "--labels", tmp_path / "labels.npy"]
    assert silverbirch(*command, "--model", tmp_path / "new.sb").exit_code == 0
    table = sb.load(tmp_path / "new.sb").clusters_
    np.testing.assert_array_equal(table.rows, np.bincount(model.cut(4)))
