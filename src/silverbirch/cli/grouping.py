"""Groups of options: a command takes a dataclass, and the shell sees an option for each of its fields."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

import typer.models


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its groups as parameters, which typer turns into options.

    A group is a parameter whose type is a dataclass. Two groups of one command cannot have a field of the same name.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = [
        spread
        for parameter in inspect.signature(command).parameters.values()
        for spread in (
            _fields_of(groups[parameter.name])
            if parameter.name in groups
            else [parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)]
        )
    ]

    @functools.wraps(command)
    def with_groups(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in groups.items()
        }
        command(**given, **made)

    with_groups.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_groups


def _fields_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def words_of(group: Any) -> list[str]:
    """The options of a group as words of a command line, without defaults."""
    hints = get_type_hints(type(group), include_extras=True)
    given = [(field.name, getattr(group, field.name)) for field in fields(group)]
    changed = [(name, value) for name, value in given if value != getattr(type(group), name)]
    return [word for name, value in changed for word in _words(hints[name].__metadata__[0], name, value)]


def _words(option: typer.models.OptionInfo, name: str, value: Any) -> list[str]:
    declared = [f"--{name.replace('_', '-')}", option.default, *(option.param_decls or [])]
    shortest = [word for word in declared if isinstance(word, str)][-1]  # typer keeps the first name as the default
    on, _, off = shortest.partition("/")  # of a flag
    if isinstance(value, bool):
        return [on if value else off]
    return [word for one in (value if isinstance(value, list) else [value]) for word in (on, str(one))]
