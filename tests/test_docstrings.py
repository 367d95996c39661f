"""Every public name says in its docstring what it does, what it takes and how it is used, and the examples run."""

import doctest
import importlib
import inspect
import pkgutil
import re
import types
from functools import cached_property

import pytest

import silverbirch

PUBLIC = {name: getattr(silverbirch, name) for name in silverbirch.__all__}
DOCUMENTED = (property, cached_property, classmethod, types.MemberDescriptorType)
ENGINES = ("dask", "spark")  # whose modules `make test-engines` tests
GPU = "silverbirch.gpu."  # the room that `make test-torch` tests
MODULES = [
    module.name
    for module in pkgutil.walk_packages(silverbirch.__path__, "silverbirch.")
    if module.name.rpartition(".")[2] not in ENGINES and not module.name.startswith(GPU)
]


def public_members(name, cls):
    """(name, member) of the public methods and properties of a class that are written in this package."""
    for attribute in filter(lambda attribute: not attribute.startswith("_"), dir(cls)):
        owner = next((owner for owner in cls.__mro__ if attribute in vars(owner)), None)
        if owner is not None and owner.__module__.startswith("silverbirch"):
            member = vars(owner)[attribute]
            if inspect.isfunction(member) or isinstance(member, DOCUMENTED):
                yield f"{name}.{attribute}", getattr(member, "__func__", member)


MEMBERS = dict(pair for name, cls in PUBLIC.items() if inspect.isclass(cls) for pair in public_members(name, cls))
CALLABLES = PUBLIC | {name: member for name, member in MEMBERS.items() if inspect.isfunction(member)}


def section(documented, title):
    """The lines below a numpydoc heading, up to the next heading."""
    text = inspect.getdoc(documented) or ""
    found = re.search(rf"(?ms)^{title}\n-{{{len(title)}}}\n(.*?)(?=^\S[^\n]*\n---|\Z)", text)
    return found[1].splitlines() if found else []


def documented_parameters(documented):
    entries = [
        line.partition(" : ")[0] for line in section(documented, "Parameters") if " : " in line and line[0] != " "
    ]
    return [name.strip().lstrip("*") for entry in entries for name in entry.split(",")]


def parameters(documented):
    if inspect.isclass(documented) and "__init__" not in vars(documented) and issubclass(documented, Exception):
        return []
    return [name for name in inspect.signature(documented).parameters if name not in ("self", "cls")]


def has_summary(documented):
    lines = (inspect.getdoc(documented) or "").split("\n")
    return lines[0].rstrip().endswith(".") and (len(lines) == 1 or lines[1] == "")


@pytest.mark.parametrize("name", [*PUBLIC, *MEMBERS])
def test_a_docstring_begins_with_one_line_that_is_a_sentence(name):
    assert has_summary((PUBLIC | MEMBERS)[name])


@pytest.mark.parametrize("name", CALLABLES)
def test_the_parameters_of_the_signature_are_documented_in_its_order(name):
    assert documented_parameters(CALLABLES[name]) == parameters(CALLABLES[name])


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example(name):
    examples = section(PUBLIC[name], "Examples")
    assert any(line.startswith(">>> ") for line in examples)


@pytest.mark.parametrize("module", ["silverbirch", *MODULES])
def test_the_examples_of_a_module_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_the_examples_of_every_public_name_are_found():
    finder = doctest.DocTestFinder(recurse=False)
    tests = {name: finder.find(thing, name) for name, thing in PUBLIC.items()}
    assert [name for name, found in tests.items() if not found or not found[0].examples] == []
    assert {thing.__module__ for thing in PUBLIC.values()} <= set(MODULES)


def test_what_is_not_documented_is_noticed():
    def function(a, b, *, c=1):
        """Adds
        numbers.

        Parameters
        ----------
        a, b : int
            Numbers.
        """

    assert not has_summary(function)
    assert documented_parameters(function) == ["a", "b"]
    assert parameters(function) == ["a", "b", "c"]
    assert section(function, "Examples") == []
