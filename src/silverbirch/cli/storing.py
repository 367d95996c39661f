"""The unfinished work of a command in its checkpoint, and the outputs that the command may write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..storage.atomic import check_free, remove_leftovers
from ..storage.checkpoint import Checkpoint, Resumable
from ..storage.journal import Journal
from ..storage.locks import one_run_only
from .console import Voice
from .groups import Resuming
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
    voice: Voice
    _checkpoint: Checkpoint | None = field(init=False)

    def __post_init__(self) -> None:
        path, written = self.resuming.checkpoint, list(self.outputs.wanted().values())
        self._checkpoint = (
            None
            if path is None
            else Checkpoint(path, self.resuming.checkpoint_every, self.identity, written, warn=self.voice.warn)
        )

    def begin(self, read: Sequence[str], also_read: Sequence[str] = ()) -> None:
        """Restores what a killed run has stored and checks all outputs. For the parameters see `Outputs.check`."""
        if self._checkpoint is None:
            self.outputs.check(read, also_read)
            return
        path = self._checkpoint.path
        resumes = path.exists()
        self.outputs.check(read, also_read, own=self._checkpoint.resume(self.work), checkpoint=path)
        remove_leftovers([path, *(output for _, output in self.outputs.files(read))])
        if resumes:
            self.voice.say(f"resuming after {self.work.progress}, from {path}")

    def store(self) -> None:
        """Writes the checkpoint, if it is time to."""
        if self._checkpoint is not None:
            self._checkpoint(self.work)

    def store_now(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.write(self.work)


@contextmanager
def resumable(resuming: Resuming) -> Iterator[None]:
    """Refuses a second run on the same checkpoint; removes what was stored when all outputs are written."""
    path = resuming.checkpoint
    if path is None:
        yield
        return
    check_free(path, force=True)
    with one_run_only(path):
        try:
            yield
        except OSError as error:  # such as a full disk
            if path.exists():
                error.add_note(f"once that is solved, run the same command again: it continues from {path}")
            raise
        path.unlink(missing_ok=True)
        Journal.beside(path).path.unlink(missing_ok=True)
