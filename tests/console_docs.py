"""Pages of the documentation that show commands: `python tests/console_docs.py` updates the output of each.

A block ```console holds lines that begin with `$ `, each followed by what the command printed. A block ```python that
begins with `# name.py` is a file. All blocks of a page run in one empty folder, one after the other.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(page for page in DOCS.glob("*.md") if "```console\n$ " in page.read_text())
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def run_page(text):
    """The page with the current output of each command."""
    with tempfile.TemporaryDirectory() as folder:
        for name, code in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", text, re.DOTALL):
            Path(folder, name).write_text(code)
        return _BLOCK.sub(lambda block: f"```console\n{_run_block(block[1], folder)}```", text)


def _run_block(block, folder):
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{command}\n{_output(command[2:], folder)}" for command in commands)


def _output(command, folder):
    words = shlex.split(command, comments=True)
    if words[0] in ("silverbirch", "python"):
        words[:1] = [sys.executable, *(["-m", "silverbirch"] if words[0] == "silverbirch" else [])]
    path = os.pathsep.join(filter(None, sys.path))  # the silverbirch of this process
    environment = os.environ | {"COLUMNS": "100", "TERM": "dumb", "PYTHONPATH": path}
    done = subprocess.run(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(run_page(page.read_text()))
