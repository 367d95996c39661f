"""The compiled core as Python sees it."""

import ast
import inspect
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import silverbirch as sb
from silverbirch import _core


def test_the_stub_names_what_the_core_has_and_nothing_else():
    """`make stubs` updates it."""
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
    "insert_rows": lambda X: sb.CFTree().insert(X),
    "nearest": lambda X: sb.CFTree().insert(X[:1_000]).assign(X),
    "cluster_features": lambda X: sb.linkage(X, "ward"),
    "cluster_distances": lambda X: sb.linkage(pdist(X[:500]), "complete", algorithm="agnes"),
}


@pytest.fixture
def never_switching():
    """Python never switches threads by itself: another thread runs only if this one releases the GIL."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    yield
    sys.setswitchinterval(interval)


def let_go(core_function, *arguments):
    """Calls the function; also returns whether another thread ran meanwhile."""
    go, ran = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: go.wait() and ran.set())
    thread.start()
    go.set()
    result = core_function(*arguments)
    meanwhile = ran.is_set()
    thread.join()
    return result, meanwhile


def test_a_function_that_keeps_the_lock_is_noticed(never_switching):
    assert let_go(sum, range(1_000_000)) == (499_999_500_000, False)


@pytest.mark.parametrize("function", JOBS)
def test_other_threads_run_while_the_core_computes(function, monkeypatch, never_switching):
    """The operating system may be too busy to run the other thread during one call, not during a hundred."""
    X = np.random.default_rng(0).normal(size=(20_000, 4))
    seen = []

    def watched(original):
        def call(*arguments):
            result, meanwhile = let_go(original, *arguments)
            seen.append(meanwhile)
            return result

        return call

    for owner in (_core, *(value for value in vars(_core).values() if inspect.isclass(value))):
        if hasattr(owner, function):
            monkeypatch.setattr(owner, function, watched(getattr(owner, function)))
    for _ in range(100):
        if not any(seen):
            JOBS[function](X)
    assert any(seen)


def test_the_fastest_instruction_set_is_used():
    assert _core.instruction_set() == _core.supported_instruction_sets()[-1]
    assert _core.supported_instruction_sets()[0] == "baseline"
