"""The options that several commands share, each with its one name, meaning and help."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..checks import ABSORPTIONS, ALGORITHMS, CF_DISTANCES, LINKAGES, MODES, as_bytes
from ..pipeline.preparation import METRICS, MISSING, SCALES

CUT, INPUT, TREE, LINKAGE, OUTPUT, RUN = "Where to cut", "Input", "Aggregation", "Clustering", "Output", "Run"


def _choice(choices: Sequence[str], names: tuple[str, ...], panel: str, text: str) -> Any:
    """An option with few values: checked at once, completed by the shell, listed in the help."""

    def checked(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    def completed(incomplete: str) -> list[str]:
        return [name for name in choices if name.startswith(incomplete)]

    return typer.Option(
        *names, callback=checked, autocompletion=completed, metavar="NAME", rich_help_panel=panel,
        help=f"{text} One of {', '.join(choices)}.",
    )  # fmt: skip


def _parsed(parse: Callable[[str], Any]) -> Callable[[str | None], Any]:
    """An option's callback: the text as it is, if `parse` takes it."""

    def checked(value: str | None) -> str | None:
        try:
            if value is not None:
                parse(value)
        except (TypeError, ValueError) as error:
            raise typer.BadParameter(str(error)) from None
        return value

    return checked


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT…",
        help="Files or folders: .npy, .csv and .tsv (also .gz, .zst), .parquet, .arrow, .feather; read in this order.",
    ),
]
Clusters = Annotated[
    int | None, typer.Option("--clusters", "-k", min=1, rich_help_panel=CUT, help="Into how many clusters.")
]
Height = Annotated[
    float | None, typer.Option(min=0.0, rich_help_panel=CUT, help="Or at which height of the dendrogram.")
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,…",
        rich_help_panel=INPUT,
        help="The columns to cluster by, by name; by number for .npy. All but the id column by default.",
    ),
]
NumericOnly = Annotated[
    bool, typer.Option("--numeric-only", rich_help_panel=INPUT, help="Leave out columns that are not numbers.")
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=INPUT,
        help="A column that names the rows: not clustered by, kept in the labels.",
    ),
]
Missing = Annotated[
    str,
    _choice(
        MISSING, ("--missing",), INPUT,
        "Rows with missing values: refused, left out (label -1), or filled with the column's mean.",
    ),
]  # fmt: skip
Scale = Annotated[
    str,
    _choice(
        SCALES, ("--scale",), INPUT,
        "Columns to mean 0 and deviation 1, or to 0…1. Takes a pass over the input of its own, unless Parquet's "
        "metadata has the extremes.",
    ),
]  # fmt: skip
Metric = Annotated[str, _choice(METRICS, ("--metric",), INPUT, "cosine: rows are given unit length first.")]
MaxLeaves = Annotated[
    int, typer.Option(min=1, rich_help_panel=TREE, help="Cluster features at most: what the dendrogram is built of.")
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="BYTES", callback=_parsed(as_bytes), rich_help_panel=TREE,
        help="For the whole process, like 512MB: fewer features where they would not fit, and nothing is begun that "
        "would pass it. Without it, what the machine has is the limit.",
    ),
]  # fmt: skip
Threshold = Annotated[
    float, typer.Option(min=0.0, rich_help_panel=TREE, help="How large a feature may grow from the start.")
]
Distance = Annotated[
    str | None,
    _choice(
        CF_DISTANCES, ("--distance",), TREE, "How rows find their way in the tree; by default as the linkage asks."
    ),
]
Absorption = Annotated[str | None, _choice(ABSORPTIONS, ("--absorption",), TREE, "What the threshold bounds.")]
Linkage = Annotated[
    str,
    _choice(
        tuple(dict.fromkeys((*LINKAGES, *CF_DISTANCES))), ("--linkage",), LINKAGE,
        "Diameter, radius and manhattan with --mode aggregation only.",
    ),
]  # fmt: skip
Mode = Annotated[str, _choice(MODES, ("--mode",), LINKAGE, "How the linkage sees features.")]
Algorithm = Annotated[str, _choice(ALGORITHMS, ("--algorithm",), LINKAGE, "By default the fastest exact one.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", rich_help_panel=RUN, help="Threads; -1 for all.")]
Labels = Annotated[
    Path | None,
    typer.Option(rich_help_panel=OUTPUT, help="A label for every row, in input order: .parquet, .csv, .npy, …"),
]
Model = Annotated[
    Path | None,
    typer.Option(rich_help_panel=OUTPUT, help="The model, for `cut`, `report`, `info` and silverbirch.load."),
]
Page = Annotated[Path | None, typer.Option("--report", rich_help_panel=OUTPUT, help="A page to read: .html.")]
RecordFile = Annotated[
    Path | None,
    typer.Option("--record", rich_help_panel=OUTPUT, help="What the run did, as JSON: counts, times, versions."),
]
Out = Annotated[Path, typer.Option("--out", "-o", rich_help_panel=OUTPUT, help="The file to write.")]
Force = Annotated[bool, typer.Option("--force", rich_help_panel=OUTPUT, help="Overwrite files that are there.")]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        rich_help_panel=RUN,
        help="Keep the state of the run here. Killed and started again with the same command, it goes on from there.",
    ),
]
CheckpointEvery = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.0, rich_help_panel=RUN, help="How often the checkpoint is written.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", rich_help_panel=RUN, help="Print nothing but errors.")]
Json = Annotated[
    bool, typer.Option("--json", rich_help_panel=RUN, help="Print the record of the run as JSON, and nothing else.")
]
