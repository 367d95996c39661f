"""The data frame and the models that the tests of Spark share."""

import numpy as np

from silverbirch import spark as sb_spark
from silverbirch.engines.work import packed_model

ROWS, PARTITIONS = 900, 12  # two rounds of merges
BATCH, BATCH_ROWS = 40, "spark.sql.execution.arrow.maxRecordsPerBatch"  # two batches in each partition

LISTS = "if({}, NULL, array(x, y, z)) AS features"
# The first batch of partition 0 has no list, nor has partition 3, where there are 75 rows in each.
NO_LIST = "id < 40 OR id BETWEEN 225 AND 299"


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
