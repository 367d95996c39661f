"""`silverbirch demo`: the main job on data it makes itself."""

from pathlib import Path
from typing import Annotated

import typer

from .console import failing_cleanly


@failing_cleanly
def demo(
    rows: Annotated[int, typer.Option(min=1000, help="How many rows to make and cluster.")] = 1_000_000,
    clusters: Annotated[int, typer.Option("--clusters", "-k", min=2, help="How many clusters.")] = 500,
    max_leaves: Annotated[int, typer.Option(min=2, help="How many cluster features at most.")] = 25_000,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("demo-output"),
    seed: Annotated[int, typer.Option(help="Of the random data.")] = 0,
) -> None:
    """Cluster a Gaussian mixture made on the spot; write labels, pictures and a report."""
    from ..demo import run

    run(rows, clusters, max_leaves, out, seed)
