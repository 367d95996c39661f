"""What a command reads: rows, chosen and prepared as the options or a file of `silverbirch prepare` say."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..pipeline.preparation import Preparation
from ..pipeline.shared_preparation import SharedPreparation
from ..pipeline.sources import Fingerprint, content_of, with_contents
from ..rows import RowSource, read_chunks
from ..rows.paths import files_with, is_folder_with
from .console import usage
from .options import Choosing, Parsing, Preparing

FEATURES = ".sb"  # the end of the names of features and preparations, where an input may also be rows


def is_features(name: str) -> bool:
    """Whether an input is a file, a pattern or a folder of files of this package, not of rows."""
    return name.endswith(FEATURES) or is_folder_with(FEATURES, name)


def feature_files(inputs: list[str]) -> list[str]:
    """The files of this package that the inputs name, also in folders."""
    return [str(path) for path in files_with(FEATURES, inputs)]


@dataclass(frozen=True)
class Reading:
    """Which rows are read, and how they are prepared.

    shared : the file that decides the columns and their preparation; None if the options do
    """

    inputs: list[str]
    choosing: Choosing = field(default_factory=Choosing)
    preparing: Preparing = field(default_factory=Preparing)
    parsing: Parsing = field(default_factory=Parsing)
    keep: tuple[str, ...] = ()
    allow_overlap: bool = False
    shared: SharedFile | None = None

    @classmethod
    def of(
        cls,
        inputs: list[str],
        choosing: Choosing,
        parsing: Parsing,
        preparing: Preparing,
        prepare: Path | None,
        allow_overlap: bool,
        keep: tuple[str, ...] = (),
    ) -> Reading:
        reading = cls(inputs, choosing, preparing, parsing, keep, allow_overlap)
        if prepare is None:
            return reading
        shared = SharedFile.read(prepare)
        with usage():
            shared.check(reading.chosen(), preparing)
        return replace(reading, shared=shared)

    @property
    def preparation(self) -> Preparation:
        return Preparation(**self.preparing.given()) if self.shared is None else self.shared.preparation

    @property
    def is_plain(self) -> bool:
        """Whether no option says which columns are read, or how they are prepared."""
        return self.shared is None and replace(self, allow_overlap=False) == Reading(self.inputs)

    def chosen(self) -> tuple[str, ...] | None:
        if self.shared is not None:
            return self.shared.content.state.to_read
        names = self.choosing.columns
        return None if names is None else tuple(name.strip() for name in names.split(","))

    def open(self) -> RowSource:
        choice = asdict(self.choosing) | {"columns": self.chosen(), "keep": self.keep}
        source = read_chunks(self.inputs, **choice, **asdict(self.parsing))
        if self.shared is not None:
            self.shared.check_names(source)
        return source

    def parameters(self) -> dict[str, Any]:
        """What decides the rows, for the record; of the options for parsing those that were given."""
        given = {name: value for name, value in asdict(self.parsing).items() if value != getattr(Parsing, name)}
        kept = {"keep": list(self.keep)} if self.keep else {}
        shared = {} if self.shared is None else {"prepare": self.shared.path}
        return asdict(self.choosing) | given | kept | self.preparation.to_state()[0] | shared

    @property
    def also_read(self) -> list[str]:
        """The files that are read apart from the rows."""
        return [] if self.shared is None else [self.shared.path]

    def fingerprint(self, source: RowSource) -> list[Fingerprint]:
        """The files of the source with what they hold; raises ValueError if a file is given twice."""
        return with_contents(source.fingerprint() or [], allow_overlap=self.allow_overlap)

    def identity(self) -> dict[str, Any]:
        """What decides the prepared rows, apart from the input; the columns beside the labels do not."""
        known = {name: value for name, value in self.parameters().items() if name not in ("id_column", "keep")}
        return known if self.shared is None else known | {"prepare": content_of(self.shared.path)}


@dataclass(frozen=True)
class SharedFile:
    """The file of --prepare."""

    path: str
    content: SharedPreparation
    preparation: Preparation

    @classmethod
    def read(cls, path: Path) -> SharedFile:
        content = SharedPreparation.read(path)
        return cls(str(path), content, content.completed())

    def check(self, columns: tuple[str, ...] | None, preparing: Preparing) -> None:
        """Raises ValueError if an option contradicts the file."""
        state = self.content.state
        how = asdict(state.preparation)
        if columns is not None and columns != state.to_read:
            raise ValueError(f"--columns is not as in {self.path}: leave it out, or prepare those columns")
        for name, value in preparing.given().items():
            if value != how[name]:
                raise ValueError(
                    f"--{name} {value} but {self.path} has --{name} {how[name]}: leave it out, or give it to "
                    "`silverbirch prepare`"
                )

    def check_names(self, source: RowSource) -> None:
        """Raises ValueError if the file or the rows have names of columns, but not both."""
        known = self.content.state.columns
        if (source.names is None) != (known is None) or source.n_dimensions != self.content.statistics.n_columns:
            there = f"{source.n_dimensions} columns with{'out' if source.names is None else ''} names"
            here = f"{self.content.statistics.n_columns} columns with{'out' if known is None else ''} names"
            raise ValueError(f"the input has {there} but {self.path} is for {here}: prepare the same columns")
