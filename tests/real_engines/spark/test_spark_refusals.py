"""What Spark's models refuse, and in which words."""

import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as sql

import silverbirch as sb
from silverbirch import spark as sb_spark
from silverbirch.engines.spark import _run
from silverbirch.engines.work import Gather, Reading
from spark_frames import LISTS, NO_LIST, betula, labels_of


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


def test_weights_that_are_all_zero_are_refused_by_the_name_they_have_here(frame):
    with pytest.raises(ValueError, match=r"^weightCol='often' is zero for all rows"):
        betula(weightCol="often").fit(frame.withColumn("often", sql.lit(0)))


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_frame_without_rows_is_refused(frame, scale):
    with pytest.raises(ValueError, match="row"):
        betula(scale=scale).fit(frame.where("id < 0"))


def test_the_local_class_names_the_one_for_spark(frame):
    with pytest.raises(TypeError, match=r"collection of Spark \(DataFrame\).*silverbirch\.spark\.Betula.*toPandas\(\)"):
        sb.Betula(3).fit(frame)
