"""Signals to end, at any moment: the process dies by them, in one line, and leaves nothing half written."""

import os
import pty
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from commands import silverbirch
from processes import TO_END, started, wait_for

# A program that says when the command line is being imported. Before that, Python itself starts.
STARTING = """
import os, signal, sys, time

class Finder:
    def find_spec(self, name, *_):
        if name == "silverbirch.cli":
            print("importing", flush=True)
        if name == "typer":
            {meanwhile}

sys.meta_path.insert(0, Finder())
from silverbirch.__main__ import main
main()
"""


@pytest.fixture
def many_rows(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.random.default_rng(0).standard_normal(size=(3_000_000, 2), dtype=np.float32))
    return path


@pytest.mark.parametrize("number", TO_END)
def test_a_signal_at_any_moment_of_the_start_is_one_line_and_never_a_traceback(number, tmp_path):
    """The rows come from a pipe that stays open, so that the command cannot end before the signal."""
    command = ["cluster", "-", "--format", "csv", "-k", 3, "--labels", tmp_path / "labels.parquet"]
    chance = random.Random(int(number))
    for _ in range(8):
        process = started(command, code=STARTING.format(meanwhile="pass"), stdin=subprocess.PIPE)
        assert process.stdout.readline() == "importing\n"
        time.sleep(chance.uniform(0, 0.6))
        process.send_signal(number)
        assert process.communicate(timeout=60)[1] == "Error: interrupted\n"
        assert process.returncode == -number  # a shell says 128 + number
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", TO_END)
def test_a_library_that_swallows_every_exception_does_not_swallow_a_signal(number):
    swallow = f"""
            try:
                os.kill(os.getpid(), {int(number)})
                time.sleep(60)
            except BaseException:
                pass"""
    process = started(["--version"], code=STARTING.format(meanwhile=swallow))
    assert process.communicate(timeout=50) == ("importing\n", "Error: interrupted\n")
    assert process.returncode == -number


def test_nothing_is_imported_before_signals_are_handled():
    code = "import sys; import silverbirch.__main__; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert [name for name in loaded if name.startswith("silverbirch")] == ["silverbirch", "silverbirch.__main__"]
    assert not {"numpy", "typer", "rich", "typing"} & {*loaded}


@pytest.mark.parametrize("number", TO_END)
def test_a_run_told_to_end_leaves_nothing_half_written(number, many_rows, tmp_path):
    command = ["cluster", many_rows, "-k", "3", "--max-leaves", "5000", "--labels", tmp_path / "labels.csv"]
    process = started([*command, "--checkpoint", tmp_path / "state.sb"])
    wait_for(process, lambda: list(tmp_path.glob("labels.csv.*.part")))
    process.send_signal(number)
    assert process.communicate(timeout=60)[1] == "Error: interrupted\n"
    assert process.returncode == -number
    left = {path.name for path in tmp_path.iterdir()}
    assert left - {"state.sb.leaves"} == {"rows.npy", "state.sb"}  # what the next run continues from


def test_a_signal_that_the_parent_ignores_is_ignored(many_rows, tmp_path):
    command = ["cluster", many_rows, "-k", "3", "--max-leaves", "5000", "--labels", tmp_path / "labels.npy"]
    process = started(command, ignored=[signal.SIGHUP])
    wait_for(process, lambda: list(tmp_path.glob("labels.npy*")))
    process.send_signal(signal.SIGHUP)
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 0


def test_the_terminal_is_left_without_a_bar_and_with_its_cursor(many_rows):
    terminal, its_end = pty.openpty()
    process = started(["cluster", many_rows, "-k", "3"], stderr=its_end)
    os.close(its_end)
    shown = b""
    while b"rows/s" not in shown:
        shown += os.read(terminal, 4096)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
    os.close(terminal)
    assert shown.rindex(b"\x1b[?25h") > shown.rindex(b"\x1b[?25l")  # shown again after it was hidden
    assert shown.endswith(b"Error: interrupted\r\n")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_output_that_nobody_reads_ends_the_process_silently(options, tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(300, 2)))
    process = started(["cluster", tmp_path / "rows.npy", "-k", "3", *options])
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(60) == -signal.SIGPIPE


# --- warnings


def hostile(folder):
    """Files whose values make libraries warn."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    signalling = X.astype(np.float32)
    signalling.view(np.uint32)[5, 1] = 0x7FA00000
    doubly = X.copy()
    doubly.view(np.uint64)[5, 1] = 0x7FF4000000000000
    for name, rows in {
        "signalling": signalling,
        "signalling double": doubly,
        "denormal": np.arange(600).reshape(300, 2) * 5e-324,
        "denormal float": (np.arange(600).reshape(300, 2) * 1e-45).astype(np.float32),
        "long double": X.astype(np.longdouble),
        "huge": X * 1e300,
    }.items():
        np.save(folder / f"{name}.npy", rows)
    return sorted(folder.glob("*.npy"))


EACH = """
import sys
from silverbirch.__main__ import main

options, files = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
for file in files:
    sys.argv[1:] = ["cluster", file, "-k", "2", "--quiet", *options]
    try:
        main()
    except SystemExit as end:
        assert end.code in (0, 1)
"""


@pytest.mark.parametrize(
    "options", [[], ["--scale", "minmax"], ["--scale", "standard", "--missing", "mean"], ["--missing", "drop"]]
)
def test_no_warning_reaches_stderr(options, tmp_path):
    process = started([*options, "--", *hostile(tmp_path)], code=EACH)
    assert [line for line in process.communicate(timeout=60)[1].splitlines() if not line.startswith("Error: ")] == []
    assert process.returncode == 0


WARN = """
import sys, warnings
import silverbirch.cli

def app():
    warnings.simplefilter("always")
    warnings.warn("one")
    warnings.warn_explicit("two", DeprecationWarning, "library.py", 1)
    class Closing:
        def __del__(self):
            raise ValueError
    Closing()

silverbirch.cli.app = app
from silverbirch.__main__ import main
main()
"""


def test_a_library_that_turns_its_warnings_on_is_not_heard_unless_they_are_asked_for():
    assert started([], code=WARN).communicate(timeout=60)[1] == ""
    asked = subprocess.run([sys.executable, "-W", "default", "-c", WARN], capture_output=True, text=True).stderr
    assert all(word in asked for word in ("UserWarning: one", "DeprecationWarning: two", "ValueError"))


def test_a_signalling_nan_is_a_missing_value(tmp_path):
    hostile(tmp_path)
    for name in ("signalling", "signalling double"):
        result = silverbirch("cluster", tmp_path / f"{name}.npy", "-k", 2)
        assert result.exit_code == 1
        assert "column 1 is missing in row 5" in result.stderr
        result = silverbirch("cluster", tmp_path / f"{name}.npy", "-k", 2, "--missing", "drop")
        assert "300, 1 of them left out for missing values" in result.stdout
        result = silverbirch("cluster", tmp_path / f"{name}.npy", "-k", 2, "--missing", "mean", "--scale", "standard")
        assert "300, 1 missing values filled" in result.stdout
