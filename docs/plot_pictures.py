"""Makes the pictures of docs/plots.md: `python docs/plot_pictures.py` writes them to docs/images/plots/.

The examples of the page make them: a block of code with a picture below it ends in what the picture shows.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl

PAGE = Path(__file__).parent / "plots.md"
_BLOCK = re.compile(r"(?ms)^```python\n(?P<code>.*?)^```$(?:\n\n!\[[^\]]*\]\((?P<picture>images/plots/[\w.-]+)\))?")


def main() -> None:
    mpl.use("Agg")
    names: dict[str, Any] = {"__name__": "page"}
    for block in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        tree = ast.parse(block["code"])
        last = tree.body.pop() if block["picture"] else None
        exec(compile(tree, "page", "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), "page", "eval"), names)
            path = PAGE.parent / block["picture"]
            path.parent.mkdir(exist_ok=True)
            shown.figure.savefig(path, dpi=100)
            print(path.relative_to(PAGE.parent))


if __name__ == "__main__":
    main()
