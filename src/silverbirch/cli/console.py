"""Messages of the command line: results on stdout, progress and errors on stderr, exit codes 0, 1 and 2."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec

import typer
from rich.console import Console
from rich.text import Text

from ..storage.container import printable
from .groups import Talking
from .wording import in_options

_P = ParamSpec("_P")
_TRACEBACK = "SILVERBIRCH_TRACEBACK"


def failing_cleanly(command: Callable[_P, None]) -> Callable[_P, None]:
    """Turns the errors of a command into one line on stderr and exit code 1."""

    @functools.wraps(command)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            with in_options(command):
                command(*args, **kwargs)
        except (typer.Exit, typer.BadParameter):
            raise
        except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
            fail("; ".join([_text(error), *getattr(error, "__notes__", [])]))
        except Exception as error:
            if _TRACEBACK in os.environ:
                raise
            fail(f"unexpected {type(error).__name__}: {error}; please report it, with what {_TRACEBACK}=1 shows")

    return wrapped


def fail(message: str) -> None:
    typer.echo(f"Error: {_one_line(message)}", err=True)
    raise typer.Exit(1) from None


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _text(error: Exception) -> str:
    """The text of an error, without the number of an error of the system."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


@contextmanager
def usage() -> Iterator[None]:
    """Turns an error about the value of an option into wrong usage: exit code 2."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from None


class Voice:
    """Prints the results of a command: as text, as JSON, or not at all."""

    def __init__(self, talking: Talking, *, to_stderr: bool = False) -> None:
        self.silent = talking.quiet or talking.as_json
        self._as_json = talking.as_json
        self._out = Console(
            soft_wrap=True, highlight=False, markup=False, emoji=False, quiet=self.silent, stderr=to_stderr
        )

    @property
    def shows_progress(self) -> bool:
        return not self.silent and sys.stderr.isatty()

    def say(self, text: str) -> None:
        self._out.print(printable(text))

    def warn(self, text: str) -> None:
        """Prints a line on stderr, even if the results are not printed: something is lost, but the run goes on."""
        typer.echo(f"Warning: {_one_line(text)}", err=True)

    def table(self, rows: list[tuple[str, str]]) -> None:
        width = max(len(name) for name, _ in rows)
        for name, value in rows:  # one line each, however long, so that programs can read them
            self._out.print(Text(name.ljust(width), style="dim"), printable(value), sep="  ")

    def columns(self, rows: list[list[str]]) -> None:
        """Prints columns of numbers below their heads."""
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            self._out.print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))

    def give(self, values: dict[str, Any]) -> None:
        """Prints the values as JSON, if --json is set."""
        if self._as_json:
            typer.echo(json.dumps(values, indent=2))
