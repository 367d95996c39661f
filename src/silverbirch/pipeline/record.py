"""The record of a run, as plain values for JSON."""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .. import __version__, _core, machine


def versions() -> dict[str, str]:
    """The versions of this package and of the installed libraries that compute the result or read the files."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"silverbirch": __version__, "python": platform.python_version(), "kernels": _core.instruction_set()}
    for package in ("numpy", "scipy", "scikit-learn", "pyarrow"):
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


@dataclass
class Record:
    """What a run did; filled in while it runs.

    `result` is the same each time a run is repeated. It goes into the model file, so that files can be compared.
    `measured` adds times and memory.
    """

    command: str
    parameters: dict[str, Any]
    input: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)  # the suggestion of a number of clusters, possible cuts
    outputs: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    _start: float = field(default_factory=time.perf_counter)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds the time that the block takes to the seconds of a phase."""
        begin = time.perf_counter()
        yield
        self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - begin, 3)

    def result(self) -> dict[str, Any]:
        """The part that a model file stores."""
        return {
            "command": self.command,
            "parameters": self.parameters,
            "input": self.input,
            "counts": dict(self.counts),
        } | self.found

    def measured(self) -> dict[str, Any]:
        """The whole record."""
        return self.result() | {
            "outputs": self.outputs,
            "versions": versions(),
            "seconds": self.seconds | {"total": round(time.perf_counter() - self._start, 3)},
            "peak_memory_bytes": machine.peak_memory(),
        }
