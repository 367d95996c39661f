"""The reference of the Python names, made from the docstring of the package.

The docstring groups the public names. Each name gets a page, docs/reference/NAME.rst, with its docstring and those of
its public members; docs/reference.md shows the groups. Nothing of this is kept in the repository.
"""

from __future__ import annotations

import inspect
import re
from functools import cached_property
from pathlib import Path
from types import MemberDescriptorType
from typing import Any

import silverbirch

MARK = "<!-- the groups of the package's docstring -->"
FOLDER = Path(__file__).parents[1] / "reference"
DOCUMENTED = (property, cached_property, classmethod, staticmethod, MemberDescriptorType)
_GROUP = re.compile(r"(?m)^(\S.*)\n((?:    .*\n?)+)")
_NAME = re.compile(r"(?m)^    (\w+)\s+-- (.*(?:\n {8,}(?!-- )\S.*)*)")


def groups(docstring: str) -> dict[str, dict[str, str]]:
    """{group: {name: what it is}} as the docstring of the package has them."""
    return {
        title: {name: " ".join(text.split()) for name, text in _NAME.findall(block)}
        for title, block in _GROUP.findall(docstring)
    }


def members(cls: type) -> list[str]:
    """Public methods and properties of a class that are written in this package, in the order of their names."""
    found = []
    for name in dir(cls):
        owner = next((owner for owner in cls.__mro__ if name in vars(owner)), None)
        if name.startswith("_") or owner is None or not owner.__module__.startswith("silverbirch"):
            continue
        if inspect.isfunction(vars(owner)[name]) or isinstance(vars(owner)[name], DOCUMENTED):
            found.append(name)
    return found


def file_name(name: str) -> str:
    """The name of its page: `dendrogram` and `Dendrogram` must differ where file systems ignore case."""
    return name if name[0].isupper() else f"{name}-function"


def page(name: str) -> str:
    """The reStructuredText of the page about a public name."""
    thing = getattr(silverbirch, name)
    lines = [name, "=" * len(name), "", ".. currentmodule:: silverbirch", ""]
    if not inspect.isclass(thing):
        return "\n".join([*lines, f".. autofunction:: {name}", ""])
    lines += [f".. auto{'exception' if issubclass(thing, BaseException) else 'class'}:: {name}", ""]
    for member in [] if issubclass(thing, BaseException) else members(thing):
        found = inspect.getattr_static(thing, member)
        is_method = inspect.isfunction(found) or isinstance(found, classmethod | staticmethod)
        directive = "automethod" if is_method else "autoattribute"
        lines += [f"   .. {directive}:: {name}.{member}", ""]
    return "\n".join(lines)


def _write_pages(app: Any) -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = {f"{file_name(name)}.rst": page(name) for name in silverbirch.__all__}
    for old in FOLDER.glob("*.rst"):
        if old.name not in wanted:
            old.unlink()
    for file, text in wanted.items():
        if not (FOLDER / file).exists() or (FOLDER / file).read_text() != text:
            (FOLDER / file).write_text(text)


def _add_groups(app: Any, name: str, source: list[str]) -> None:
    if MARK in source[0]:
        tables = [
            f"### {title}\n\n| name | |\n|---|---|\n"
            + "".join(f"| [{name}](reference/{file_name(name)}.rst) | {text} |\n" for name, text in names.items())
            for title, names in groups(silverbirch.__doc__ or "").items()
        ]
        source[0] = source[0].replace(MARK, "\n".join(tables))


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", _write_pages)
    app.connect(
        "source-read", _add_groups, priority=400
    )  # before contents.py, which takes the links for the navigation
    return {"parallel_read_safe": True, "parallel_write_safe": True}
