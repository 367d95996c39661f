"""The CF-tree under interrupts, threads and callbacks."""

import copy
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import silverbirch as sb
from silverbirch import _core
from trees import assert_holds, assert_same_bits, random_rows, snapshot


@pytest.fixture(autouse=True)
def every_report():
    """Reports all progress to Python, not only a few times a second, so that calls can be counted."""
    _core.set_report_interval(0)
    yield
    _core.set_report_interval(50)


class StopAt:
    """Raises at the calls of progress with these numbers."""

    def __init__(self, *numbers):
        self.numbers, self.calls = set(numbers), 0

    def __call__(self, done, total):
        self.calls += 1
        if self.calls in self.numbers:
            raise InterruptedError


@pytest.mark.parametrize("rows", [0, 1, 150_000])
@pytest.mark.parametrize("parameters", [{"max_leaves": None}, {"max_leaves": 20_000, "n_jobs": 2}, {"branching": 600}])
def test_an_interrupted_insert_keeps_the_rows_up_to_then(parameters, rows):
    X = random_rows(250_000, 3)

    def stop(done, total):
        if done >= rows:
            raise InterruptedError(done)

    tree = sb.CFTree(**parameters)
    with pytest.raises(InterruptedError) as caught:
        tree.insert(X, progress=stop)
    kept = int(tree.n_points)
    assert rows <= kept == caught.value.args[0] < len(X)
    if kept:
        assert tree.features.weight.sum() == kept
        assert_same_bits(tree.features, sb.CFTree(**parameters).insert(X[:kept]).features)


@pytest.mark.parametrize("dimensions", [2, 17])  # several parts, and one
def test_an_interrupted_rebuild_loses_nothing(dimensions):
    X = random_rows(60_000 if dimensions == 2 else 15_000, dimensions)
    tree = sb.CFTree(max_leaves=4_000, branching=4)
    interrupted_at = []
    stop = StopAt(*range(50, 20 * 250, 250))  # a rebuild polls at each node, so most of them are in one
    start = 0
    while start < len(X):
        try:
            tree.insert(X[start:], progress=stop)
        except InterruptedError:
            interrupted_at.append(int(tree.n_points))
        start = int(tree.n_points)
        assert tree.features.weight.sum() == start
    assert len(interrupted_at) == 20
    assert np.diff(interrupted_at).min() <= 1  # hardly a row was inserted between some: they were in one rebuild
    assert len(tree) <= 4_000
    assert_holds(tree.features, X)


def test_an_interrupted_assign_leaves_the_tree_usable():
    tree = sb.CFTree().insert(random_rows(20_000, 8))
    before = snapshot(tree)

    def stop(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        tree.assign(random_rows(200_000, 8, seed=1), progress=stop)
    assert snapshot(tree) == before
    np.testing.assert_array_equal(tree.assign(tree.features.mean[:9]), np.arange(9))


CTRL_C = """
import numpy as np, silverbirch as sb
X = np.random.default_rng(0).normal(size=(1_000_000, 2))
tree = sb.CFTree({parameters}).insert(X[:100])
try:
    print("inserting", flush=True)
    while True:
        tree.insert(X)
except KeyboardInterrupt:
    before = tree.n_points
    assert tree.features.weight.sum() == before
    tree.insert(X[:100])
    assert tree.features.weight.sum() == tree.n_points == before + 100
    print("interrupted")
"""


@pytest.mark.parametrize("parameters", ["branching=600", "max_leaves=40_000, branching=200", "max_leaves=9, n_jobs=2"])
def test_ctrl_c_stops_an_insert_and_leaves_a_usable_tree(parameters):
    environment = os.environ | {"PYTHONPATH": str(Path(sb.__file__).parents[1])}
    command = [sys.executable, "-c", CTRL_C.format(parameters=parameters)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "inserting\n"
            child.send_signal(signal.SIGINT)
            output, errors = child.communicate(timeout=60)
        finally:
            child.kill()
    assert (child.returncode, output) == (0, "interrupted\n"), errors


@pytest.mark.parametrize("max_leaves", [None, 100])
def test_threads_that_share_a_tree_lose_nothing(max_leaves):
    tree = sb.CFTree(max_leaves=max_leaves)
    parts = [np.round(random_rows(20_000, seed=s) * 64) for s in range(2)]
    tree.insert([[0.0, 0.0]])
    errors = []

    def run(work):
        try:
            work()
        except Exception as error:
            errors.append(error)

    def insert(part):
        for chunk in np.array_split(part, 100):
            tree.insert(chunk)

    def look():
        for _ in range(50):
            features = tree.features
            assert (features.weight > 0).all()
            tree.assign(parts[0][:10])
            copy.deepcopy(tree)

    threads = [threading.Thread(target=run, args=(w,)) for w in (*(lambda p=p: insert(p) for p in parts), look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert tree.n_points == 40_001
    assert_holds(tree.features, np.vstack([[[0.0, 0.0]], *parts]))


def test_a_progress_callback_can_read_the_tree_but_not_change_it():
    tree = sb.CFTree(max_leaves=2_000)
    seen = []

    def look(done, total):
        if done == 0:
            return
        seen.append((tree.n_leaves, len(tree.features), tree.n_points))
        with pytest.raises(RuntimeError, match="being changed"):
            tree.insert([[1.0, 2.0]])

    X = random_rows(300_000)
    tree.insert(X, progress=look)
    assert seen
    assert all(leaves == features <= 2_001 for leaves, features, _ in seen)  # one too many is what starts a rebuild
    assert tree.features == sb.CFTree(max_leaves=2_000).insert(X).features
