"""Tables as Markdown."""

from collections.abc import Iterable, Sequence

Cells = Sequence[str]


def table(head: Cells, lines: Iterable[Cells]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *lines))
