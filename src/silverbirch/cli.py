"""The command line."""

from pathlib import Path
from typing import Annotated

import typer

from . import __version__
from .experiments.command import reproduce

app = typer.Typer(no_args_is_help=True, help="Hierarchical clustering without the quadratic wall.")
app.command()(reproduce)


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


@app.command()
def demo(
    rows: Annotated[int, typer.Option(min=1000, help="How many rows to make and cluster.")] = 1_000_000,
    clusters: Annotated[int, typer.Option("--clusters", "-k", min=2, help="How many clusters.")] = 500,
    max_leaves: Annotated[int, typer.Option(min=2, help="How many cluster features at most.")] = 25_000,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("demo-output"),
    seed: Annotated[int, typer.Option(help="Of the random data.")] = 0,
) -> None:
    """Cluster a Gaussian mixture made on the spot; write labels, pictures and a report."""
    from .demo import run

    try:
        run(rows, clusters, max_leaves, out, seed)
    except (ValueError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
