"""Studies of one question each: python -m benchmarks.studies.NAME --help"""

import ast
from pathlib import Path


def questions() -> dict[str, str]:
    """The first line of the docstring of every study, by name."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[path.stem] = text.partition("\n")[0]
    return found
