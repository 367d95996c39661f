"""Spark, whose executors are processes of their own, against a plain loop, Dask, scikit-learn and pyspark.ml."""

import datetime
import doctest
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import pytest
from dask import delayed
from pyspark import cloudpickle
from pyspark.errors import PythonException
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

import silverbirch as sb
import silverbirch.dask as sd
from commands import done
from silverbirch import spark as sb_spark
from silverbirch.engines.job import fitted, rounds_of_merges
from silverbirch.engines.spark import _run
from silverbirch.engines.work import Gather, Reading, packed_model
from silverbirch.pipeline.preparation import Preparation

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the executors do not have this file

ROWS, PARTITIONS = 900, 12  # two rounds of merges
BATCH, BATCH_ROWS = 40, "spark.sql.execution.arrow.maxRecordsPerBatch"  # two batches in each partition


@pytest.fixture(scope="module")
def spark():
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.fail("Spark needs Java: apt-get install openjdk-17-jre-headless", pytrace=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        package = Path(sb.__file__).parents[1]
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("tests of silverbirch")
        for name, value in {
            "spark.executorEnv.PYTHONPATH": f"{package}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            BATCH_ROWS: str(BATCH),
            "spark.sql.session.timeZone": "Europe/Berlin",
            "spark.task.maxFailures": "3",
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def frame(spark):
    """Three blobs, whose rows the executors make of their numbers: every attempt of a task has the same."""
    noise = "(pmod(hash(id, {}), 10007) / 5003.5D - 1)"
    blob = "20 * pmod(hash(id), 3)"
    columns = [f"{blob} + {noise.format(seed)} AS {name}" for seed, name in enumerate("xyz")]
    return spark.range(0, ROWS, 1, PARTITIONS).selectExpr("id", *columns)


@pytest.fixture(scope="module")
def rows(frame):
    return of(frame, "x", "y", "z")


@pytest.fixture(scope="module")
def model(frame):
    return betula().fit(frame)


def betula(**parameters):
    return sb_spark.Betula(**{"inputCols": ["x", "y", "z"], "n_clusters": 3, "max_leaves": 60} | parameters)


def of(frame, *columns):
    """The columns of a data frame as an array, in the order of the ids."""
    found = frame.select("id", *columns).toArrow().sort_by("id")
    return np.column_stack([found[name].to_numpy() for name in columns])


def labels_of(frame, name="prediction"):
    """The labels in the order of the ids; None for rows without one."""
    return frame.select("id", name).toArrow().sort_by("id")[name].to_pylist()


def in_bytes(model):
    return packed_model(model._local, model._state)


def stage(marker=None, kills=()):
    """Hands batches on after a random while. Those of these numbers, in the order of time, kill their executor."""

    def handed_on(batches):
        for batch in batches:
            time.sleep(random.SystemRandom().uniform(0, 0.02))
            if marker is not None and claimed(marker) in kills:
                os.kill(executor(), signal.SIGKILL)
            yield batch

    return handed_on


def claimed(marker):
    """The least number that nobody has claimed in this folder."""
    number = 0
    while True:
        try:
            os.close(os.open(f"{marker}/{number}", os.O_CREAT | os.O_EXCL))
            return number
        except FileExistsError:
            number += 1


def executor():
    """The process of the executor that this worker belongs to."""
    process = os.getpid()
    while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_bytes():
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return process


# -- the model


def test_a_plain_loop_dask_and_spark_make_the_same_model_of_the_same_partitions(spark, frame, model):
    from dask import delayed

    from silverbirch import dask as sb_dask

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
    other = sb_dask.Betula(3, max_leaves=60).fit([delayed(part) for part in parts])
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

LISTS = "if({}, NULL, array(x, y, z)) AS features"
# The first batch of partition 0 has no list, nor has partition 3, where there are 75 rows in each.
NO_LIST = "id < 40 OR id BETWEEN 225 AND 299"


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


def test_a_partition_without_any_list_is_refused_unless_missing_values_are_allowed(frame, rows):
    with pytest.raises(ValueError, match=r"^partition 3: column 'features' is missing in all 75 rows: .*missing\)$"):
        sb_spark.Betula(n_clusters=3).fit(frame.selectExpr("id", LISTS.format("id BETWEEN 225 AND 299")))
    model = sb_spark.Betula(n_clusters=3).fit(frame.selectExpr("id", LISTS.format("false")))
    holes = frame.selectExpr("id", LISTS.format(NO_LIST))
    with pytest.raises(PythonException, match=r"partition 0: column 'features\[0\]' is missing in row 0: .*missing\)$"):
        model.transform(holes).collect()
    nothing = frame.selectExpr("id", LISTS.format("true"))
    with pytest.raises(ValueError, match="no row is left of 900"):
        sb_spark.Betula(n_clusters=3, missing="drop").fit(nothing)
    with pytest.raises(ValueError, match="a column of lists has no list in any row"):
        sb_spark.Betula(n_clusters=3, missing="mean").fit(nothing)


# -- partitions without rows


def test_partitions_without_rows_do_not_change_the_model(frame):
    few = frame.where("id >= 300 AND id < 305")  # of 12 partitions, 11 are empty
    model = betula().fit(few)
    assert model.to_local().features_.weight.sum() == 5
    assert in_bytes(model) == in_bytes(betula().fit(few.coalesce(1)))
    assert model.transform(few.where("id < 0")).collect() == []


def test_weights_that_are_all_zero_are_refused_by_the_name_they_have_here(frame):
    with pytest.raises(ValueError, match=r"^weightCol='often' is zero for all rows"):
        betula(weightCol="often").fit(frame.withColumn("often", sql.lit(0)))


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_frame_without_rows_is_refused(frame, scale):
    with pytest.raises(ValueError, match="row"):
        betula(scale=scale).fit(frame.where("id < 0"))


def test_a_batch_without_any_list_has_no_labels_of_a_model_without_names(frame, rows, tmp_path):
    file = str(tmp_path / "model.sb")
    sd.Betula(3, max_leaves=60, missing="drop").fit([delayed(rows)]).save(file)
    holes = frame.selectExpr("id", LISTS.format("id < 40"))  # the first batch
    labels = labels_of(sb_spark.BetulaModel.load(file).transform(holes))
    assert labels == [None] * 40 + sb.load(file).predict(rows[40:]).tolist()


# -- errors


@pytest.mark.parametrize("error", [ConnectionError, TimeoutError, NotADirectoryError, ModuleNotFoundError])
def test_errors_of_files_and_networks_are_those_of_the_task(frame, error):
    def failing(number, batches):
        raise error("the reason")

    with pytest.raises(error, match=r"^the reason$"):
        _run(frame, Gather(Reading()), failing)


def test_a_missing_value_raises_our_error_with_its_partition(frame):
    with pytest.raises(ValueError, match=r"^partition 7: column 'y' is missing in row 19\b.*missing\)$"):
        betula().fit(frame.withColumn("y", sql.expr("if(id = 544, NULL, y)")))


def test_a_missing_value_is_found_by_its_partition_and_its_row_there(frame, model):
    holes = frame.withColumn("y", sql.expr("if(id = 589, NULL, y)"))  # in the second batch of its partition
    with pytest.raises(ValueError, match=r"^partition 7: column 'y' is missing in row 64: "):
        betula().fit(holes)
    with pytest.raises(
        PythonException, match=r"ValueError: partition 7: column 'y' is missing in row 64: .*missing\)$"
    ):
        model.transform(holes).collect()


def test_columns_are_checked_before_a_task_runs(frame, model, monkeypatch):
    texts = frame.selectExpr("*", "'a' AS text", "array('a') AS texts", "current_date() AS day", "struct(x) AS inner")
    monkeypatch.setattr(type(frame), "mapInArrow", None)
    for name in ("text", "texts", "day", "inner"):
        with pytest.raises(TypeError, match=rf"column '{name}' holds .*: .*numbers"):
            betula(inputCols=["x", name]).fit(texts)
    with pytest.raises(ValueError, match="no column 'nothing'"):
        betula(inputCols=["x", "nothing"]).fit(frame)
    with pytest.raises(ValueError, match="no column 'often'"):
        betula(weightCol="often").fit(frame)
    with pytest.raises(ValueError, match="weightCol='x' is also in inputCols"):
        betula(weightCol="x").fit(frame)
    for name in ("text", "texts", "day"):
        with pytest.raises(TypeError, match=rf"weightCol='{name}' holds .*: weights are numbers"):
            betula(weightCol=name).fit(texts)
    with pytest.raises(ValueError, match="inputCols names 'x' twice"):
        betula(inputCols=["x", "x"]).fit(frame)
    with pytest.raises(TypeError, match="Could not convert xy to list of strings"):
        betula().setInputCols("xy")
    with pytest.raises(TypeError, match=r"inputCols='xy' is a text: pass a list of names"):
        sb_spark.aggregate(frame, "xy")
    with pytest.raises(ValueError, match="inputCols is empty"):
        betula(inputCols=[]).fit(frame)
    with pytest.raises(ValueError, match="inputCols is empty"):
        sb_spark.aggregate(frame.withColumnRenamed("x", "features"), [])
    for call in (betula().fit, model.transform, lambda rows: sb_spark.aggregate(rows, ["x"])):
        with pytest.raises(TypeError, match=r"a pandas\.DataFrame, no data frame of Spark: silverbirch\.Betula takes"):
            call(frame.limit(3).toPandas())
    with pytest.raises(ValueError, match="column 'Prediction' already: choose another predictionCol"):
        model.transform(frame.withColumn("Prediction", sql.lit(1)))
    with pytest.raises(ValueError, match="no column 'z'"):
        model.transform(frame.drop("z"))
    with pytest.raises(ValueError, match="column 'y' already: choose another predictionCol"):
        model.copy({model.predictionCol: "y"}).transform(frame)
    with pytest.raises(ValueError, match="n_clusters"):
        betula(n_clusters=0).fit(frame)


def test_names_that_differ_in_case_alone_are_two_if_spark_says_so(spark, frame, model, monkeypatch):
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        found = model.transform(frame.withColumn("Prediction", sql.lit(1)))
        assert found.columns[-2:] == ["Prediction", "prediction"]
        assert labels_of(found) == labels_of(model.transform(frame))
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


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


# -- pyspark.ml


def test_parameters_follow_the_rules_of_pyspark(frame):
    estimator = betula(inputCols=None, weightCol=None, n_clusters=3)
    assert estimator._columns() == ["features"]
    assert estimator._weight() is None
    estimator.setInputCols(["x", "y"]).setParams(refine=0, max_leaves=40)
    assert "n_clusters: cut the dendrogram" in estimator.explainParams()
    model = estimator.fit(frame, {estimator.n_clusters: 4, estimator.predictionCol: "cluster"})
    assert (estimator.getOrDefault("n_clusters"), estimator.getPredictionCol()) == (3, "prediction")
    assert model.to_local().n_clusters_ == len(model.clusterCenters()) == 4
    assert model.getOrDefault("n_clusters") == 4
    assert model.transform(frame).columns[-1] == "cluster"
    assert model.transform(frame, {model.predictionCol: "c"}).columns[-1] == "c"
    copied = model.copy()
    assert in_bytes(copied) == in_bytes(model)
    copied.setPredictionCol("mine")
    assert model.getPredictionCol() == "cluster"


def test_a_model_reads_other_columns_in_place_of_its_own(frame, model):
    expected = labels_of(model.transform(frame))
    others = frame.selectExpr("id", "0 AS x", "0 AS y", "0 AS z", "x AS a", "y AS b", "z AS c", "array(x, y, z) AS e")
    assert labels_of(model.copy().setInputCols(["a", "b", "c"]).transform(others)) == expected
    assert labels_of(model.transform(others, {model.inputCols: ["a", "b", "c"]})) == expected
    assert labels_of(model.copy().setInputCols(["z", "y", "x"]).transform(frame)) == expected  # its own, by name
    assert set(labels_of(model.transform(others))) == {labels_of(model.transform(others.where("id = 0")))[0]}
    of_arrays = sb_spark.Betula(n_clusters=3, max_leaves=60).fit(others.withColumnRenamed("e", "features"))
    vectors = others.select("id", array_to_vector("e").alias("v"), sql.array(sql.lit(0)).alias("features"))
    assert labels_of(of_arrays.setFeaturesCol("e").transform(others)) == expected
    assert labels_of(of_arrays.setFeaturesCol("v").transform(vectors)) == expected
    with pytest.raises(ValueError, match="model is of x, y, z: choose 3 columns in their place, not 2"):
        model.copy().setInputCols(["a", "b"]).transform(others)


def test_numbers_of_numpy_are_stored_as_numbers(frame, tmp_path):
    estimator = betula(n_clusters=np.int64(3), threshold=np.float32(0))
    estimator.fit(frame, {estimator.max_leaves: np.int32(60)}).save(str(tmp_path / "model"))
    loaded = sb_spark.BetulaModel.load(str(tmp_path / "model"))
    assert [loaded.getOrDefault(name) for name in ("n_clusters", "max_leaves", "threshold")] == [3, 60, 0.0]


def test_stages_and_pipelines_are_stored_and_loaded(frame, tmp_path):
    assembler = VectorAssembler(inputCols=["x", "y", "z"], outputCol="features")
    estimator = sb_spark.Betula(n_clusters=3, max_leaves=60, refine=0, scale="minmax")
    estimator.save(str(tmp_path / "estimator"))
    loaded = sb_spark.Betula.load(str(tmp_path / "estimator"))
    assert {param.name: value for param, value in loaded.extractParamMap().items()} == {
        param.name: value for param, value in estimator.extractParamMap().items()
    }
    model = Pipeline(stages=[assembler, loaded]).fit(frame)
    path = str(tmp_path / "pipeline")
    model.write().overwrite().save(path)
    model.write().overwrite().save(path)
    again = PipelineModel.load(path)
    assert in_bytes(again.stages[1]) == in_bytes(model.stages[1])
    assert again.stages[1].uid == model.stages[1].uid
    assert labels_of(again.transform(frame)) == labels_of(model.transform(frame))


def test_a_model_file_goes_to_the_command_line_and_back(frame, rows, model, tmp_path):
    path = str(tmp_path / "spark.sb")
    model.save(path)
    assert Path(path).read_bytes() == in_bytes(model)
    with pytest.raises(FileExistsError, match="overwrite"):
        model.save(path)
    model.write().overwrite().save(path)
    table = frame.toArrow().sort_by("id")
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    done("cut", path, tmp_path / "rows.parquet", "-k", 3, "--labels", tmp_path / "labels.npy")
    expected = labels_of(model.transform(frame))
    assert np.load(tmp_path / "labels.npy").tolist() == expected == sb.load(path).predict(rows).tolist()

    file = str(tmp_path / "cli.sb")
    how = ("--columns", "z,x", "--scale", "standard", "--missing", "drop", "--model", file)
    done("cluster", tmp_path / "rows.parquet", "-k", 4, *how, "--labels", tmp_path / "cli.npy")
    loaded = sb_spark.BetulaModel.load(file)
    assert loaded.getInputCols() == ["z", "x"]
    assert (loaded.getOrDefault("missing"), loaded.getOrDefault("n_clusters")) == ("drop", 4)
    assert labels_of(loaded.transform(frame)) == np.load(tmp_path / "cli.npy").tolist()

    sb.Betula(3).fit(rows).save(tmp_path / "nameless.sb")
    nameless = sb_spark.BetulaModel.load(str(tmp_path / "nameless.sb"))
    arrays = frame.select("id", sql.array("x", "y", "z").alias("features"))
    assert labels_of(nameless.transform(arrays)) == sb.load(tmp_path / "nameless.sb").predict(rows).tolist()
    with pytest.raises(FileNotFoundError, match=r"none\.sb"):
        sb_spark.BetulaModel.load(str(tmp_path / "none.sb"))
    model.to_local().features_.save(tmp_path / "features.sb")
    with pytest.raises(sb.ModelFileError, match="features"):
        sb_spark.BetulaModel.load(str(tmp_path / "features.sb"))


def test_a_file_that_spark_wrote_may_be_replaced_without_spark(model, rows, tmp_path):
    path = tmp_path / "model [1].sb"
    model.save(str(path))
    assert list(tmp_path.iterdir()) == [path]
    sb.Betula(5).fit(rows).save(path)
    assert len(sb_spark.BetulaModel.load(str(path)).clusterCenters()) == 5


def test_columns_with_brackets_in_their_names_are_not_taken_for_arrays(frame, rows, tmp_path):
    path, columns = tmp_path / "model.sb", {"x": "e[0]", "y": "f[1]", "z": "f[2]"}
    table = pa.table(dict(zip(columns.values(), rows.T, strict=True)))
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    done("cluster", tmp_path / "rows.parquet", "-k", 3, "--model", path, "--labels", tmp_path / "labels.npy")
    expected, loaded = np.load(tmp_path / "labels.npy").tolist(), sb_spark.BetulaModel.load(str(path))
    assert loaded.getInputCols() == ["e", "f[1]", "f[2]"]
    renamed = frame.withColumnsRenamed(columns)
    assert labels_of(loaded.transform(renamed)) == expected
    arrays = renamed.select("id", sql.array("`e[0]`").alias("e"), "`f[1]`", "`f[2]`")
    assert labels_of(loaded.transform(arrays)) == expected


def test_times_are_seconds_for_a_model_of_times(spark, tmp_path):
    days = [datetime.date(2024, 1, 1 + 9 * (i % 3)) for i in range(30)]
    often = pa.table({"day": days, "x": np.arange(30.0)})
    pa.parquet.write_table(often, tmp_path / "rows.parquet")
    file = str(tmp_path / "model.sb")
    done("cluster", tmp_path / "rows.parquet", "-k", 3, "--times", "--model", file, "--labels", tmp_path / "l.npy")
    frame = spark.createDataFrame([(i, day, float(i)) for i, day in enumerate(days)], "id long, day date, x double")
    assert labels_of(sb_spark.BetulaModel.load(file).transform(frame)) == np.load(tmp_path / "l.npy").tolist()


def test_a_loaded_model_has_counts_of_zero(model, tmp_path):
    model.save(str(tmp_path / "folder"))
    zero = {"rows": 0, "dropped": 0, "filled": 0}
    assert sb_spark.BetulaModel.load(str(tmp_path / "folder")).counts_ == zero


def test_a_folder_that_is_not_there_is_one_line(model, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^\S*nowhere/model\.sb: there is no such file$"):
        sb_spark.BetulaModel.load(str(tmp_path / "nowhere"))


def test_a_model_file_that_is_not_written_to_its_end_leaves_the_old_one(model, tmp_path, monkeypatch):
    path = tmp_path / "model.sb"
    model.save(str(path))
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(sb_spark, "packed_model", lambda *_: object())  # which fails while the new file is open
        with pytest.raises(TypeError):
            model.write().overwrite().save(str(path))
    assert (list(tmp_path.iterdir()), path.read_bytes()) == ([path], before)
    (tmp_path / "folder.sb").mkdir()
    with pytest.raises(IsADirectoryError):
        model.write().overwrite().save(str(tmp_path / "folder.sb"))


def test_a_model_that_cannot_be_renamed_where_the_old_one_is_gone_stays_beside_it(model, monkeypatch):
    files, path = MagicMock(), MagicMock()
    files.getFileStatus.return_value.isDirectory.return_value = False
    files.getUri.return_value.getScheme.return_value = "s3a"
    files.rename.return_value = False
    path.suffix.return_value.getName.return_value = "model.sb.0a1b.part"
    monkeypatch.setattr("silverbirch.engines.spark._file_system", lambda *_: (files, path))
    with pytest.raises(OSError, match=r"cannot write s3a://a/model\.sb: model\.sb\.0a1b\.part beside it is complete"):
        model.write().overwrite().save("s3a://a/model.sb")
    assert [call.args[0] for call in files.delete.call_args_list] == [path]


def test_rows_added_to_the_local_model_are_not_added_to_that_of_spark(model, rows):
    before = in_bytes(model)
    model.to_local().partial_fit(rows)
    assert in_bytes(model) == before


# -- order and faults


def test_the_driver_sees_one_merged_set(frame, monkeypatch):
    collected = []
    collect = type(frame).collect

    def spying(self):
        found = collect(self)
        collected.append(found)
        return found

    monkeypatch.setattr(type(frame), "collect", spying)
    features = sb_spark.aggregate(frame, ["x", "y", "z"], max_leaves=30, refine=0)
    assert max(map(len, collected)) == 1
    most = max(len(value) for found in collected for value in found[0] if isinstance(value, bytes | bytearray))
    assert features.mean.nbytes < most < 10 * features.mean.nbytes


def test_the_model_does_not_depend_on_which_partition_is_ready_first(frame, model):
    for _ in range(2):
        assert in_bytes(betula().fit(frame.mapInArrow(stage(), frame.schema))) == in_bytes(model)


def test_executors_killed_in_the_middle_of_a_fit_change_nothing(frame, model, tmp_path):
    # 24 batches in each of the two passes over the rows: one kill in the first, one in the second.
    disturbed = frame.mapInArrow(stage(str(tmp_path), kills=(9, 40)), frame.schema)
    found = betula().fit(disturbed)
    assert len(list(tmp_path.iterdir())) > 48  # some batches were made again
    assert in_bytes(found) == in_bytes(model)
    assert found.to_local().features_.weight.sum() == ROWS


def test_an_executor_killed_in_the_middle_of_a_transform_changes_nothing(frame, model, tmp_path):
    labelled = model.transform(frame)
    disturbed = labelled.mapInArrow(stage(str(tmp_path), kills=(9,)), labelled.schema)
    assert sorted(disturbed.collect()) == sorted(labelled.collect())  # Spark's sort would read all batches twice
    assert len(list(tmp_path.iterdir())) > 24


def test_the_examples_of_the_docstrings_run(spark):
    found = doctest.testmod(sb_spark, extraglobs={"spark": spark})
    assert found.attempted >= 12
    assert found.failed == 0


def test_the_local_class_names_the_one_for_spark(frame):
    with pytest.raises(TypeError, match=r"collection of Spark \(DataFrame\).*silverbirch\.spark\.Betula.*toPandas\(\)"):
        sb.Betula(3).fit(frame)
