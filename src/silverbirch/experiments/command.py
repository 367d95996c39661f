"""The command `silverbirch reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
    from .reproduction import reproduce as run

    try:
        page = run(names or (), quick=quick, out=out, render_only=render_only, say=typer.echo)
    except (ValueError, OSError, ImportError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
    typer.echo(f"\n{page.read_text(encoding='utf-8')}\nwritten: {page}")
