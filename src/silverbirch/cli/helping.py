"""The help of the commands: panels in one order, flags without a type, paragraphs as wide as the terminal."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand, TyperGroup

from .options import PANELS


class _Tidy:
    """Changes what typer shows of the parameters of a command; what they do stays the same."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""  # a flag takes no value; typer shows <bool>
            elif parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None  # its name says enough; typer shows <list[str]>
        return sorted(parameters, key=_panel)


class Command(_Tidy, TyperCommand):
    pass


class Group(_Tidy, TyperGroup):
    pass


def _panel(parameter: Any) -> int:
    """The place of the panel; arguments come first, and --help, which has no panel, last."""
    if parameter.param_type_name == "argument":
        return -1
    panel = getattr(parameter, "rich_help_panel", None)
    return PANELS.index(panel) if panel in PANELS else len(PANELS)


def help_of(command: Callable[..., None]) -> str:
    """The docstring of a command with each paragraph on one line, which the terminal breaks where it needs to."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)
