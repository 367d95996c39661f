"""Models of Spark against a plain loop, Dask and scikit-learn."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest
from dask import delayed
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import Vectors
from pyspark.sql import functions as sql

import silverbirch as sb
import silverbirch.dask as sd
from silverbirch import spark as sb_spark
from silverbirch.engines.job import fitted, rounds_of_merges
from silverbirch.engines.work import Reading, packed_model
from silverbirch.pipeline.preparation import Preparation
from spark_frames import BATCH, BATCH_ROWS, LISTS, NO_LIST, PARTITIONS, ROWS, betula, in_bytes, labels_of, of


def test_a_plain_loop_dask_and_spark_make_the_same_model_of_the_same_partitions(spark, frame, model):
    table = frame.withColumn("part", sql.spark_partition_id()).toArrow().sort_by("id")
    parts = [table.filter(pa.compute.field("part") == i).select(["x", "y", "z"]) for i in range(PARTITIONS)]

    def run(work):
        sent = [work(number, part) for number, part in enumerate(parts)]
        for groups in rounds_of_merges(len(sent)):
            sent = [work.merged([sent[i] for i in group]) for group in groups]
        return sent[0]

    local = sb.Betula(3, max_leaves=60, refine=1)
    state, _ = fitted(local, Reading({"columns": ["x", "y", "z"]}, Preparation()), run)
    local._cluster_now()
    other = sd.Betula(3, max_leaves=60).fit([delayed(part) for part in parts])
    assert in_bytes(model) == packed_model(local, state) == packed_model(other._local(), other._run_state)


def test_the_size_of_batches_does_not_change_the_model(spark, frame, model):
    spark.conf.set(BATCH_ROWS, ROWS)
    try:
        assert in_bytes(betula().fit(frame)) == in_bytes(model)
    finally:
        spark.conf.set(BATCH_ROWS, BATCH)


def test_large_variable_types_of_arrow_change_nothing(spark, frame, model):
    expected = labels_of(model.transform(frame))
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    try:
        assert in_bytes(betula().fit(frame)) == in_bytes(model)
        assert labels_of(model.transform(frame.withColumn("text", sql.lit("ä")))) == expected
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")


def test_predictions_are_those_of_the_local_model_and_of_scikit_learns_nearest_neighbour(frame, rows, model):
    from sklearn.neighbors import KNeighborsClassifier

    local = model.to_local()
    labels = labels_of(model.transform(frame))
    assert labels == local.predict(rows).tolist()
    nearest = KNeighborsClassifier(1).fit(local.subcluster_centers_, local.subcluster_labels_)
    assert labels == nearest.predict(rows).tolist()
    assert len(np.unique(labels)) == 3
    assert local.features_.weight.sum() == ROWS
    assert model.counts_ == {"rows": ROWS, "dropped": 0, "filled": 0}


def test_columns_an_array_and_a_vector_give_the_same_features(frame, model):
    array = frame.select("id", sql.array("x", "y", "z").alias("features"))
    vector = VectorAssembler(inputCols=["x", "y", "z"], outputCol="features").transform(frame)
    expected = model.to_local().features_
    for one in (array, vector):
        found = sb_spark.Betula(n_clusters=3, max_leaves=60).fit(one)
        features = found.to_local().features_
        assert all(np.array_equal(*both) for both in zip(features.arrays(), expected.arrays(), strict=True))
        assert labels_of(found.transform(one)) == labels_of(model.transform(frame))


def test_sparse_vectors_are_rows_of_the_same_numbers(spark):
    dense = [[0.0, 1.0, 0.0], [5.0, 0.0, 0.0], [5.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    sparse = [(i, Vectors.sparse(3, {at: v for at, v in enumerate(row) if v})) for i, row in enumerate(dense)]
    frame = spark.createDataFrame(sparse, ["id", "features"]).coalesce(1)
    model = sb_spark.Betula(n_clusters=2).fit(frame)
    assert labels_of(model.transform(frame)) == sb.Betula(2).fit_predict(np.array(dense)).tolist()


def test_a_row_of_weight_two_counts_as_the_row_twice(frame):
    weighted = frame.withColumn("often", sql.expr("1 + pmod(id, 2)")).where("id < 150").coalesce(1)
    twice = weighted.selectExpr("*", "explode(sequence(1, often)) AS nth").coalesce(1)
    one, other = (
        sb_spark.aggregate(rows, ["x", "y", "z"], **how)
        for rows, how in ((weighted, {"weightCol": "often"}), (twice, {}))
    )
    assert one.weight.sum() == other.weight.sum() == 225
    order = [np.lexsort(features.mean.T) for features in (one, other)]
    assert np.array_equal(one.mean[order[0]], other.mean[order[1]])
    assert np.array_equal(one.weight[order[0]], other.weight[order[1]])


def test_aggregate_returns_the_features_that_a_model_has(frame, model):
    features = sb_spark.aggregate(frame, ["x", "y", "z"], max_leaves=60)
    expected = model.to_local().features_
    assert all(np.array_equal(*both) for both in zip(features.arrays(), expected.arrays(), strict=True))


def test_scaled_and_filled_rows_are_those_of_scikit_learn(frame):
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import StandardScaler

    holes = frame.selectExpr("id", "x", "if(id % 10 = 3, NULL, 1000 * y) AS y", "z")
    model = betula(missing="mean", scale="standard", max_leaves=None, refine=0).fit(holes)
    raw = of(holes, "x", "y", "z")
    prepared = StandardScaler().fit_transform(SimpleImputer().fit_transform(raw))
    assert np.allclose(np.average(model.to_local()[-1].features_.mean, axis=0), prepared.mean(axis=0), atol=1e-9)
    assert model.counts_ == {"rows": ROWS, "dropped": 0, "filled": ROWS // 10}
    assert labels_of(model.transform(holes)) == model.to_local().predict(raw).tolist()


def test_dropped_rows_have_no_label_and_no_part_in_the_model_of_directions(frame):
    holes = frame.selectExpr("id", "x + 1 AS x", "if(id % 10 = 3, NULL, y) AS y", "z")
    model = betula(missing="drop", metric="cosine", refine=0).fit(holes)
    labels = labels_of(model.transform(holes))
    without = np.arange(ROWS) % 10 == 3
    assert [label is None for label in labels] == without.tolist()
    raw = of(holes.where("y IS NOT NULL"), "x", "y", "z")
    assert [label for label in labels if label is not None] == model.to_local().predict(raw).tolist()
    assert model.counts_ == {"rows": ROWS, "dropped": ROWS // 10, "filled": 0}
    assert model.to_local().features_.weight.sum() == ROWS - ROWS // 10


# -- rows without a list


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("how", [{"missing": "drop"}, {"missing": "drop", "scale": "standard"}, {"missing": "mean"}])
def test_batches_and_partitions_without_any_list_are_missing_values(frame, rows, how, vectors):
    holes = frame.selectExpr("id", LISTS.format(NO_LIST), "x + y AS sum")
    if vectors:
        vector = sql.when(sql.col("features").isNotNull(), array_to_vector("features"))
        holes = holes.withColumn("features", vector)
    both = ["features", "sum"]
    model = betula(inputCols=both, max_leaves=None, refine=0, **how).fit(holes)
    without = (np.arange(ROWS) < 40) | (np.arange(ROWS) // 75 == 3)
    dropped = without.sum() if how["missing"] == "drop" else 0
    filled = 0 if dropped else 3 * without.sum()
    assert model.counts_ == {"rows": ROWS, "dropped": dropped, "filled": filled}
    labels = labels_of(model.transform(holes))
    assert [label is None for label in labels] == (without & (dropped > 0)).tolist()
    raw = np.column_stack([np.where(without[:, None], np.nan, rows), rows[:, 0] + rows[:, 1]])
    if how["missing"] == "mean":
        assert np.allclose(model._state.preparation.fill, np.nanmean(raw, axis=0))
    expected = model.to_local().predict(raw[~without] if dropped else raw).tolist()
    assert [label for label in labels if label is not None] == expected


def test_a_batch_without_any_list_has_no_labels_of_a_model_without_names(frame, rows, tmp_path):
    file = str(tmp_path / "model.sb")
    sd.Betula(3, max_leaves=60, missing="drop").fit([delayed(rows)]).save(file)
    holes = frame.selectExpr("id", LISTS.format("id < 40"))  # the first batch
    labels = labels_of(sb_spark.BetulaModel.load(file).transform(holes))
    assert labels == [None] * 40 + sb.load(file).predict(rows[40:]).tolist()


# -- partitions without rows


def test_partitions_without_rows_do_not_change_the_model(frame):
    few = frame.where("id >= 300 AND id < 305")  # of 12 partitions, 11 are empty
    model = betula().fit(few)
    assert model.to_local().features_.weight.sum() == 5
    assert in_bytes(model) == in_bytes(betula().fit(few.coalesce(1)))
    assert model.transform(few.where("id < 0")).collect() == []


# -- other columns


def test_other_columns_pass_through_unchanged(spark, model, rows):
    others = {
        "text": ["ä", None],
        "day": [datetime.date(2024, 2, 29), None],
        "time": [datetime.datetime(2024, 3, 31, 3, 30, 1, 5), None],
        "vector": [Vectors.dense([1.0, 2.0]), Vectors.sparse(2, {1: 3.0})],
        "nested": [{"a": [1, None], "b": {"key": 2.5}}, None],
        "raw": [bytearray(b"\x00\xff"), None],
        "we`ird. name": [1, 2],
    }
    schema = (
        "id long, x double, y double, z double, text string, day date, time timestamp, "
        "nested struct<a: array<int>, b: map<string, double>>, raw binary, `we``ird. name` short"
    )
    vectors = spark.createDataFrame([(i, vector) for i, vector in enumerate(others.pop("vector"))], ["id", "vector"])
    plain = [(i, *map(float, rows[i]), *(values[i] for values in others.values())) for i in range(2)]
    frame = spark.createDataFrame(plain, schema).join(vectors, "id").withMetadata("x", {"unit": "m"})
    found = model.transform(frame)
    assert found.columns == [*frame.columns, "prediction"]
    assert found.schema[:-1].fields == frame.schema.fields
    assert found.schema["x"].metadata == {"unit": "m"}
    assert found.drop("prediction").sort("id").collect() == frame.sort("id").collect()
    odd = frame.withColumnsRenamed({"x": "a.b", "y": "`"}).drop("time")
    expected = model.to_local().predict(rows[:2]).tolist()
    assert labels_of(betula(inputCols=["a.b", "`", "z"], n_clusters=2).fit(odd).transform(odd)) in ([0, 1], [1, 0])
    assert labels_of(found) == expected
