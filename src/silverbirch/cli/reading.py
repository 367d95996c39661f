"""What a command reads: rows, chosen and prepared as the options or a file of `silverbirch prepare` say."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..pipeline.preparation import Preparation
from ..pipeline.shared_preparation import SharedPreparation
from ..pipeline.sources import Fingerprint, content_of, with_contents
from ..remote import Place, place
from ..rows import RowSource, read_chunks
from ..rows.paths import files_with, is_folder_with
from .groups import Choosing, Parsing, Preparing
from .summary import listed

FEATURES = ".sb"  # the end of the names of features and preparations, where an input may also be rows


def is_features(name: str) -> bool:
    """Whether an input is a file, a pattern or a folder of files of this package, not of rows."""
    return place(name).name.endswith(FEATURES) or is_folder_with(FEATURES, name)


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
        prepare: Place | None,
        allow_overlap: bool,
        keep: tuple[str, ...] = (),
    ) -> Reading:
        reading = cls(inputs, choosing, preparing, parsing, keep, allow_overlap)
        if prepare is None:
            return reading
        shared = SharedFile.read(prepare)
        shared.check(preparing)
        return replace(reading, choosing=shared.completed_choice(choosing), shared=shared)

    @property
    def preparation(self) -> Preparation:
        return Preparation(**self.preparing.given) if self.shared is None else self.shared.preparation

    @property
    def is_plain(self) -> bool:
        """Whether no option says which columns are read, or how they are prepared."""
        return self.shared is None and replace(self, allow_overlap=False) == Reading(self.inputs)

    def open(self) -> RowSource:
        source = read_chunks(self.inputs, **asdict(self.choosing), keep=self.keep, **asdict(self.parsing))
        if self.shared is not None:
            self.shared.check_names(source)
        return source

    def parameters(self) -> dict[str, Any]:
        """What decides the rows, for the record; of the options for parsing those that were given."""
        kept = {"keep": list(self.keep)} if self.keep else {}
        shared = {} if self.shared is None else {"prepare": self.shared.path}
        return asdict(self.choosing) | self.parsing.given | kept | self.preparation.to_state()[0] | shared

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
    def read(cls, path: Place) -> SharedFile:
        content = SharedPreparation.read(path)
        return cls(str(path), content, content.completed())

    def completed_choice(self, choosing: Choosing) -> Choosing:
        """The choice of columns, where the options leave it to the file."""
        state = self.content.state
        return replace(
            choosing,
            columns=choosing.columns or (None if state.to_read is None else list(state.to_read)),
            weight_column=choosing.weight_column or state.weight_column,
            times=choosing.times or state.times,
        )

    def check(self, preparing: Preparing) -> None:
        """Raises ValueError if an option contradicts the file."""
        how = asdict(self.content.state.preparation)
        for name, value in preparing.given.items():
            if value != how[name]:
                raise ValueError(
                    f"--{name} {value} but {self.path} has --{name} {how[name]}: leave it out, or give it to "
                    "`silverbirch prepare`"
                )

    def check_names(self, source: RowSource) -> None:
        """Raises ValueError if the rows have other columns than the file."""
        state, n_columns = self.content.state, self.content.statistics.n_columns
        if (source.names, source.numbers, source.n_dimensions) != (state.columns, state.numbers, n_columns):
            there, here = _described(source.n_dimensions, source.names), _described(n_columns, state.columns)
            raise ValueError(
                f"the input has {there}, but {self.path} is for {here}: leave --columns out, or prepare these columns"
            )


def _described(number: int, names: tuple[str, ...] | None) -> str:
    return f"{number} columns without names" if names is None else f"{number} columns with names ({listed(names)})"
