"""Packs the modules of the interactive page into the one script that pages and notebooks carry: `make script`.

    python tests/pack_script.py            # writes src/silverbirch/report/script.js

`tests/browser/test_script.py` fails if that file is not what this program writes.
"""

import re
from graphlib import TopologicalSorter
from pathlib import Path

REPORT = Path(__file__).parents[1] / "src" / "silverbirch" / "report"
PACKED = REPORT / "script.js"
_IMPORT = re.compile(r"^import .* from [\"']\./([\w-]+\.js)[\"'];?\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async |function|class|const|let))", re.MULTILINE)


def joined(modules: Path = REPORT / "script") -> str:
    """All modules in one function, which returns what starts a page and what fills a widget.

    No import renames anything, so that the modules can share their names.
    """
    sources: dict[str, str] = {}
    imports: dict[str, list[str]] = {}
    waiting = ["page.js", "widget.js"]
    while waiting:
        name = waiting.pop()
        sources[name] = (modules / name).read_text(encoding="utf-8")
        imports[name] = _IMPORT.findall(sources[name])
        waiting += [other for other in imports[name] if other not in sources]
    order = TopologicalSorter(imports).static_order()
    text = "\n".join(_EXPORT.sub("", _IMPORT.sub("", sources[name])) for name in order)
    return (
        f'const silverbirchExplorer = (() => {{\n"use strict";\n{text}\nreturn {{ startPage, renderWidget }};\n}})();\n'
    )


def packed() -> str:
    import minify

    return minify.string("text/javascript", joined()) + "\n"


if __name__ == "__main__":
    PACKED.write_text(packed(), encoding="utf-8")
    print(f"written: {PACKED.name}, {PACKED.stat().st_size:,} bytes")
