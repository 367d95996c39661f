"""`silverbirch demo`: clusters generated data."""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .console import usage


def demo(
    rows: Annotated[int, typer.Option(metavar="NUMBER", min=1000, help="Number of rows to generate.")] = 1_000_000,
    clusters: Annotated[int, typer.Option("--clusters", "-k", metavar="K", min=2, help="Number of clusters.")] = 500,
    max_leaves: Annotated[
        int, typer.Option(metavar="NUMBER", min=2, help="Largest number of cluster features.")
    ] = 25_000,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Seed of the random data.")] = 0,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            parser=options.as_local_place,
            rich_help_panel=options.OUTPUT,
            help="Folder for the results.",
        ),
    ] = Path("demo-output"),
    force: options.Force = False,
) -> None:
    """Generate a Gaussian mixture and cluster it; write labels, pictures and an interactive report.

    Example: silverbirch demo --rows 200000 -k 50
    """
    with usage():
        if clusters > max_leaves:
            raise ValueError(f"-k {clusters} but at most {max_leaves} features: raise --max-leaves")
    from ..demo import run

    run(rows, clusters, max_leaves, out, seed, force=force)
