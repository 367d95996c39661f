"""Raw rows, which everything else is computed from: a line of JSON for each run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Show = Callable[[Row], object]


def write(path: Path, rows: Iterable[Row], show: Show | None = None, *, append: bool = False) -> None:
    """Writes and shows each row as soon as it is measured, so that a run that is stopped loses none."""
    with path.open("a" if append else "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
            file.flush()
            if show is not None:
                show(row)


def read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
