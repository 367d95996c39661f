"""The options that go together: a command takes a group, and `grouping` spreads it into options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..pipeline.labels import LabelTarget, label_target
from ..storage.journal import Journal
from . import options


@dataclass(frozen=True)
class Choosing:
    """Which columns are read."""

    columns: options.Columns = None
    numeric_only: options.NumericOnly = False
    id_column: options.IdColumn = None
    weight_column: options.WeightColumn = None
    times: options.Times = False


@dataclass(frozen=True)
class Parsing:
    """How files are parsed, where their names and contents do not tell."""

    format: options.FileFormat = None
    separator: options.Separator = None
    decimal: options.Decimal = "."
    header: options.Header = True
    encoding: options.Encoding = None
    comment: options.Comment = None

    @property
    def given(self) -> dict[str, Any]:
        """The options that are not at their defaults."""
        return {name: value for name, value in asdict(self).items() if value != getattr(Parsing, name)}


@dataclass(frozen=True)
class Preparing:
    """How rows are prepared before the tree takes them."""

    missing: options.Missing = None
    scale: options.Scale = None
    metric: options.Metric = None

    @property
    def given(self) -> dict[str, Any]:
        """The options that are given."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Aggregating:
    """How rows become cluster features."""

    max_leaves: options.MaxLeaves = 25_000
    max_memory: options.MaxMemory = None
    threshold: options.Threshold = 0.0
    distance: options.Distance = None
    absorption: options.Absorption = None
    refine: options.Refine = None

    def parameters(self, *, on_machines: bool = False) -> dict[str, Any]:
        """The parameters of the model. Features of partitions overlap, so they are refined unless that is refused."""
        return asdict(self) | {"refine": int(on_machines) if self.refine is None else self.refine}


@dataclass(frozen=True)
class Linking:
    """How cluster features become a dendrogram."""

    linkage: options.Linkage = "ward"
    mode: options.Mode = "linkage"
    algorithm: options.Algorithm = "auto"


@dataclass(frozen=True)
class Labelling:
    """Where labels are written, and what beside them."""

    labels: options.Labels = None
    labels_format: options.LabelsFormat = None
    keep: options.Keep = None

    def check(self, as_json: bool) -> None:
        """Raises ValueError before anything is read, if the options contradict each other."""
        if self.labels is None and (self.labels_format is not None or self.keep):
            raise ValueError("--keep and --labels-format say how labels are written: add --labels")
        if self.to_stdout and as_json:
            raise ValueError("--labels - and --json both write to standard output: give --labels a file")

    @property
    def to_stdout(self) -> bool:
        return self.labels == "-"

    @property
    def kept(self) -> tuple[str, ...]:
        """As given: 'a,b' may be two columns or one."""
        return tuple(self.keep or ())

    def target(self, inputs: Sequence[str]) -> LabelTarget | None:
        return None if self.labels is None else label_target(self.labels, inputs, self.labels_format)


@dataclass(frozen=True)
class Resuming:
    """Where and how often the state of a run is stored."""

    checkpoint: options.CheckpointFile = None
    checkpoint_every: options.CheckpointEvery = 60.0

    def journal(self) -> Journal | None:
        """Where the leaves of the rows are stored."""
        return None if self.checkpoint is None else Journal.beside(self.checkpoint)


@dataclass(frozen=True)
class Talking:
    """What is printed."""

    quiet: options.Quiet = False
    as_json: options.Json = False


@dataclass(frozen=True)
class Machines:
    """The engine whose workers do the job; without one, this process does it."""

    dask: options.Dask = None
    spark: options.Spark = None

    @property
    def are_given(self) -> bool:
        return self.dask is not None or self.spark is not None

    @property
    def engine(self) -> tuple[str, str]:
        """The name of the engine and its address."""
        if self.dask is not None and self.spark is not None:
            raise ValueError("--dask and --spark both say who does the job: give only one of them")
        return ("spark", self.spark) if self.spark is not None else ("dask", self.dask or "")
