"""How messages name parameters: `max_leaves=5` in Python, `--max-leaves 5` on the command line.

A message asks `parameter` for the text. So nothing has to find names in finished messages, where a column or a file
may have the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_NO_VALUE = object()
Spelling = Callable[..., str]  # (name) or (name, value)


def in_python(name: str, value: Any = _NO_VALUE) -> str:
    """The text for Python: `max_leaves`, `max_leaves=5`, or `columns=…` for the value `...`."""
    function, _, name = name.rpartition(".")
    text = name if value is _NO_VALUE else f"{name}=…" if value is ... else f"{name}={value!r}"
    return f"{function[:-1]}…, {text})" if function.endswith("()") else text


# Not a context variable: a thread that a command starts has to use the words of that command.
_spelling: Spelling = in_python


def parameter(name: str, *value: Any) -> str:
    """The text of a parameter, with its value if one is given.

    Where several functions have a parameter of this name, and the command line several options, the name begins with
    that of the function, as in "linkage.method" and "cut.method". Python shows the call for "read_chunks().columns":
    the rows may have been given to a function without this parameter.
    """
    return _spelling(name, *value)


@contextmanager
def spelled(spelling: Spelling) -> Iterator[None]:
    """Within the block, messages name parameters by `spelling`."""
    global _spelling
    before, _spelling = _spelling, spelling
    try:
        yield
    finally:
        _spelling = before
