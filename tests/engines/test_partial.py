"""What crosses the wire is whole or refused, and merges to what one pass over all rows finds."""

import os
import pickle
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from model_files import file_of
from silverbirch.engines.job import FAN_IN, rounds_of_merges
from silverbirch.engines.partial import Columns, Partial, counted_together, merged_by_leaf, merged_in_tree
from silverbirch.engines.work import Aggregate, Count, Gather, Reading, packed_model
from silverbirch.model import AggregateModel
from silverbirch.pipeline.aggregation import Counts
from silverbirch.pipeline.preparation import Preparation
from silverbirch.pipeline.provenance import RunState
from silverbirch.pipeline.statistics import ColumnStatistics
from silverbirch.storage import container
from trees import assert_same_bits, gaussian_clusters, random_rows

NAMES = ("x", "y", "z")


def partial(count=20, names=NAMES, seed=0):
    """One with everything that a partial can hold."""
    X = random_rows(count, 3, seed)
    features = sb.CFTree(max_leaves=10).insert(X).features
    rows = np.arange(len(features))
    return Partial(Columns(3, names), Counts(count, 2, 3), features, 0.1 + 0.2, rows, ColumnStatistics.of(X))


def content(part):
    """All that a partial holds, as plain values and bytes."""
    statistics = None if part.statistics is None else part.statistics.to_state()
    arrays = [] if part.features is None else [array.tobytes() for array in part.features.arrays()]
    return (
        part.columns,
        part.counts,
        arrays,
        part.threshold.hex(),
        None if part.leaf_rows is None else (part.leaf_rows.dtype, part.leaf_rows.tobytes()),
        statistics and {name: array.tobytes() for name, array in statistics.items()},
    )


# --- the bytes


@pytest.mark.parametrize(
    "part",
    [
        Partial(),
        partial(),
        partial(names=None),
        partial(1),
        Partial(Columns(2), Counts(5, 5)),
        Partial(Columns(2, ("a", "ü\N{SNOWMAN}\ud800")), Counts(2**60)),
        Partial(Columns(1), features=sb.ClusterFeatures([1e-30, 1e30], [[-0.0], [5e-324]], [0, 1e-300])),
    ],
    ids=["empty", "full", "unnamed", "one row", "all dropped", "names", "extreme numbers"],
)
def test_a_partial_survives_its_bytes_to_the_bit(part):
    sent = part.to_bytes()
    found = Partial.from_bytes(sent)
    assert content(found) == content(part)
    assert found.to_bytes() == sent


def test_any_changed_byte_is_refused():
    sent, chance = partial().to_bytes(), random.Random(0)
    for _ in range(400):
        place = chance.randrange(len(sent))
        damaged = bytearray(sent)
        damaged[place] ^= chance.randrange(1, 256)
        with pytest.raises(sb.ModelFileError, match="what a worker sent"):
            Partial.from_bytes(bytes(damaged))


def test_bytes_that_are_cut_or_too_long_are_refused():
    sent, chance = partial().to_bytes(), random.Random(1)
    for length in [0, 7, 8, len(sent) - 1, *(chance.randrange(len(sent)) for _ in range(100))]:
        with pytest.raises(sb.ModelFileError):
            Partial.from_bytes(sent[:length])
    with pytest.raises(sb.ModelFileError):
        Partial.from_bytes(sent + b"\0")


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_foreign_bytes_are_refused_and_run_no_code(tmp_path):
    for content in (pickle.dumps(Payload(tmp_path / "ran")), b"PK\3\4", b"\0" * 1000, b"{}", os.urandom(1000)):
        with pytest.raises(sb.ModelFileError, match="not a whole silverbirch file"):
            Partial.from_bytes(content)
    assert not (tmp_path / "ran").exists()
    pickle.loads(pickle.dumps(Payload(tmp_path / "ran")))
    assert (tmp_path / "ran").exists()  # the payload does run, where bytes are unpickled
    with pytest.raises(sb.ModelFileError, match="holds a tree, not a partial"):
        Partial.from_bytes(container.packed("tree", {}, {}))


@pytest.mark.parametrize(
    "damage",
    [
        lambda state, arrays: state.pop("columns"),
        lambda state, arrays: state.update(columns=-1),
        lambda state, arrays: state.update(columns="3"),
        lambda state, arrays: state.update(names=["x", "y"]),
        lambda state, arrays: state.update(names=["x", "y", 3]),
        lambda state, arrays: state.update(names="xyz"),
        lambda state, arrays: state.update(names=7),
        lambda state, arrays: state.update(counts=None),
        lambda state, arrays: state["counts"].pop("rows"),
        lambda state, arrays: state["counts"].update(rows=-1),
        lambda state, arrays: state["counts"].update(rows=1.5),
        lambda state, arrays: state.update(threshold=-1),
        lambda state, arrays: state.update(threshold=None),
        lambda state, arrays: arrays.pop("features.sse"),
        lambda state, arrays: arrays.update({"features.weight": -arrays["features.weight"]}),
        lambda state, arrays: arrays.update({"features.mean": np.full_like(arrays["features.mean"], np.nan)}),
        lambda state, arrays: arrays.update({"leaf_rows": arrays["leaf_rows"][1:]}),
        lambda state, arrays: arrays.update({"leaf_rows": arrays["leaf_rows"].astype(float)}),
        lambda state, arrays: arrays.update({"leaf_rows": arrays["leaf_rows"][None]}),
        lambda state, arrays: arrays.update({"leaf_rows": -1 - arrays["leaf_rows"]}),
        lambda state, arrays: [arrays.pop(f"features.{name}") for name in ("weight", "mean", "sse")],
        lambda state, arrays: arrays.pop("statistics.weight"),
        lambda state, arrays: state.update(columns=2, names=["x", "y"]),  # of three
        lambda state, arrays: state.update(columns=0, names=None),
    ],
)
def test_whole_bytes_with_wrong_content_are_refused_with_one_line(damage):
    _, state, arrays = container.unpacked(partial().to_bytes(), "")
    damage(state, arrays)
    with pytest.raises(sb.ModelFileError, match="what a worker sent does not hold a whole partial: ") as caught:
        Partial.from_bytes(file_of("partial", state, arrays))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


# --- merging


def parts_of(X, weight, cuts, max_leaves=None):
    """A partial for each piece of the rows; one without rows for an empty piece."""
    work = Aggregate(Reading(), {"max_leaves": max_leaves})
    pieces = np.split(np.arange(len(X)), sorted(min(cut, len(X)) for cut in cuts))
    return [Partial.from_bytes(work(i, X[piece], weight[piece])) for i, piece in enumerate(pieces)]


def exact_moments(X, weight):
    """Weight, mean and sse of the rows, rounded once from exact fractions."""
    weights = [Fraction(w) for w in weight.tolist()]
    total, means, sse = sum(weights), [], Fraction(0)
    for column in X.T.tolist():
        pairs = [(w, Fraction(x)) for w, x in zip(weights, column, strict=True)]
        mean = sum(w * x for w, x in pairs) / total
        means.append(float(mean))
        sse += sum(w * (x - mean) ** 2 for w, x in pairs)
    return float(total), np.array(means), float(sse)


rows_and_cuts = st.tuples(
    st.integers(0, 2**32 - 1), st.integers(1, 60), st.lists(st.integers(0, 60), max_size=6), st.integers(1, 30)
)


@settings(max_examples=60, deadline=None)
@given(rows_and_cuts)
def test_merged_parts_have_weight_mean_and_sse_of_all_rows(drawn):
    seed, count, cuts, leaves = drawn
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(count, 3)) + 5, rng.integers(1, 4, count).astype(float)
    parts = parts_of(X, weight, cuts, leaves)
    merged = merged_in_tree(parts, sb.CFTree(max_leaves=leaves))
    total, mean, sse = exact_moments(X, weight)
    whole = merged.features.total()
    assert len(merged.features) <= leaves
    assert merged.features.weight.sum() == total
    np.testing.assert_allclose(whole.mean[0], mean, rtol=1e-12)
    np.testing.assert_allclose(whole.sse[0], sse, rtol=1e-12, atol=1e-12)
    assert merged.counts == Counts(rows=count)


@settings(max_examples=20, deadline=None)
@given(rows_and_cuts, st.randoms(use_true_random=False))
def test_empty_parts_change_nothing(drawn, chance):
    seed, count, cuts, leaves = drawn
    X = np.random.default_rng(seed).normal(size=(count, 2))
    parts = [part for part in parts_of(X, np.ones(count), cuts, leaves) if part.features is not None]
    with_empty = list(parts)
    for _ in range(3):
        with_empty.insert(chance.randrange(len(with_empty) + 1), Partial())
    found, expected = (merged_in_tree(some, sb.CFTree(max_leaves=leaves)) for some in (with_empty, parts))
    assert content(found) == content(expected)
    assert content(merged_in_tree([Partial()] * 3, sb.CFTree())) == content(Partial())
    assert content(merged_by_leaf([Partial()] * 3)) == content(Partial())


@settings(max_examples=30, deadline=None)
@given(rows_and_cuts, st.randoms(use_true_random=False))
def test_statistics_of_any_division_are_those_of_one_pass_to_the_bit(drawn, chance):
    seed, count, cuts, _ = drawn
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2)) * 10.0 ** rng.integers(-9, 9, size=(count, 2))
    X[rng.random(X.shape) < 0.2] = np.nan
    weight = rng.integers(0, 3, count).astype(float)
    work = Gather(Reading(preparation=Preparation("mean", "standard")))
    pieces = np.split(np.arange(count), sorted(min(cut, count) for cut in cuts))
    sent = [work(i, X[piece], weight[piece]) for i, piece in enumerate(pieces)]
    while len(sent) > 1:  # neighbours, in a random shape of tree
        at = chance.randrange(len(sent) - 1)
        sent[at : at + 2] = [work.merged(sent[at : at + 2])]
    assert sent == [work(0, X, weight)]
    assert content(Partial.from_bytes(sent[0]))[-1] == content(Partial(statistics=ColumnStatistics.of(X, weight)))[-1]


def test_counts_of_parts_add_up():
    parts = [Partial(counts=Counts(5, 1, 2)), Partial(), Partial(Columns(2), Counts(7, 3, 0))]
    assert counted_together(parts).counts == Counts(12, 4, 2)
    assert counted_together([]).counts == Counts()


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (Columns(3, ("x", "y", "w")), "the columns x, y, w"),
        (Columns(3, ("y", "x", "z")), "the columns y, x, z"),
        (Columns(2, ("x", "y")), "the columns x, y"),
        (Columns(3), "3 columns without names"),
        (Columns(10, tuple("abcdefghij")), "the columns a, b, c, d, e, f, g and 3 more"),
    ],
)
def test_parts_with_different_columns_are_refused_with_both_names(columns, text):
    rows = Counts(rows=1)
    parts = [Partial(), Partial(Columns(3, NAMES), rows), Partial(), Partial(columns, rows)]
    for merged in (counted_together, merged_by_leaf, lambda parts: merged_in_tree(parts, sb.CFTree())):
        with pytest.raises(ValueError, match=f"has the columns x, y, z, another one {text}: all need the same columns"):
            merged(parts)


def test_leaves_are_merged_one_by_one():
    X = gaussian_clusters(600, 3)
    model = AggregateModel(max_leaves=20).insert(X)
    work = Count(Reading(), packed_model(model, RunState(None)))
    whole = Partial.from_bytes(work(0, X))
    parts = Partial.from_bytes(work.merged([work(i, piece) for i, piece in enumerate(np.split(X, [50, 50, 400]))]))
    np.testing.assert_array_equal(parts.leaf_rows, whole.leaf_rows)
    np.testing.assert_array_equal(parts.features.weight, whole.features.weight)
    np.testing.assert_allclose(parts.features.mean, whole.features.mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.features.sse, whole.features.sse, rtol=1e-12, atol=1e-12)
    nearest = ((X[:, None] - model.features_.mean) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(whole.leaf_rows, np.bincount(nearest, minlength=len(model.features_)))


@pytest.mark.parametrize("count", [*range(1, 80), 511, 512, 513, 999, 1000])
def test_rounds_of_merges_take_every_partition_once_and_in_order(count):
    merged = [[number] for number in range(count)]
    rounds = rounds_of_merges(count)
    for groups in rounds:
        assert [i for group in groups for i in group] == list(range(len(merged)))
        assert all(0 < len(group) <= FAN_IN for group in groups)
        merged = [[number for i in group for number in merged[i]] for group in groups]
    assert merged == [list(range(count))]
    assert len(rounds) == 1 or FAN_IN ** (len(rounds) - 1) < count


# --- work on one partition


def works(missing="error"):
    model = AggregateModel(max_leaves=5).insert(random_rows(50, 3))
    reading = Reading(preparation=Preparation(missing))
    state = RunState(None, preparation=reading.preparation)
    return [Gather(reading), Aggregate(reading, {"max_leaves": 5}), Count(reading, packed_model(model, state))]


EMPTY = [
    np.empty((0, 3)),
    pd.DataFrame(np.empty((0, 3)), columns=list(NAMES)),
    pd.DataFrame(np.empty((0, 3)), columns=list(NAMES)).astype(object),
]


@pytest.mark.parametrize("rows", EMPTY, ids=["array", "frame", "objects"])
def test_an_empty_partition_gives_a_partial_of_no_rows(rows):
    for work in works():
        assert content(Partial.from_bytes(work(0, rows))) == content(Partial())
        assert content(Partial.from_bytes(work(0, rows, np.empty(0)))) == content(Partial())


def test_a_partition_whose_rows_are_all_dropped_counts_them_and_nothing_else():
    X = np.full((4, 3), np.nan)
    gathered, aggregated, counted = (Partial.from_bytes(work(0, X)) for work in works("drop"))
    assert gathered.counts.rows == 4
    assert gathered.statistics.weight == 0
    assert aggregated.counts == counted.counts == Counts(4, 4)
    assert aggregated.features is None
    assert counted.features.weight.sum() == counted.leaf_rows.sum() == 0
    for work, part in zip(works("drop"), (gathered, aggregated, counted), strict=True):
        some = Partial.from_bytes(work(1, random_rows(9, 3)))
        both = work._merged([part, some])
        assert both.counts.rows == 13
        if some.features is not None:
            assert_same_bits(both.features, some.features)


def test_errors_name_the_partition():
    for work in works():
        with pytest.raises(ValueError, match=r"^partition 17: "):
            work(17, np.array([[1.0, np.nan, 2.0]]))
        with pytest.raises(ValueError, match=r"^partition 3: sample_weight"):
            work(3, np.ones((2, 3)), np.array([1.0, -1.0]))
        with pytest.raises(ValueError, match=r"^partition 4: "):
            work(4, np.ones((2, 3)), np.ones(5))
    for work in works()[2:]:  # of another width than the model
        with pytest.raises(ValueError, match=r"^partition 5: "):
            work(5, np.ones((2, 4)))


def test_the_limit_of_leaves_holds_before_and_after_each_merge():
    X, work = random_rows(2000, 3), Aggregate(Reading(), {"max_leaves": 40})
    sent = [work(i, piece) for i, piece in enumerate(np.split(X, 8))]
    for data in [*sent, work.merged(sent)]:
        assert len(Partial.from_bytes(data).features) <= 40
    assert Partial.from_bytes(work.merged(sent)).threshold >= max(Partial.from_bytes(data).threshold for data in sent)


def test_the_same_parts_merge_to_the_same_bytes():
    X, work = random_rows(2000, 3), Aggregate(Reading(), {"max_leaves": 40})
    sent = [work(i, piece) for i, piece in enumerate(np.split(X, 8))]
    assert work.merged(sent) == work.merged(list(sent))
    assert [work(i, piece) for i, piece in enumerate(np.split(X, 8))] == sent


def test_a_single_part_is_not_changed_by_a_merge():
    work = Aggregate(Reading(), {"max_leaves": 40})
    sent = work(0, random_rows(500, 3))
    assert work.merged([sent]) == sent
    assert work.merged([Partial().to_bytes(), sent, Partial().to_bytes()]) == sent
