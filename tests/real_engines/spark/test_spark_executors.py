"""Executors that are late or die, and what they send to the driver."""

import os
import random
import signal
import sys
import time
from pathlib import Path

from pyspark import cloudpickle

import unsteady_tasks
from silverbirch import spark as sb_spark
from spark_frames import ROWS, betula, in_bytes
from unsteady_tasks import next_call

for module in (sys.modules[__name__], unsteady_tasks):  # the executors do not have these files
    cloudpickle.register_pickle_by_value(module)


def stage(marker=None, kills=()):
    """Hands batches on after a random while. Those of these numbers, in the order of time, kill their executor."""

    def handed_on(batches):
        for batch in batches:
            time.sleep(random.SystemRandom().uniform(0, 0.02))
            if marker is not None and next_call(marker) in kills:
                os.kill(executor(), signal.SIGKILL)
            yield batch

    return handed_on


def executor():
    """The process of the executor that this worker belongs to."""
    process = os.getpid()
    while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_bytes():
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return process


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
