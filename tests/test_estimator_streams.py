"""Betula and CFTree on files, tables and streams: the same bits as an array, and no change if reading fails."""

import os
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import silverbirch as sb
from models import groups, state
from tables import FORMATS, write
from trees import assert_same_bits, snapshot

ROWS, WIDTH = 3000, 3
CHUNK = 256  # so that there are many
NAMES = ["x", "y", "z"]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    """Makes all chunks 256 rows, the least size, so that there are many."""
    monkeypatch.setattr("silverbirch.rows.source._MOST_ROWS", CHUNK)


def numbers(seed=0, rows=ROWS):
    return groups(rows, k=4, d=WIDTH, seed=seed)


def table(X):
    return pd.DataFrame(X, columns=NAMES)


class OnlyAStream:
    def __init__(self, source):
        self._source = source

    def __arrow_c_stream__(self, requested_schema=None):
        return self._source.__arrow_c_stream__(requested_schema)


MEMORY = {
    "pandas": table,
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.Table.from_pandas(table(X)),
    "source": lambda X: sb.read_chunks(X),
    "mapped": lambda X: np.asfortranarray(X).view(np.memmap),
}
ONCE = {
    "reader": lambda X: pa.Table.from_pandas(table(X)).to_reader(100),
    "C stream": lambda X: OnlyAStream(pa.Table.from_pandas(table(X))),
    "arrays": lambda X: iter(np.array_split(X, 7)),
    "frames": lambda X: (table(part) for part in np.array_split(X, 7)),
}
FILES = {name: name for name in [*FORMATS, "rows.npy", "folder"]}


def given(kind, X, folder):
    """The rows as a table, stream or file."""
    if kind in MEMORY | ONCE:
        return (MEMORY | ONCE)[kind](X)
    if kind == "folder":
        for number, part in enumerate(np.array_split(X, 4)):
            write(table(part), folder / f"part-{number}.parquet")
        return folder
    if kind == "rows.npy":
        np.save(folder / kind, X)
        return folder / kind
    return write(table(X), folder / kind)


ALL_KINDS = [*MEMORY, *ONCE, *FILES]


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_tree_of_chunks_has_the_bits_of_a_tree_of_the_array(kind, tmp_path):
    X = numbers()
    expected = sb.CFTree(max_leaves=50).insert(X)
    tree = sb.CFTree(max_leaves=50).insert(given(kind, X, tmp_path))
    assert snapshot(tree) == snapshot(expected)
    np.testing.assert_array_equal(tree.assign(given(kind, X, tmp_path)), expected.assign(X))


@pytest.mark.parametrize("kind", ALL_KINDS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_model_of_chunks_has_the_bits_of_a_model_of_the_array(method, kind, tmp_path):
    X = numbers()
    expected = getattr(sb.Betula(4, max_leaves=50), method)(X)
    model = getattr(sb.Betula(4, max_leaves=50), method)(given(kind, X, tmp_path))
    assert_same_bits(model.features_, expected.features_)
    assert model.linkage_matrix_.tobytes() == expected.linkage_matrix_.tobytes()
    assert hasattr(model, "labels_") == (kind not in ONCE)
    if hasattr(model, "labels_"):
        np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(given(kind, X, tmp_path)), expected.predict(X))
    np.testing.assert_allclose(model.score(given(kind, X, tmp_path)), expected.score(X), rtol=1e-12)


@pytest.mark.parametrize("kind", ["pandas", "rows.parquet", "rows.csv", "reader", "arrays"])
def test_with_threads_the_same_chunks_give_the_same_bits(kind, tmp_path):
    X = numbers()
    first, second = (sb.CFTree(max_leaves=300, n_jobs=2).insert(given(kind, X, tmp_path)) for _ in range(2))
    assert snapshot(first) == snapshot(second)
    by_hand = sb.CFTree(max_leaves=300, n_jobs=2)
    for part in np.array_split(X, 7) if kind == "arrays" else np.split(X, range(CHUNK, ROWS, CHUNK)):
        by_hand.insert(part)
    assert snapshot(first) == snapshot(by_hand)


def test_a_stream_of_which_nothing_is_kept_says_what_to_use_instead_of_labels():
    model = sb.Betula(4, max_leaves=50).fit(iter([numbers()]))
    with pytest.raises(AttributeError, match=r"after fit or partial_fit of a stream, .*not kept.*: use predict"):
        _ = model.labels_


@pytest.mark.parametrize("kind", ["rows.parquet", "rows.csv", "pyarrow", "reader", "frames", "pandas"])
def test_names_of_columns_are_known_and_checked(kind, tmp_path):
    X = numbers()
    model = sb.Betula(4, max_leaves=50).fit(given(kind, X, tmp_path))
    assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == WIDTH
    other = write(table(X).rename(columns={"x": "w"}), tmp_path / "other.parquet")
    with pytest.raises(ValueError, match=r"X has columns 'w', 'y', 'z', but the model was fitted to 'x', 'y', 'z'"):
        model.predict(other)
    with pytest.raises(ValueError, match="X has 1 features, but Betula is expecting 3 features"):
        model.partial_fit(sb.read_chunks(other, columns=["y"]))
    turned = write(table(X)[["z", "x", "y"]], tmp_path / "turned.parquet")
    np.testing.assert_array_equal(model.predict(sb.read_chunks(turned, columns=NAMES)), model.predict(table(X)))


def test_fit_on_an_array_forgets_the_names_of_a_file_and_the_other_way_round(tmp_path):
    X = numbers()
    path = given("rows.parquet", X, tmp_path)
    model = sb.Betula(4, max_leaves=50).fit(path).fit(X)
    assert not hasattr(model, "feature_names_in_")
    assert model.fit(path).feature_names_in_.tolist() == NAMES


# -- weights


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "rows.parquet", "rows.npy", "folder", "rows.arrow"])
def test_weights_go_along_with_their_rows(kind, tmp_path):
    X, weight = numbers(), np.random.default_rng(1).integers(0, 4, ROWS)
    expected = sb.Betula(4, max_leaves=50).fit(X, sample_weight=weight)
    model = sb.Betula(4, max_leaves=50).fit(given(kind, X, tmp_path), sample_weight=weight)
    assert_same_bits(model.features_, expected.features_)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    scores = (m.score(x, sample_weight=weight) for m, x in [(model, given(kind, X, tmp_path)), (expected, X)])
    np.testing.assert_allclose(*scores, rtol=1e-12)
    with pytest.raises(ValueError, match=r"sample_weight has shape \(5,\) but there are 3000 rows"):
        model.fit(given(kind, X, tmp_path), sample_weight=np.ones(5))


@pytest.mark.parametrize("kind", ["rows.csv", "rows.arrows", *ONCE])
def test_weights_for_an_unknown_number_of_rows_are_refused_but_for_one_that_stands_for_all(kind, tmp_path):
    X = numbers()
    with pytest.raises(ValueError, match="weight needs an input whose number of rows is known"):
        sb.CFTree().insert(given(kind, X, tmp_path), np.ones(ROWS))
    tree = sb.CFTree(max_leaves=50).insert(given(kind, X, tmp_path), 2.0)
    assert snapshot(tree) == snapshot(sb.CFTree(max_leaves=50).insert(X, 2.0))


def test_rows_that_all_count_nothing_are_refused(tmp_path):
    with pytest.raises(ValueError, match="sample_weight is zero for all rows"):
        sb.Betula().fit(given("rows.parquet", numbers(), tmp_path), sample_weight=0)


# -- refining


@pytest.mark.parametrize("kind", ["pandas", "rows.parquet", "rows.csv"])
def test_refined_leaves_of_a_file_are_those_of_the_array_up_to_rounding(kind, tmp_path):
    X = numbers()
    expected = sb.Betula(4, max_leaves=50, refine=2).fit(X)
    model = sb.Betula(4, max_leaves=50, refine=2).fit(given(kind, X, tmp_path))
    for mine, theirs in zip(model.features_.arrays(), expected.features_.arrays(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.labels_, expected.labels_)


@pytest.mark.parametrize("kind", ONCE)
def test_what_comes_by_once_cannot_refine(kind, tmp_path):
    model = sb.Betula(4, refine=1)
    with pytest.raises(ValueError, match="refine=1 reads the rows again, but a stream can be read only once"):
        model.fit(given(kind, numbers(), tmp_path))
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("kind", ["rows.parquet", "reader", "arrays"])
def test_transform_of_a_stream_is_refused_with_the_remedy(kind, tmp_path):
    X = numbers()
    model = sb.Betula(4, max_leaves=50).fit(X)
    with pytest.raises(
        TypeError, match=r"pass it chunk by chunk, for rows in read_chunks\(…\): model.transform\(rows\)"
    ):
        model.transform(given(kind, X, tmp_path))
    np.testing.assert_array_equal(model.transform(table(X).to_numpy()), model.transform(X))


# -- failures

BROKEN_ROW = 7 * CHUNK + 11


def broken(X):
    X = X.copy()
    X[BROKEN_ROW, 1] = np.nan
    return X


def line_goes_down(X):
    yield from np.array_split(X[: ROWS // 2], 5)
    raise ConnectionError("the line is down")


FAILURES = {
    **{kind: (lambda X, folder, kind=kind: given(kind, broken(X), folder)) for kind in ALL_KINDS if kind != "folder"},
    "generator that raises": lambda X, folder: line_goes_down(X),
    "second file missing columns later": lambda X, folder: iter([X, X[:, :2]]),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_stream_that_fails_half_way_leaves_the_tree_as_it_was(failure, n_jobs, tmp_path):
    tree, untouched = (sb.CFTree(max_leaves=300, n_jobs=n_jobs).insert(numbers(1)) for _ in range(2))
    with pytest.raises((ValueError, ConnectionError)):
        tree.insert(FAILURES[failure](numbers(), tmp_path))
    assert snapshot(tree) == snapshot(untouched)
    more = numbers(2)
    assert snapshot(tree.insert(more)) == snapshot(untouched.insert(more))


@pytest.mark.parametrize("failure", FAILURES)
def test_an_empty_tree_stays_empty_and_takes_rows_of_any_width(failure, tmp_path):
    tree = sb.CFTree(max_leaves=50)
    with pytest.raises((ValueError, ConnectionError)):
        tree.insert(FAILURES[failure](numbers(), tmp_path))
    assert tree.n_points == len(tree) == 0
    assert tree.insert(np.ones((2, 9))).n_points == 2


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_stream_that_fails_half_way_leaves_the_model_as_it_was(method, failure, tmp_path):
    good = numbers(1)
    model = sb.Betula(4, max_leaves=50).fit(good)
    before, parts = state(model, good), dict(model.__dict__)
    with pytest.raises((ValueError, ConnectionError)):
        getattr(model, method)(FAILURES[failure](numbers(), tmp_path))
    assert state(model, good) == before
    assert model.__dict__.keys() == parts.keys()
    untouched = sb.Betula(4, max_leaves=50).fit(good)
    more = numbers(2)
    assert state(model.partial_fit(more), good) == state(untouched.partial_fit(more), good)


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_first_stream_that_fails_leaves_the_model_unfitted(method, failure, tmp_path):
    model = sb.Betula(4, max_leaves=50)
    with pytest.raises((ValueError, ConnectionError)):
        getattr(model, method)(FAILURES[failure](numbers(), tmp_path))
    assert not hasattr(model, "tree_")
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("rows.parquet", rf"^row {BROKEN_ROW} of .*rows.parquet, column 'y' is nan"),
        ("rows.csv", rf"^row {BROKEN_ROW} of .*rows.csv, column 'y' is nan"),
        ("rows.npy", rf"^row {BROKEN_ROW} of .*rows.npy, column 1 is nan"),
        ("pyarrow", rf"^row {BROKEN_ROW}, column 'y' is nan"),
        ("pandas", rf"^X: row {BROKEN_ROW}, column 'y' is nan"),
        ("polars", rf"^X: row {BROKEN_ROW}, column 'y' is nan"),
    ],
)
def test_a_missing_value_is_refused_with_its_place(kind, place, tmp_path):
    with pytest.raises(ValueError, match=place):
        sb.CFTree().insert(given(kind, broken(numbers()), tmp_path))


@pytest.mark.parametrize("rows", [ROWS - 1, ROWS + 1, ROWS + CHUNK])
def test_a_file_that_changes_between_two_passes_is_refused(rows, tmp_path):
    path = given("rows.parquet", numbers(), tmp_path)
    source = sb.read_chunks(path)
    given("rows.parquet", numbers(rows=rows), tmp_path)
    model = sb.Betula(4, max_leaves=50)
    with pytest.raises(ValueError, match="was changed while it was read"):
        model.fit(source)
    assert not hasattr(model, "tree_")


def test_a_file_that_loses_all_its_rows_is_refused(tmp_path):
    source = sb.read_chunks(given("folder", numbers(), tmp_path))
    write(table(numbers()[:0]), tmp_path / "part-2.parquet")
    tree = sb.CFTree(max_leaves=50)
    with pytest.raises(ValueError, match=r"part-2.parquet was changed while it was read"):
        tree.insert(source)
    assert len(tree) == 0


@pytest.mark.parametrize("rows", [10, 11, ROWS])
def test_a_file_that_changes_before_it_is_inserted_leaves_the_tree_as_it_was(rows, tmp_path):
    source = sb.read_chunks(given("rows.npy", numbers(rows=rows), tmp_path))
    given("rows.npy", numbers(rows=rows, seed=1), tmp_path)
    os.utime(tmp_path / "rows.npy", ns=(0, 0))
    tree, untouched = (sb.CFTree(max_leaves=50).insert(numbers(2)) for _ in range(2))
    with pytest.raises(ValueError, match="was changed while it was read"):
        tree.insert(source)
    assert snapshot(tree) == snapshot(untouched)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, InterruptedError])
def test_an_interrupt_between_chunks_keeps_the_rows_up_to_then(stop, tmp_path):
    X = numbers()

    def interrupt(done, total):
        assert total == ROWS
        if done >= 5 * CHUNK:
            raise stop

    tree = sb.CFTree(max_leaves=50)
    with pytest.raises(stop):
        tree.insert(given("rows.parquet", X, tmp_path), progress=interrupt)
    assert snapshot(tree) == snapshot(sb.CFTree(max_leaves=50).insert(X[: 5 * CHUNK]))


def test_an_interrupted_stream_leaves_a_model_that_goes_with_its_tree():
    X = numbers()

    def rows():
        yield X[:700]
        raise KeyboardInterrupt

    model = sb.Betula(4, max_leaves=50).fit(X)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(rows())
    assert model.features_.weight.sum() == ROWS + 700
    assert not hasattr(model, "labels_")
    assert model.dendrogram_.n_leaves == len(model.features_)


# -- the way


@pytest.mark.parametrize("kind", ["pandas", "rows.parquet", "rows.csv", "arrays"])
def test_progress_grows_and_ends_with_all(kind, tmp_path):
    seen = []
    sb.CFTree(max_leaves=50).insert(given(kind, numbers(), tmp_path), progress=lambda *now: seen.append(now))
    assert seen[-1] == (ROWS, ROWS)
    assert all(0 < done <= total for done, total in seen)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert kind == "arrays" or len(seen) > 5


@pytest.mark.parametrize("kind", ["pandas", "rows.parquet", "arrays"])
def test_a_tree_of_float32_rounds_what_comes_in_chunks(kind, tmp_path):
    X = numbers()
    tree = sb.CFTree(max_leaves=50, dtype=np.float32).insert(given(kind, X, tmp_path))
    assert snapshot(tree) == snapshot(sb.CFTree(max_leaves=50).insert(X.astype(np.float32)))
    with pytest.raises(ValueError, match="is inf"):
        tree.insert(given(kind, X * 1e60, tmp_path))


@pytest.mark.parametrize("kind", ["pandas of float64", "pandas of integers", "polars", "pyarrow", "mapped float16"])
def test_a_large_table_is_never_converted_as_a_whole(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("silverbirch.rows.source._MOST_ROWS", 4096)
    rows = 400_000
    X = np.random.default_rng(0).integers(-9, 9, (rows, 4)).astype(float)
    what = {
        "pandas of float64": lambda: pd.DataFrame(X),
        "pandas of integers": lambda: pd.DataFrame(X.astype(np.int64)),
        "polars": lambda: pl.DataFrame(X),
        "pyarrow": lambda: pa.table({str(i): column for i, column in enumerate(X.T)}),
        "mapped float16": lambda: X.astype(np.float16).view(np.memmap),
    }[kind]()
    model = sb.Betula(2, max_leaves=10).partial_fit(X[:5000])
    sb.CFTree(max_leaves=10).insert(what[:2000])  # imports
    tracemalloc.start()
    try:
        sb.CFTree(max_leaves=10).insert(what)
        model.__class__(2, max_leaves=10, max_memory="1MB").partial_fit(what)  # without a copy for `labels_`
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes / 4
