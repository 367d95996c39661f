"""The command line: reads files, writes labels, models and pages.

cluster.py      cluster                 features.py   aggregate, merge
models.py       cut, report, info       prepare.py    prepare
demo.py         demo
options.py      the options that commands share
groups.py       the options that go together; cutting.py those that say where to cut
grouping.py     spreads a group into options
reading.py      what commands read      aggregating.py   makes trees of rows and of features
outputs.py      what commands write     storing.py       unfinished work in a checkpoint
distributed.py  the same job by the workers of Dask or Spark
results.py      writes the results      console.py, progress.py, summary.py   print messages
facts.py        what `info` prints
wording.py      options in messages that name parameters
helping.py      the help of commands
"""

from typing import Annotated

import typer

from .. import __version__
from .cluster import cluster
from .console import failing_cleanly
from .demo import demo
from .features import aggregate, merge
from .grouping import grouped
from .helping import Command, Group, help_of
from .models import cut, info, report
from .prepare import prepare

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Hierarchical clustering without the quadratic wall: files of any size to labels and a dendrogram, in bounded "
    "memory.",
    pretty_exceptions_enable=False,
)
for command in (cluster, prepare, aggregate, merge, cut, info, report, demo):
    app.command(cls=Command, help=help_of(command))(failing_cleanly(grouped(command)))


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"silverbirch {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
