"""The options that commands share: name, meaning and help text. Those that go together are in `groups`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..checks import ABSORPTIONS, ALGORITHMS, CF_DISTANCES, LINKAGES, MODES, as_bytes
from ..dendrogram.cuts import CUT_METHODS
from ..directions import METRICS
from ..pipeline.labels import SUFFIXES
from ..pipeline.preparation import MISSING, SCALES
from ..remote import Place, is_remote, place
from ..rows.parsing import as_comment, as_decimal, as_encoding, as_separator
from ..rows.paths import check_format
from .wording import in_options

PANELS = "Where to cut", "Input", "Aggregation", "Clustering", "Output", "Run"
CUT, INPUT, TREE, LINKAGE, OUTPUT, RUN = PANELS


def _choice(
    choices: Sequence[str], names: tuple[str, ...], panel: str, text: str, *, default: bool | str = True
) -> Any:
    """An option with a list of values, for checks, shell completion and the help text.

    default : the text that stands for None, where it matters whether the option is given
    """

    def checked(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    def completed(incomplete: str) -> list[str]:
        return [name for name in choices if name.startswith(incomplete)]

    return typer.Option(
        *names, callback=checked, autocompletion=completed, metavar="NAME", rich_help_panel=panel,
        show_default=default, help=f"{text} One of {', '.join(choices)}.",
    )  # fmt: skip


def as_place(given: str) -> Place:
    """The place of a file, on this machine or another."""
    try:
        return place(given)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def as_local_place(given: str) -> Path:
    """The place of a file on this machine."""
    if is_remote(given):
        raise typer.BadParameter(
            f"{given} is on another machine, but this file is locked and written again and again: name a local one"
        )
    return Path(as_place(given))


def _parsed(parse: Callable[[str], Any]) -> Callable[[str | None], Any]:
    """A callback that returns the text of an option unchanged if `parse` accepts it."""

    def checked(value: str | None) -> str | None:
        try:
            if value is not None:
                with in_options():
                    parse(value)
        except (TypeError, ValueError) as error:
            raise typer.BadParameter(str(error)) from None
        return value

    return checked


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Files or folders, read in this order: .parquet, .csv, .tsv and .jsonl (also .gz, .zst, .bz2, .xz), "
        ".arrow, .feather, .npy, .npz; - for the standard input.",
    ),
]
Clusters = Annotated[
    int | None,
    typer.Option("--clusters", "-k", metavar="K", min=1, rich_help_panel=CUT, help="Cut into this many clusters."),
]
Height = Annotated[
    float | None,
    typer.Option(metavar="HEIGHT", min=0.0, rich_help_panel=CUT, help="Cut at this height of the dendrogram."),
]
ChooseK = Annotated[
    bool,
    typer.Option(
        "--choose-k",
        rich_help_panel=CUT,
        help="Cut into the number of clusters that most criteria agree on, and print their scores. If they do not "
        "agree, nothing is cut.",
    ),
]
KMax = Annotated[
    int,
    typer.Option(
        metavar="NUMBER", min=3, rich_help_panel=CUT, help="The largest number of clusters that --choose-k considers."
    ),
]
CutMethod = Annotated[
    str,
    _choice(
        CUT_METHODS, ("--cut-method",), CUT,
        "level cuts all branches at one height. eom (excess of mass) and dynamic (dynamic tree cut) let branches end "
        "at different heights and need --min-size.",
    ),
]  # fmt: skip
MinSize = Annotated[
    float | None,
    typer.Option(metavar="ROWS", min=0.0, rich_help_panel=CUT, help="The least number of rows of a cluster."),
]
MaxSize = Annotated[
    float | None,
    typer.Option(
        metavar="ROWS", min=0.0, rich_help_panel=CUT, help="Split clusters of more rows than this; not with dynamic."
    ),
]
Noise = Annotated[
    bool,
    typer.Option(
        "--noise", rich_help_panel=CUT, help="Label rows that fit no cluster -1 instead of joining them to one."
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B,…", rich_help_panel=INPUT,
        help="The columns to cluster: names, of lists too, or numbers for .npy. Can be given several times, so that a "
        "name may hold a comma. By default all but ids, weights and columns to keep.",
    ),
]  # fmt: skip
NumericOnly = Annotated[
    bool, typer.Option("--numeric-only", rich_help_panel=INPUT, help="Leave out columns that are not numbers.")
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=INPUT,
        help="A column of row ids: it is not clustered, and written beside the labels.",
    ),
]
WeightColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=INPUT,
        help="A column that says how often each row counts: it is not clustered. Rows of weight 0 get a label, too.",
    ),
]
Times = Annotated[
    bool,
    typer.Option(
        "--times",
        rich_help_panel=INPUT,
        help="Cluster dates and times as well: as seconds since 1970, times of day and durations as seconds.",
    ),
]
FileFormat = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=_parsed(check_format),
        rich_help_panel=INPUT,
        help="The format of the files, if their names do not end in it: csv, tsv, jsonl, parquet, arrow, npy, …",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        callback=_parsed(as_separator),
        rich_help_panel=INPUT,
        help="What separates the values of a CSV file: ';', tab, …; ' ' is any spaces. By default it is found.",
    ),
]
Decimal = Annotated[
    str,
    typer.Option(
        metavar="CHARACTER",
        callback=_parsed(as_decimal),
        rich_help_panel=INPUT,
        help="The decimal mark of a CSV file: . or ,",
    ),
]
Header = Annotated[
    bool,
    typer.Option(
        " /--no-header",
        show_default=False,
        rich_help_panel=INPUT,
        help="A CSV file begins with a row, not with names. Its columns have the numbers 0, 1, …",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=_parsed(as_encoding),
        rich_help_panel=INPUT,
        help="The encoding of a CSV or JSON file, such as latin-1. By default UTF-8, or what its first bytes say.",
    ),
]
Comment = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        callback=_parsed(as_comment),
        rich_help_panel=INPUT,
        help="Leave out the lines of a CSV file that begin with this, such as '#'.",
    ),
]
Missing = Annotated[
    str | None,
    _choice(
        MISSING, ("--missing",), INPUT,
        "Rows with missing values: raise an error, leave the row out (no label, -2 in .npy), or fill in the mean of "
        "the column.",
        default="error",
    ),
]  # fmt: skip
Scale = Annotated[
    str | None,
    _choice(
        SCALES, ("--scale",), INPUT,
        "Scale columns to mean 0 and standard deviation 1 (standard), or to 0…1 (minmax). Needs one more pass over the "
        "input, unless Parquet metadata has the extremes.",
        default="none",
    ),
]  # fmt: skip
Metric = Annotated[
    str | None,
    _choice(
        METRICS,
        ("--metric",),
        INPUT,
        "cosine and correlation compare directions of rows. Heights of ward, centroid and median are then Euclidean.",
        default="euclidean",
    ),
]
Projection = Annotated[
    int | None,
    typer.Option(
        metavar="COLUMNS",
        min=1,
        rich_help_panel=INPUT,
        help="Project rows of very many columns to this many at random. Squared distances then have a relative error "
        "of about √(2 / COLUMNS).",
    ),
]
Prepare = Annotated[
    Place | None,
    typer.Option(
        metavar="FILE",
        parser=as_place,
        rich_help_panel=INPUT,
        help="Prepare rows as this file of `silverbirch prepare` says: its columns, --missing, --scale, --metric.",
    ),
]
AllowOverlap = Annotated[
    bool,
    typer.Option("--allow-overlap", rich_help_panel=INPUT, help="Count rows twice that occur in two inputs."),
]
MaxLeaves = Annotated[
    int,
    typer.Option(
        metavar="NUMBER",
        min=1,
        rich_help_panel=TREE,
        help="Largest number of cluster features, the leaves of the dendrogram.",
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="BYTES", callback=_parsed(as_bytes), rich_help_panel=TREE,
        help="Memory for the whole process, like 512MB. It limits the number of features, and a step that would exceed "
        "it is refused. By default the limit is the memory of the machine.",
    ),
]  # fmt: skip
MaxMemoryToLabel = Annotated[
    str | None,
    typer.Option(
        "--max-memory", metavar="BYTES", callback=_parsed(as_bytes), rich_help_panel=RUN,
        help="Memory for the whole process, like 512MB. Rows that would take more are refused before any is labelled.",
    ),
]  # fmt: skip
Threshold = Annotated[
    float,
    typer.Option(
        metavar="SIZE",
        min=0.0,
        rich_help_panel=TREE,
        help="The size up to which a feature absorbs rows from the start.",
    ),
]
Distance = Annotated[
    str | None,
    _choice(
        CF_DISTANCES,
        ("--distance",),
        TREE,
        "The distance by which rows descend the tree. By default it matches the linkage.",
    ),
]
Absorption = Annotated[str | None, _choice(ABSORPTIONS, ("--absorption",), TREE, "The size that --threshold bounds.")]
Refine = Annotated[
    int | None,
    typer.Option(
        metavar="PASSES",
        min=0,
        rich_help_panel=TREE,
        show_default="0, or 1 with --dask or --spark",
        help="So many more passes over the input improve the features: each counts every row in its nearest feature.",
    ),
]
Linkage = Annotated[
    str,
    _choice(
        tuple(dict.fromkeys((*LINKAGES, *CF_DISTANCES))), ("--linkage",), LINKAGE,
        "Diameter, radius and manhattan need --mode aggregation.",
    ),
]  # fmt: skip
Mode = Annotated[str, _choice(MODES, ("--mode",), LINKAGE, "How the linkage treats cluster features.")]
Algorithm = Annotated[str, _choice(ALGORITHMS, ("--algorithm",), LINKAGE, "By default the fastest exact algorithm.")]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="NUMBER",
        rich_help_panel=RUN,
        help="Number of threads; -1 for one on each physical core.",
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="SCHEDULER", rich_help_panel=RUN,
        help="Let the workers of a Dask cluster do it, each with some of the files: the address of its scheduler, or "
        "local to start one here.",
    ),
]  # fmt: skip
Spark = Annotated[
    str | None,
    typer.Option(
        metavar="MASTER", rich_help_panel=RUN,
        help="Let the executors of Spark do it, each with some of the files: its master, such as spark://host:7077, "
        "yarn or local[4].",
    ),
]  # fmt: skip
Labels = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|FOLDER/|-", rich_help_panel=OUTPUT,
        help="Write a label for every row, in input order: to a file (.parquet, .csv, .npy, …), to a folder (its name "
        "ends in /) with a file for each input file, or to standard output (-).",
    ),
]  # fmt: skip
LabelsFormat = Annotated[
    str | None,
    _choice(
        [suffix.lstrip(".") for suffix in SUFFIXES], ("--labels-format",), OUTPUT,
        "The format of labels in a folder (parquet by default) or on standard output (csv by default).",
    ),
]  # fmt: skip
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B,…", rich_help_panel=OUTPUT,
        help="Columns of the input to write beside the labels, after the id column. They are not clustered, unless "
        "--columns names them. Can be given several times.",
    ),
]  # fmt: skip
Model = Annotated[
    Place | None,
    typer.Option(
        metavar="FILE",
        parser=as_place,
        rich_help_panel=OUTPUT,
        help="Write the model, for `cut`, `report`, `info` and silverbirch.load.",
    ),
]
Page = Annotated[
    Place | None,
    typer.Option(
        "--report", metavar="FILE", parser=as_place, rich_help_panel=OUTPUT, help="Write a report as one HTML file."
    ),
]
RecordFile = Annotated[
    Place | None,
    typer.Option(
        "--record",
        metavar="FILE",
        parser=as_place,
        rich_help_panel=OUTPUT,
        help="Write a record of the run as JSON: counts, times, versions.",
    ),
]
Out = Annotated[
    Place,
    typer.Option("--out", "-o", metavar="FILE", parser=as_place, rich_help_panel=OUTPUT, help="The file to write."),
]
Force = Annotated[bool, typer.Option("--force", rich_help_panel=OUTPUT, help="Overwrite existing files.")]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        parser=as_local_place,
        metavar="FILE",
        rich_help_panel=RUN,
        help="Store the state of the run in this file. The same command resumes a run that was killed.",
    ),
]
CheckpointEvery = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.0, rich_help_panel=RUN, help="How often the checkpoint is written.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", rich_help_panel=RUN, help="Print nothing but errors.")]
Json = Annotated[
    bool, typer.Option("--json", rich_help_panel=RUN, help="Print the record of the run as JSON, and nothing else.")
]
