"""`silverbirch reproduce`: the paper's experiments, next to the published numbers."""

from pathlib import Path
from typing import Annotated

import typer

from .console import failing_cleanly


@failing_cleanly
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="All by default: claims, table3, table4, draws, figure3, figure4, linkages, distances, alternatives, "
            "stability.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small data: minutes instead of most of an hour.")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for raw rows, page and figures.")] = Path(
        "reproduction"
    ),
    render_only: Annotated[
        bool, typer.Option("--render-only", help="Measure nothing: the page from the rows there are.")
    ] = False,
) -> None:
    """Run the paper's experiments; write their tables and figures next to the published numbers.

    Rows that are there are not measured again, so a run that was stopped goes on where it was.
    """
    from experiments.reproduction import reproduce as run

    def say(line: str) -> None:
        typer.echo(line, err=True)

    page = run(names or (), quick=quick, out=out, render_only=render_only, say=say)
    typer.echo(page.read_text(encoding="utf-8"))
    say(f"written: {page}")
