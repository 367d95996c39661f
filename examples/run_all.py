"""Runs every script of the gallery whose data is there, and keeps what each one prints, with its time and memory.

python examples/run_all.py [FOLDER] [--out docs/images/gallery] [--printed docs/gallery/printed] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = {  # each with the files that it needs
    "photograph_colours": [],
    "world_cities": ["cities.parquet"],
    "new_york_flights": ["flights.parquet"],
    "handwritten_digits": [],
    "package_descriptions": ["packages.parquet", "packages-minilm.npy"],
    "blood_cells": [],
    "moving_stream": [],
    "hundred_million_rows": [],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", default=Path(os.environ.get("SILVERBIRCH_DATA", "data")))
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs/images/gallery")
    parser.add_argument("--printed", type=Path, default=HERE.parent / "docs/gallery/printed")
    parser.add_argument("--only", nargs="+", choices=list(SCRIPTS), default=list(SCRIPTS))
    args = parser.parse_args()
    args.printed.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in args.only:
        missing = [file for file in SCRIPTS[name] if not (args.data / file).is_file()]
        if missing:
            print(f"{name}: left out, because {args.data} has no {' and no '.join(missing)}")
            continue
        folder = [str(args.data)] if SCRIPTS[name] else []
        status, text, cost = measured([sys.executable, str(HERE / f"{name}.py"), *folder, "--out", str(args.out)])
        failed += status != 0
        print(f"{name}: {cost}" if status == 0 else f"{name}: failed with status {status}", flush=True)
        if status == 0:
            shown = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("written: "))
            (args.printed / f"{name.replace('_', '-')}.txt").write_text(f"{shown}\n({cost})\n", encoding="utf-8")
    return 1 if failed else 0


def measured(command: list[str]) -> tuple[int, str, str]:
    """The exit status of a command, what it printed, and what it took: CPU time, memory, machine."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert process.stdout is not None
    text = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    memory = used.ru_maxrss * 1024 / 1e6  # Linux counts in units of 1024 bytes
    cpu = used.ru_utime + used.ru_stime
    cost = f"{cpu:.0f} s of CPU time, {memory:,.0f} MB at most, on {machine()}"
    return process.returncode, text, cost


def machine() -> str:
    names = [line.partition(":")[2].strip() for line in cpu_lines() if line.startswith("model name")]
    return f"{os.cpu_count()} shared cores of {names[0] if names else platform.machine()}"


def cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.is_file() else []


if __name__ == "__main__":
    sys.exit(main())
