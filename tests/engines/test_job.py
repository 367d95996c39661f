"""The job gives the same model in whatever order partitions are done, and that of one machine but for the merges."""

import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

import silverbirch as sb
from commands import done
from silverbirch.engines.job import aggregated, counted, fitted, rounds_of_merges
from silverbirch.engines.partial import Partial
from silverbirch.engines.work import Aggregate, Reading, packed_model
from silverbirch.pipeline.preparation import Preparation
from silverbirch.pipeline.shared_preparation import SharedPreparation
from silverbirch.storage import container
from trees import assert_holds, assert_same_bits, gaussian_clusters, grid_rows, random_rows

NAMES = list("xyz")


def engine(parts, weights=None, seed=0, sent=None):
    """An engine whose partitions and merges are done in random order. What crosses the wire is added to `sent`."""
    chance, sent = random.Random(seed), [] if sent is None else sent

    def done_in_any_order(count, do):
        numbers = list(range(count))
        chance.shuffle(numbers)
        results = {number: do(number) for number in numbers}
        sent.extend(results.values())
        return [results[number] for number in range(count)]

    def run(work):
        found = done_in_any_order(
            len(parts), lambda number: work(number, parts[number], None if weights is None else weights[number])
        )
        for groups in rounds_of_merges(len(parts)):
            found = done_in_any_order(
                len(groups), lambda i, groups=groups, found=found: work.merged([found[number] for number in groups[i]])
            )
        assert len(found) == 1
        return found[0]

    return run


def model_of(parts, weights=None, *, seed=0, preparation=None, **parameters):
    """A fitted model, how its rows were read, and their counts."""
    model = sb.Betula(**{"n_clusters": 10, "max_leaves": 100} | parameters)
    state, counts = fitted(model, Reading(preparation=preparation or Preparation()), engine(parts, weights, seed))
    model._cluster_now()
    return model, state, counts


def sorted_features(features):
    """The same features in an order that depends on their values alone."""
    weight, mean, sse = features.arrays()
    return features[np.lexsort([sse, weight, *mean.T])]


# --- the order of workers


@pytest.mark.parametrize("refine", [0, 1, 2])
def test_the_order_of_completion_does_not_change_a_bit(refine):
    X = gaussian_clusters(3000, 3)
    X[::50, 1] = np.nan
    how = Preparation("mean", "standard")
    parts = np.array_split(X, 20)
    files = {packed_model(*model_of(parts, seed=seed, preparation=how, refine=refine)[:2]) for seed in range(5)}
    assert len(files) == 1


def test_all_that_crosses_the_wire_is_a_container_of_bounded_size():
    X, sent = random_rows(4000, 3), []
    how = Preparation("mean", "minmax")
    fitted(sb.Betula(max_leaves=50, refine=1), Reading(preparation=how), engine(np.array_split(X, 16), sent=sent))
    assert len(sent) == 3 * (16 + 2 + 1)  # statistics, features, and the rows of each leaf
    for data in sent:
        assert container.unpacked(data, "sent")[0] == "partial"
        features = Partial.from_bytes(data).features
        assert features is None or len(features) <= 50
        assert len(data) < 50 * (3 + 3) * 8 + 4000


# --- a model of all rows


@pytest.mark.parametrize("refine", [0, 1])
@pytest.mark.parametrize("count", [1, 2, 7, 30])
def test_the_model_holds_all_rows(count, refine):
    X = gaussian_clusters(2000, 3)
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    model, _, counts = model_of(np.array_split(X, count), np.array_split(weight, count), refine=refine)
    assert_holds(model.features_, X, weight)
    assert len(model.features_) <= 100
    assert counts.rows == 2000
    assert model.tree_.n_points == weight.sum()
    assert adjusted_rand_score(model.predict(X), sb.Betula(10, max_leaves=100).fit(X).predict(X)) == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"metric": "cosine"},
        {"metric": "correlation"},
        {"projection": 2},
        {"projection": 2, "metric": "cosine"},
        {"linkage": "average"},
        {"threshold": 0.5, "max_leaves": None},
        {"distance": "centroid", "absorption": "diameter"},
        {"max_memory": "1MB", "max_leaves": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("refine", [0, 1])
def test_one_partition_gives_the_leaves_of_one_machine(parameters, refine):
    X = gaussian_clusters(1500, 4) + 3
    own = {"n_clusters": 10, "max_leaves": 100, "refine": refine} | parameters
    model, _, _ = model_of([X[:0], X, X[:0]], **own)
    local = sb.Betula(**own).fit(X)
    found, expected = sorted_features(model.features_), sorted_features(local.features_)
    if refine:  # the rows of a leaf are summed up by another function
        for mine, theirs in zip(found.arrays(), expected.arrays(), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
    else:
        assert_same_bits(found, expected)
    assert model.threshold_ == local.threshold_
    assert model.n_features_in_ == 4
    assert adjusted_rand_score(model.predict(X), local.labels_) == 1


def test_without_a_limit_the_features_are_the_different_rows_however_they_are_divided():
    X = np.repeat(grid_rows(200, 2, step=1.0), 3, axis=0)
    different, count = np.unique(X, axis=0, return_counts=True)
    for parts in ([X], np.array_split(X, 13), [X[::2], X[1::2]]):
        features = model_of(parts, max_leaves=None, refine=0)[0].features_
        order = np.lexsort(features.mean.T[::-1])
        np.testing.assert_array_equal(features.mean[order], different)
        np.testing.assert_array_equal(features.weight[order], count)
        assert not features.sse.any()


@pytest.mark.parametrize("refine", [0, 1])
@pytest.mark.parametrize("scale", ["none", "standard", "minmax"])
def test_a_weight_of_two_is_the_row_twice(scale, refine):
    X = grid_rows(300, 2, step=1.0)
    how, options = Preparation(scale=scale), {"max_leaves": None, "refine": refine}
    halves = np.array_split(X, 5)
    weighted, state, _ = model_of(halves, [np.full(len(half), 2.0) for half in halves], preparation=how, **options)
    scalar, _, _ = model_of(halves, [2.0] * 5, preparation=how, **options)
    twice, other, _ = model_of([np.repeat(half, 2, axis=0) for half in halves], preparation=how, **options)
    assert_same_bits(weighted.features_, scalar.features_)
    assert_same_bits(weighted.features_, twice.features_)
    for name in Preparation.ARRAYS:
        np.testing.assert_array_equal(getattr(state.preparation, name), getattr(other.preparation, name))
    assert weighted.features_.weight.sum() == 600


def test_rows_of_weight_zero_are_no_rows():
    X = random_rows(400, 3)
    weight = (np.arange(400) % 2).astype(float)
    found = model_of(np.array_split(X, 4), np.array_split(weight, 4), refine=1)[0]
    expected = model_of([part[1::2] for part in np.array_split(X, 4)], refine=1)[0]
    assert_same_bits(found.features_, expected.features_)


# --- preparation, against the command line


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(900, 3)) + 15 * rng.integers(0, 2, size=(900, 3))) * [1, 100, 1e-4]
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def prepared_by_files(X, options, tmp_path):
    """The preparation that `silverbirch prepare` finds for the rows."""
    pd.DataFrame(X, columns=NAMES).to_parquet(tmp_path / "rows.parquet")
    done("prepare", tmp_path / "rows.parquet", *options, "-o", tmp_path / "prep.sb")
    return SharedPreparation.read(tmp_path / "prep.sb").completed()


def assert_same_preparation(found, expected):
    assert (found.missing, found.scale) == (expected.missing, expected.scale)
    for name in Preparation.ARRAYS:
        mine, theirs = getattr(found, name), getattr(expected, name)
        assert (None if mine is None else mine.tobytes()) == (None if theirs is None else theirs.tobytes())


@pytest.mark.parametrize("missing", ["mean", "drop"])
@pytest.mark.parametrize("scale", ["none", "standard", "minmax"])
def test_rows_are_prepared_as_silverbirch_prepare_does_to_the_bit(missing, scale, rows, tmp_path):
    rows[:100, 1] = np.nan  # the first partition has no value in a column
    model, state, counts = model_of(np.split(rows, 9), preparation=Preparation(missing, scale), n_clusters=4)
    absent = np.isnan(rows)
    if missing == "drop":
        assert (counts.rows, counts.dropped, counts.filled) == (900, absent.any(axis=1).sum(), 0)
    else:
        assert (counts.rows, counts.dropped, counts.filled) == (900, 0, absent.sum())
    expected = Preparation(missing)
    if expected.changes_rows or scale != "none":
        expected = prepared_by_files(rows, ["--missing", missing, "--scale", scale], tmp_path)
    assert_same_preparation(state.preparation, expected)
    complete = rows[~absent.any(axis=1)] if missing == "drop" else np.where(absent, expected.fill, rows)
    scaled = complete if scale == "none" else (complete - expected.shift) * expected.factor
    assert_holds(model.features_, scaled)
    one, _, _ = model_of([rows], preparation=Preparation(missing, scale), refine=0)
    assert_same_bits(
        sorted_features(one.features_), sorted_features(sb.Betula(max_leaves=100, refine=0).fit(scaled).features_)
    )


def test_a_column_without_any_value_is_named(rows):
    rows[:, 2] = np.nan
    frame = pd.DataFrame(rows, columns=NAMES)
    with pytest.raises(ValueError, match="column 'z' has no value in any row"):
        model_of([frame[:300], frame[300:]], preparation=Preparation("mean"))


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_partition_whose_rows_are_all_dropped_changes_nothing(rows, scale):
    how, gone = Preparation("drop", scale), np.full((5, 3), np.nan)
    found, state, counts = model_of([rows[:450], gone, rows[450:]], preparation=how, refine=1)
    expected, other, fewer = model_of([rows[:450], rows[:0], rows[450:]], preparation=how, refine=1)
    assert packed_model(found, state) == packed_model(expected, other)
    assert (counts.rows, counts.dropped) == (fewer.rows + 5, fewer.dropped + 5)


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.null()])
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_partition_without_any_list_is_left_out_with_the_rows_counted(rows, scale, kind):
    lists = [pa.table({"e": pa.array(list(part))}) for part in np.split(rows, 2)]
    none = pa.table({"e": pa.nulls(5, kind)})
    how = Preparation("drop", scale)
    found, state, counts = model_of([none, lists[0], none, lists[1]], preparation=how, refine=1)
    expected, other, fewer = model_of([lists[0][:0], lists[0], lists[0][:0], lists[1]], preparation=how, refine=1)
    assert packed_model(found, state) == packed_model(expected, other)
    assert (counts.rows, counts.dropped) == (fewer.rows + 10, fewer.dropped + 10)


def test_rows_without_any_list_count_in_the_means_of_other_columns(rows):
    whole = pa.table({"e": pa.array(list(rows)), "x": np.arange(900.0)})
    none = pa.table({"e": pa.nulls(100, pa.list_(pa.float64())), "x": np.full(100, 5000.0)})
    _, state, counts = model_of([none, whole], preparation=Preparation("mean"))
    fill = [*np.nanmean(rows, axis=0), (899 * 450 + 500_000) / 1000]
    np.testing.assert_allclose(state.preparation.fill, fill)
    assert (counts.rows, counts.filled) == (1000, 300 + np.isnan(rows).sum())


def test_a_known_preparation_is_not_replaced_by_the_metadata_of_a_parquet_part(tmp_path):
    X = random_rows(1000, 3) * [1, 100, 1e-4]
    X = X[np.argsort(X[:, 0])]  # each part has extremes of its own
    for number, part in enumerate(np.split(X, 2)):
        pd.DataFrame(part, columns=NAMES).to_parquet(tmp_path / f"{number}.parquet")
    known = replace(Preparation(scale="minmax"), shift=X.min(axis=0), factor=1 / (X.max(axis=0) - X.min(axis=0)))
    work = Aggregate(Reading(preparation=known), {"max_leaves": None})
    sent = [work(number, str(tmp_path / f"{number}.parquet")) for number in range(2)]
    features = Partial.from_bytes(work.merged(sent)).features
    assert_holds(features, (X - known.shift) * known.factor)

    paths = [tmp_path / f"{number}.parquet" for number in range(2)]
    model, state, _ = model_of([str(path) for path in paths], preparation=Preparation(scale="minmax"))
    np.testing.assert_array_equal(state.preparation.shift, known.shift)
    np.testing.assert_array_equal(state.preparation.factor, known.factor)
    assert state.columns == tuple(NAMES) == tuple(model.feature_names_in_)


def test_parts_of_parquet_with_a_shared_minmax_preparation_merge(tmp_path):
    frame = pd.DataFrame(random_rows(1000, 3), columns=NAMES).sort_values("x")
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for path, part in zip(paths, (frame[:500], frame[500:]), strict=True):
        part.to_parquet(path, index=False)
    done("prepare", *paths, "--scale", "minmax", "-o", tmp_path / "prep.sb")
    for path in paths:
        done("aggregate", path, "--prepare", tmp_path / "prep.sb", "-o", path.with_suffix(".sb"))
    done("merge", *(path.with_suffix(".sb") for path in paths), "-o", tmp_path / "all.sb")
    features, X = sb.load(tmp_path / "all.sb"), frame.to_numpy()
    assert_holds(features, (X - X.min(axis=0)) * (1 / (X.max(axis=0) - X.min(axis=0))))


# --- refusals


def test_partitions_with_different_columns_are_refused_with_both_names():
    frame = pd.DataFrame(random_rows(20, 3), columns=NAMES)
    for how in (Preparation(), Preparation(scale="standard")):
        with pytest.raises(ValueError, match="has the columns x, y, z, another one the columns x, z, y"):
            model_of([frame, frame[["x", "z", "y"]]], preparation=how)


@pytest.mark.parametrize("how", [Preparation(), Preparation(scale="minmax"), Preparation("drop")], ids=str)
def test_the_error_for_no_rows_says_that_there_are_none(how):
    with pytest.raises(ValueError, match="no rows: at least one is needed"):
        model_of([np.empty((0, 3))] * 3, preparation=how)


@pytest.mark.parametrize("how", [Preparation(), Preparation(scale="minmax"), Preparation("drop")], ids=str)
def test_the_error_for_weights_of_zero_names_the_weights(how):
    with pytest.raises(ValueError, match="sample_weight is zero for all rows: at least one row needs a positive"):
        model_of(np.split(random_rows(20, 3), 2), [np.zeros(10)] * 2, preparation=how)


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_the_error_for_rows_that_are_all_dropped_says_how_to_keep_them(scale):
    with pytest.raises(ValueError, match=r"no row is left of 20: each one has a missing value; fill missing values"):
        model_of([np.full((10, 3), np.nan)] * 2, preparation=Preparation("drop", scale))


def test_parameters_are_checked_before_any_partition_is_read():
    def run(work):
        raise AssertionError("nothing may be read")

    for wrong in ({"linkage": "wart"}, {"max_leaves": 0}, {"refine": -1}, {"metric": "correlation", "projection": 3}):
        with pytest.raises(ValueError):
            aggregated(sb.Betula(**wrong), Reading(), run)


@pytest.mark.parametrize("left", [0, 49, 51])
def test_another_number_of_rows_in_a_later_pass_is_an_error(left):
    X = random_rows(60, 3)
    model, state, counts = model_of([X[:50]], n_clusters=2)
    told = rf"the first pass read 50 rows and left out 0, another one read {left} and left out 0: try again"
    with pytest.raises(ValueError, match=told):
        counted(model, state, Reading(), engine([X[:left]]), counts)


def test_other_rows_that_are_left_out_in_a_later_pass_are_an_error():
    X = random_rows(50, 3)
    model, state, counts = model_of([X], n_clusters=2, preparation=Preparation("drop"))
    X[:4, 1] = np.nan
    with pytest.raises(ValueError, match="50 rows and left out 0, another one read 50 and left out 4"):
        counted(model, state, Reading(preparation=Preparation("drop")), engine([X]), counts)


def test_the_remedy_for_too_few_leaves_is_the_limit_that_held():
    with pytest.raises(ValueError, match=r"there are .* leaves: raise max_leaves or lower n_clusters"):
        model_of(np.split(random_rows(800, 3), 8), n_clusters=61, max_leaves=60)


def test_a_model_goes_on_with_the_threshold_of_the_features():
    model, _, _ = model_of(np.split(random_rows(800, 3), 8), max_leaves=60)
    assert model.threshold_ > 0
    leaves = model.tree_.n_leaves
    model.insert(random_rows(800, 3)[:100])
    assert model.tree_.n_leaves <= 60
    assert model.tree_.n_leaves < leaves + 50  # with a threshold of 0, hardly a row would be absorbed


# --- quality


def unequal_clusters(seed, count=20_000, clusters=80):
    """Few large clusters and many small ones, of unequal spread."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, clusters + 1)
    group = rng.choice(clusters, count, p=share / share.sum())
    spread = rng.uniform(0.3, 3, clusters)
    return rng.uniform(-50, 50, size=(clusters, 3))[group] + rng.normal(size=(count, 3)) * spread[group, None]


def rmsd(model, X):
    return np.sqrt(-model.score(X) / len(X))


@pytest.mark.parametrize("by_column", [False, True], ids=["random", "sorted"])
@pytest.mark.parametrize("count", [2, 16, 64, 256])
def test_many_partitions_give_clusters_as_good_as_those_of_one_tree(count, by_column):
    ratios = []
    for seed in range(6):
        X = unequal_clusters(seed)
        parts = np.array_split(X[np.argsort(X[:, 0])] if by_column else X, count)
        options = {"n_clusters": 50, "max_leaves": 1000, "refine": 1}
        ratios.append(rmsd(model_of(parts, **options)[0], X) / rmsd(sb.Betula(**options).fit(X), X))
    assert max(ratios) < 1.01
