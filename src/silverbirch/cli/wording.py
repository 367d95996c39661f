"""Lets messages name options of the command line: `--max-leaves 5` where Python has `max_leaves=5`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from ..wording import InOptions, spelled

# The option for each parameter that messages name. `cluster` has all of them.
OPTIONS = {
    "n_clusters": "-k",
    "distance_threshold": "--height",
    "height": "--height",
    "cut.method": "--cut-method",
    "min_size": "--min-size",
    "max_size": "--max-size",
    "noise": "--noise",
    "k_max": "--k-max",
    "linkage": "--linkage",
    "linkage.method": "--linkage",
    "mode": "--mode",
    "algorithm": "--algorithm",
    "columns": "--columns",
    "numeric_only": "--numeric-only",
    "id_column": "--id-column",
    "keep": "--keep",
    "weight_column": "--weight-column",
    "times": "--times",
    "format": "--format",
    "separator": "--separator",
    "decimal": "--decimal",
    "header": "--no-header",
    "encoding": "--encoding",
    "comment": "--comment",
    "missing": "--missing",
    "scale": "--scale",
    "metric": "--metric",
    "prepare": "--prepare",
    "projection": "--projection",
    "max_leaves": "--max-leaves",
    "max_memory": "--max-memory",
    "threshold": "--threshold",
    "distance": "--distance",
    "absorption": "--absorption",
    "refine": "--refine",
    "n_jobs": "--jobs",
    "force": "--force",
}


@contextmanager
def in_options(command: Callable[..., None] | None = None) -> Iterator[None]:
    """Within the block, messages name options instead of parameters.

    An option that `command` does not have is called one of `cluster`.
    """
    own = None if command is None else frozenset(options_of(command))
    with spelled(InOptions(OPTIONS, own)):
        yield


def options_of(command: Callable[..., None]) -> set[str]:
    """The options of a command, as they are typed."""
    found = set[str]()
    for parameter in inspect.signature(command).parameters.values():
        for known in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(known, typer.models.OptionInfo):
                # typer takes the first name of an option for its default until the command is made.
                names = (known.default, *(known.param_decls or ()))
                words = [word for name in names if isinstance(name, str) for word in name.replace("/", " ").split()]
                given = [word for word in words if word.startswith("-")]
                found.update(given or [f"--{parameter.name.replace('_', '-')}"])
    return found
