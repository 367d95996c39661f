"""The rules of pyspark.ml: parameters, stages and pipelines, and the files that hold them."""

import datetime
import doctest
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.functions import array_to_vector
from pyspark.sql import functions as sql

import silverbirch as sb
from commands import done
from silverbirch import spark as sb_spark
from spark_frames import betula, in_bytes, labels_of


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


def test_the_examples_of_the_docstrings_run(spark):
    found = doctest.testmod(sb_spark, extraglobs={"spark": spark})
    assert found.attempted >= 12
    assert found.failed == 0
