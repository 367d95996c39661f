"""Tables as Markdown, and their places in pages."""

from collections.abc import Iterable, Sequence
from pathlib import Path

Cells = Sequence[str]


def table(head: Cells, lines: Iterable[Cells]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *lines))


def put_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replaces what the page has between two marks."""
    before, begun, rest = page.read_text(encoding="utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise SystemExit(f"{page.name} has no {begin} … {end}: put them where the table belongs")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
