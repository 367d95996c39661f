"""The unfinished work of a command in its checkpoint, and the outputs that the command may write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..storage.atomic import remove_leftovers
from ..storage.checkpoint import Checkpoint, Resumable
from ..storage.journal import Journal
from .options import Resuming
from .outputs import Outputs


@dataclass
class StoredWork:
    """Work that the next run of the same command resumes; without --checkpoint it is not stored.

    identity : everything that decides the result, see `Checkpoint`
    """

    work: Resumable
    resuming: Resuming
    outputs: Outputs
    identity: dict[str, Any]

    def __post_init__(self) -> None:
        path, written = self.resuming.checkpoint, list(self.outputs.wanted().values())
        every = self.resuming.checkpoint_every
        self._checkpoint = None if path is None else Checkpoint(path, every, self.identity, written)

    def begin(self, read: Sequence[str], also_read: Sequence[str] = ()) -> None:
        """Restores what a killed run has stored and checks all outputs. For the parameters see `Outputs.check`."""
        own = [] if self._checkpoint is None else self._checkpoint.resume(self.work)
        self.outputs.check(read, also_read, own=own, checkpoint=self.resuming.checkpoint)
        if self._checkpoint is not None:
            for path in (self._checkpoint.path, *(path for _, path in self.outputs.files(read))):
                remove_leftovers(path)

    def store(self) -> None:
        """Writes the checkpoint, if it is time to."""
        if self._checkpoint is not None:
            self._checkpoint(self.work)

    def store_now(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.write(self.work)

    def finish(self) -> None:
        """Removes what was stored: all outputs are written."""
        if self._checkpoint is not None:
            self._checkpoint.remove()
            Journal.beside(self._checkpoint.path).remove()
