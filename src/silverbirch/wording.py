"""How messages name parameters: `max_leaves=5` in Python, `--max-leaves 5` on the command line.

A message asks `parameter` for the text. So nothing has to find names in finished messages, where a column or a file
may have the same name.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

_NO_VALUE = object()
Spelling = Callable[..., str]  # (name) or (name, value)


def in_python(name: str, value: Any = _NO_VALUE) -> str:
    """The text for Python: `max_leaves`, `max_leaves=5`, or `columns=…` for the value `...`."""
    function, _, name = name.rpartition(".")
    text = name if value is _NO_VALUE else f"{name}=…" if value is ... else f"{name}={value!r}"
    return f"{function[:-1]}…, {text})" if function.endswith("()") else text


@dataclass(frozen=True)
class InOptions:
    """The text for the command line: `--max-leaves 5`. A command sends it to workers, which may have no command line.

    options : the option for each parameter
    own : the options of the command; others are called those of `cluster`. None if all may be named.
    """

    options: Mapping[str, str]
    own: frozenset[str] | None = None

    def __call__(self, name: str, *value: Any) -> str:
        known = self.options.get(name) or self.options.get(name.rpartition(".")[2])
        if known is None:
            return in_python(name, *value)
        option = known
        if value and value[0] is not ... and not isinstance(value[0], bool):
            option += f" {_shell_word(value[0])}"
        return option if self.own is None or known in self.own else f"{option} of `cluster`"


def _shell_word(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a size of 20 is a float, and was not typed as 20.0
    return shlex.quote(str(value))


# Not a context variable: a thread that a command starts has to use the words of that command.
_spelling: Spelling = in_python
# A context variable: a worker does tasks of several jobs at once, each in a thread.
_spelling_of_task: ContextVar[Spelling | None] = ContextVar("spelling_of_task", default=None)


def parameter(name: str, *value: Any) -> str:
    """The text of a parameter, with its value if one is given.

    Where several functions have a parameter of this name, and the command line several options, the name begins with
    that of the function, as in "linkage.method" and "cut.method". Python shows the call for "read_chunks().columns":
    the rows may have been given to a function without this parameter.
    """
    return current_spelling()(name, *value)


def current_spelling() -> Spelling:
    return _spelling_of_task.get() or _spelling


@contextmanager
def spelled_in_task(spelling: Spelling) -> Iterator[None]:
    """Within the block, messages of this thread name parameters by `spelling`."""
    token = _spelling_of_task.set(spelling)
    try:
        yield
    finally:
        _spelling_of_task.reset(token)


@contextmanager
def spelled(spelling: Spelling) -> Iterator[None]:
    """Within the block, messages name parameters by `spelling`."""
    global _spelling
    before, _spelling = _spelling, spelling
    try:
        yield
    finally:
        _spelling = before
