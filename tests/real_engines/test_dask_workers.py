"""Workers of Dask that are late or die change nothing, and none of them gets all rows."""

import os
import signal
import threading
import time

import dask.array as da
import numpy as np
import pytest
from dask import delayed

import silverbirch.dask as sd
from silverbirch.engines import dask as engine
from silverbirch.engines.partial import Partial
from silverbirch.engines.work import Aggregate, Count, Gather, Reading
from silverbirch.storage import container
from trees import assert_holds, gaussian_clusters
from unsteady_tasks import killing, late, slow

X = gaussian_clusters(800, 3)
PIECES = np.split(X, 8)
OPTIONS = {"n_clusters": 10, "max_leaves": 60, "scale": "standard"}
PASSES = 3  # statistics, tree, refined leaves


@pytest.fixture
def workers(client):
    """The ids of both worker processes, after those that died were replaced."""
    client.wait_for_workers(2, timeout=300)
    return set(client.run(os.getpid).values())


def lost(workers, client):
    """Those of the workers that do not answer any more."""
    return workers - set(client.run(os.getpid, on_error="ignore").values())


def saved(model, folder):
    model.save(folder / "model.sb")
    return (folder / "model.sb").read_bytes()


@pytest.fixture
def undisturbed(tmp_path):
    """The model file and the labels of a run in threads."""
    model = sd.Betula(**OPTIONS).fit([delayed(piece) for piece in PIECES])
    return saved(model, tmp_path), model.to_local().predict(X)


def array_of(chunks):
    return da.concatenate([da.from_delayed(chunk, (100, 3), dtype=float) for chunk in chunks])


def chunks_with(task, *arguments):
    """The pieces, of which number 3 goes through the task."""
    return [delayed(task)(piece, *arguments) if i == 3 else delayed(piece) for i, piece in enumerate(PIECES)]


def assert_complete(model, undisturbed, folder):
    assert saved(model, folder) == undisturbed[0]
    assert model.tree_.n_points == model.features_.weight.sum() == model.counts_["rows"] == 800


# --- order


@pytest.mark.parametrize("seed", range(4))
def test_the_order_in_which_workers_are_ready_does_not_change_a_bit(seed, client, workers, undisturbed, tmp_path):
    chunks = [delayed(late)(piece, 8 * seed + i) for i, piece in enumerate(PIECES)]
    for own in (None, client):
        model = sd.Betula(**OPTIONS, client=own).fit(chunks)
        assert_complete(model, undisturbed, tmp_path)
    labels = client.compute(model.predict(array_of(chunks))).result()
    np.testing.assert_array_equal(labels, undisturbed[1])


# --- faults


@pytest.mark.parametrize("at", range(PASSES))
def test_a_worker_that_dies_in_any_pass_of_fit_changes_nothing(at, client, workers, undisturbed, tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()
    model = sd.Betula(**OPTIONS, client=client).fit(chunks_with(killing, calls, at))
    assert len(list(calls.iterdir())) > PASSES  # the pass of the dead worker was done again
    assert_complete(model, undisturbed, tmp_path)
    assert len(lost(workers, client)) == 1


def test_a_worker_that_dies_while_rows_are_labelled_changes_no_label(client, workers, undisturbed, tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()
    model = sd.Betula(**OPTIONS, client=client).fit([delayed(piece) for piece in PIECES])
    labels = client.compute(model.predict(array_of(chunks_with(killing, calls, 0)))).result()
    assert len(list(calls.iterdir())) == 2
    np.testing.assert_array_equal(labels, undisturbed[1])
    assert len(lost(workers, client)) == 1


def killer(folder):
    """A thread that kills the first process that leaves a file in the folder. Its list `killed` names it."""
    killed = []

    def kill():
        while not (begun := list(folder.iterdir())):
            time.sleep(0.005)
        killed.append(int(begun[0].name))
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.killed = killed
    thread.start()
    return thread


@pytest.mark.parametrize("method", ["fit", "predict", "score"])
def test_a_worker_killed_from_outside_changes_nothing(method, client, workers, undisturbed, tmp_path):
    begun = tmp_path / "begun"
    begun.mkdir()
    disturbed = [delayed(slow)(piece, begun) for piece in PIECES]
    steady = [delayed(piece) for piece in PIECES]
    model = sd.Betula(**OPTIONS, client=client).fit(steady)
    score = model.score(steady)
    thread = killer(begun)
    if method == "fit":
        assert_complete(model.fit(disturbed), undisturbed, tmp_path)
    elif method == "predict":
        labels = client.compute(model.predict(array_of(disturbed))).result()
        np.testing.assert_array_equal(labels, undisturbed[1])
    else:
        assert model.score(disturbed) == score
    thread.join(timeout=300)
    assert set(thread.killed) <= workers
    assert len(thread.killed) == 1
    assert lost(workers, client) == set(thread.killed)


# --- what is sent


@pytest.fixture
def seen(monkeypatch):
    """What the tasks were given and what they returned."""
    seen = {"rows": [], "done": [], "merged": []}
    done, merged = engine._done, engine._merged

    def spying_done(work, number, rows, weight):
        seen["rows"].append(len(rows))
        seen["done"].append(done(work, number, rows, weight))
        return seen["done"][-1]

    def spying_merged(work, sent):
        seen["merged"].append(merged(work, sent))
        return seen["merged"][-1]

    monkeypatch.setattr(engine, "_done", spying_done)
    monkeypatch.setattr(engine, "_merged", spying_merged)
    return seen


def test_no_worker_gets_more_than_a_partition_and_sends_more_than_its_leaves(seen):
    rows = np.concatenate([X] * 5)
    model = sd.Betula(**OPTIONS).fit(da.from_array(rows, chunks=(200, 2)))
    assert len(seen["rows"]) == PASSES * 20
    assert set(seen["rows"]) == {200}
    assert len(seen["merged"]) == PASSES * (3 + 1)
    largest = 60 * (3 + 3) * 8 + 4000  # 60 leaves: mean, weight, sse and rows; the header
    for data in seen["done"] + seen["merged"]:
        assert container.unpacked(data, "sent")[0] == "partial"
        assert len(data) < largest < rows.nbytes / 10
    assert_holds(model.features_, (rows - rows.mean(axis=0)) / rows.std(axis=0))


def test_a_worker_process_sends_containers_and_the_client_receives_one_set(client, workers):
    run = engine.Partitions(da.from_array(X, chunks=(50, 3))).run_on(client)
    model = sd.Betula(n_clusters=5, max_leaves=60).fit(da.from_array(X, chunks=(50, 3)))
    for work in (Gather(Reading()), Aggregate(Reading(), {"max_leaves": 60}), Count(Reading(), model._sent())):
        sent = run(work)
        assert isinstance(sent, bytes)
        assert container.unpacked(sent, "sent")[0] == "partial"
        assert Partial.from_bytes(sent).counts.rows == 800
        assert len(sent) < 60 * (3 + 3) * 8 + 4000
