"""Unfinished work in a file: a run that was killed at any moment can be resumed and gives the same bits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .. import __version__
from ..errors import ModelFileError
from ..wording import parameter
from . import container

KIND = "checkpoint"


class Resumable(Protocol):
    """Work that can be stored between two steps and resumed."""

    def to_state(self) -> tuple[dict[str, Any], container.Arrays]: ...

    def resume(self, state: dict[str, Any], arrays: container.Arrays) -> None:
        """Restores a stored state; raises ValueError, KeyError or TypeError if it is not valid."""

    @property
    def progress(self) -> str:
        """How far the work is, for a message: "row 2,000"."""


@dataclass
class Checkpoint:
    """A checkpoint file, replaced every `seconds` seconds.

    identity : everything that decides the result; a checkpoint with another identity belongs to another run
    outputs : the files that the run writes; a resumed run may overwrite them
    warn : called once if the file cannot be written; the work goes on, and so do the attempts to store it
    """

    path: Path
    seconds: float
    identity: dict[str, Any]
    outputs: list[str] = field(default_factory=list)
    warn: Callable[[str], None] = lambda text: None
    _tried: float = field(default_factory=time.monotonic)
    _stored: str | None = None
    _warned: bool = False

    def __call__(self, work: Resumable) -> None:
        if time.monotonic() - self._tried >= self.seconds:
            self.write(work)

    def write(self, work: Resumable) -> None:
        state, arrays = work.to_state()
        known = {"silverbirch": __version__, "identity": self.identity, "outputs": self.outputs}
        try:
            container.write(self.path, KIND, known | state, arrays)
            self._stored = work.progress
        except OSError as error:
            if not self._warned:
                goes_to = "there is none yet" if self._stored is None else f"the last one goes to {self._stored}"
                self.warn(f"no checkpoint at {work.progress}, the run goes on ({goes_to}): {error.strerror or error}")
            self._warned = True
        self._tried = time.monotonic()

    def resume(self, work: Resumable) -> list[str]:
        """Restores the work from the file, if there is one; returns the outputs that the run may overwrite."""
        if not self.path.exists():
            return []
        _, state, arrays = container.read(self.path, KIND)
        try:
            if state["silverbirch"] != __version__:
                raise ModelFileError(
                    f"{self.path} was written by silverbirch {state['silverbirch']}, this is {__version__}: resume "
                    "with that version, or remove the file to start again"
                )
            if state["identity"] != self.identity:
                raise ModelFileError(
                    f"{self.path} belongs to a run with other {_differences(state['identity'], self.identity)}: repeat "
                    "that command, or remove the file to start again"
                )
            work.resume(state, arrays)
            self._stored = work.progress
            return [str(output) for output in state["outputs"]]
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"{self.path} does not hold a whole checkpoint: {error}") from None

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def _differences(stored: Any, wanted: dict[str, Any]) -> str:
    """Which parts of the identity differ, by name."""
    if not isinstance(stored, dict):
        return "settings"
    found = []
    for part in sorted(stored.keys() | wanted.keys()):
        was, now = stored.get(part), wanted.get(part)
        if isinstance(was, dict) and isinstance(now, dict):
            names = sorted(name for name in was.keys() | now.keys() if was.get(name) != now.get(name))
            found += [f"{parameter(name)} ({_shown(was.get(name))}, now {_shown(now.get(name))})" for name in names]
        elif was != now:
            found.append(part)
    return ", ".join(found) or "settings"


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
