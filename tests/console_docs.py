"""The pages of the documentation with their examples run: `python tests/console_docs.py` updates the output of each.

All blocks of a page run in one empty folder, one after the other:

- A block ```console holds lines that begin with `$ `, each followed by what the command printed.
- A block ```python that begins with `# name.py` is a file for the commands.
- Any other block ```python is run with the names of those before it. A block ```text right after it is what it prints;
  the value of its last line is printed too, as in a notebook.
- A block of examples with `>>>` is run by doctest, see test_docs.py.
- `<!-- not run: why -->` above a block says that it is not run here, and why.
"""

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
ELSEWHERE = {"recipes.md", "dask.md", "spark.md"}  # run by `make test-recipes` and `make test-engines`
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name not in ELSEWHERE),
    *sorted((ROOT / "examples").glob("*.md")),
]
_FILE = re.compile(r"(?ms)^```python\n# (\w+\.py)\n(.*?)^```")
_BLOCK = re.compile(
    r"(?ms)^(?P<not_run><!-- not run: [^\n]+ -->\n)?```(?P<kind>python|console)\n(?P<code>.*?)^```$"
    r"(?P<output>\n\n?```text\n.*?^```$)?"
)


def run_page(text):
    """The page with the current output of each example."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, code in _FILE.findall(text):
            Path(name).write_text(code)
        names = {"__name__": "page"}
        return _BLOCK.sub(lambda block: _run(block, names), text)


def _run(block, names):
    whole, code, output = block[0], block["code"], block["output"] or ""
    if block["not_run"] or _FILE.match(whole) or code.startswith(">>> "):
        return whole
    if block["kind"] == "console":
        commands = [line for line in code.splitlines() if line.startswith("$ ")]
        session = "".join(f"{command}\n{_printed_by(command[2:])}" for command in commands)
        return f"```console\n{session}```{output}"
    printed = _lines(_shown_by(code, names))
    output = re.sub(r"(?s)```text\n.*", lambda _: f"```text\n{printed}```", output)
    return f"```python\n{code}```{output}"


def _printed_by(command):
    words = shlex.split(command, comments=True)
    if words[0] in ("silverbirch", "python"):
        words[:1] = [sys.executable, *(["-m", "silverbirch"] if words[0] == "silverbirch" else [])]
    path = os.pathsep.join(os.path.join(ROOT, part) for part in sys.path if part)  # the silverbirch of this process
    environment = os.environ | {"COLUMNS": "100", "TERM": "dumb", "PYTHONPATH": path}
    done = subprocess.run(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    return _lines(done.stdout)


def _shown_by(code, names):
    """What a notebook would show below a cell with this code."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(tree, "page", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "page", "eval"), names)
        if value is not None:
            print(repr(value))
    return out.getvalue()


def _lines(text):
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def main():
    named = [page for page in [*PAGES, *(ROOT / "docs" / name for name in ELSEWHERE)] if page.name in sys.argv[1:]]
    for page in named or PAGES:
        page.write_text(run_page(page.read_text()))


if __name__ == "__main__":
    main()
