"""The compiled core as Python sees it."""

import ast
import inspect
from pathlib import Path

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
            core |= {f"{name}.{member}": value for member in vars(value) if member == "__init__" or member[0] != "_"}
        elif not name.startswith("_"):
            core[name] = value
    assert set(stub) == set(core)
    assert stub["pairwise_squared_distances"] == ["weight", "mean", "sse", "distance", "threads", "progress"]
    for name, value in core.items():
        for signature, *_ in getattr(value, "__nb_signature__", ()):
            assert all(f"{argument}:" in signature for argument in stub[name] if argument != "self"), name


def test_the_fastest_instruction_set_is_used():
    assert _core.instruction_set() == _core.supported_instruction_sets()[-1]
    assert _core.supported_instruction_sets()[0] == "baseline"
