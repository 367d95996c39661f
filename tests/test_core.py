"""The compiled core as Python sees it."""

import ast
import inspect
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import silverbirch as sb
from silverbirch import _core


def test_the_stub_names_what_the_core_has_and_nothing_else():
    """`make stubs` renews it."""
    tree = ast.parse(Path(sb.__file__).with_name("_core.pyi").read_text())
    stub = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef():
                stub[node.name] = [argument.arg for argument in node.args.args]
            case ast.ClassDef():
                stub |= {
                    f"{node.name}.{member.name}": [argument.arg for argument in member.args.args]
                    for member in node.body
                    if isinstance(member, ast.FunctionDef)
                }
            case ast.AnnAssign():
                stub[node.target.id] = None
    core = {}
    for name, value in inspect.getmembers(_core):
        if inspect.isclass(value):
            constructible = hasattr(value.__init__, "__nb_signature__")  # rows of tables are only read
            hidden = {member for member in vars(value) if member[0] == "_"} - ({"__init__"} if constructible else set())
            core |= {f"{name}.{member}": value for member in vars(value) if member not in hidden}
        elif not name.startswith("_"):
            core[name] = value
    assert set(stub) == set(core)
    assert stub["pairwise_squared_distances"] == ["weight", "mean", "sse", "distance", "threads", "progress"]
    for name, value in core.items():
        for signature, *_ in getattr(value, "__nb_signature__", ()):
            assert all(f"{argument}:" in signature for argument in stub[name] if argument != "self"), name


JOBS = {
    "insert": lambda X: sb.CFTree(branching=600).insert(X),
    "linkage from features": lambda X: sb.linkage(X[:16_000], "ward"),
    "linkage from distances": lambda X: sb.linkage(X[:1_500], "complete", algorithm="agnes"),
    "assign": lambda X: sb.CFTree().insert(X[:4_000]).assign(X),
}


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
def test_other_threads_run_while_the_core_computes(job):
    """A thread that only counts would stand still if the lock were held to the end."""
    X = np.random.default_rng(0).normal(size=(200_000, 8))
    running, counted = threading.Event(), []

    def count():
        while running.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.001)

    running.set()
    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    job(X)
    end = time.perf_counter()
    running.clear()
    thread.join()
    middle = [t for t in counted if begin + 0.25 * (end - begin) < t < begin + 0.75 * (end - begin)]
    assert len(middle) > 3


def test_the_fastest_instruction_set_is_used():
    assert _core.instruction_set() == _core.supported_instruction_sets()[-1]
    assert _core.supported_instruction_sets()[0] == "baseline"
