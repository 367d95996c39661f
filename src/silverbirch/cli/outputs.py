"""What a command writes, checked before any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..pipeline.labels import LabelTarget
from ..plot import check_drawing
from ..remote import Place, same_place
from ..rows import RowSource
from ..storage.atomic import check_free
from ..storage.journal import Journal


@dataclass(frozen=True)
class Outputs:
    """What to write: labels, and files by purpose; None for what is not requested.

    Raises ValueError if a name does not fit what the file is to hold.
    """

    paths: dict[str, Place | None]
    force: bool
    labels: LabelTarget | None = None
    kept: tuple[str, ...] = ()  # the columns beside the labels, as they are given

    def __post_init__(self) -> None:
        if self.labels is not None:
            self.labels.check_columns(self.kept)
        if (page := self.paths.get("report")) is not None and page.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"cannot write a report to {page}: a report is HTML, so the name must end in .html")

    def wanted(self) -> dict[str, str]:
        labels = {} if self.labels is None else {"labels": self.labels.name}
        return labels | {name: str(path) for name, path in self.paths.items() if path is not None}

    def first(self) -> list[str]:
        """The purposes of the files to write before the labels.

        A report takes time and memory, so it is not drawn twice if there is a model: `silverbirch report` makes it of
        the model at any time.
        """
        later = {"report"} if self.labels is not None and self.paths.get("model") is not None else set()
        return [name for name, path in self.paths.items() if path is not None and name not in later]

    def files(self, read: Sequence[str]) -> list[tuple[str, Place]]:
        """The purpose and the path of each file to write."""
        labels = [] if self.labels is None else self.labels.paths(read)
        return [("labels", path) for path in labels] + [(name, p) for name, p in self.paths.items() if p is not None]

    def check(
        self,
        read: Sequence[str],
        also_read: Sequence[str] = (),
        *,
        own: Sequence[str] = (),
        checkpoint: Path | None = None,
    ) -> None:
        """Checks all outputs before any work.

        read : the files of the rows
        also_read : other files that are read
        own : the outputs of the first part of a resumed run, which may be overwritten

        No file may be both read and written, or written for two purposes, not even with --force.
        """
        purposes = {same_place(path): "an input" for path in (*read, *also_read)}
        written: list[tuple[str, Place]] = self.files(read)
        if checkpoint is not None:
            check_free(checkpoint, force=True)
            written += [("checkpoint", checkpoint), ("checkpoint of the labels", Journal.beside(checkpoint).path)]
        for name, path in written:
            if (before := purposes.setdefault(same_place(path), f"the {name}")) != f"the {name}":
                raise ValueError(f"{path} is {before} and would also be the {name}: give each file its own name")
        for output in filter(None, self.paths.values()):
            check_free(output, self.force or str(output) in own)
        if self.labels is not None:
            self.labels.check(read, force=self.force or self.labels.name in own)
        if self.paths.get("report") is not None:
            check_drawing()

    def check_kept(self, source: RowSource) -> None:
        """Raises ValueError if the labels cannot be written beside the kept columns of a source."""
        if self.labels is not None:
            self.labels.check_kept(source, input_names(source))


def columns_beside(id_column: str | None, keep: Sequence[str]) -> tuple[str, ...]:
    """The columns that are written before the labels: the ids first, each column once."""
    return tuple(dict.fromkeys([*([] if id_column is None else [id_column]), *keep]))


def input_names(source: RowSource | None) -> list[str]:
    """The names of the files of a source."""
    return [] if source is None else [file["name"] for file in source.fingerprint() or []]
