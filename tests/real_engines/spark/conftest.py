import os
import shutil
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import silverbirch as sb
from spark_frames import BATCH, BATCH_ROWS, PARTITIONS, ROWS, betula, of


@pytest.fixture(scope="module")
def spark():
    """A session whose executors are processes of their own."""
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
