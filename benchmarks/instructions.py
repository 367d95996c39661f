"""Compares the instruction counts of two small fixed jobs with instructions.json; noise cannot change them.

valgrind's callgrind counts the instructions of instruction_jobs.cpp, which is built with the core. Compilers differ, so
counts are compared only if instructions.json has counts for the same compiler and instruction set.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "instructions"
EXPECTED = Path(__file__).with_name("instructions.json")
JOBS = ("tree", "ward")
TOLERANCE = 0.03
# The tools of this Python environment come first, even if it is not activated.
TOOLS = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
INSTRUCTION_SETS = ("avx2", "baseline")  # the first one that valgrind can run is used

Counts = dict[str, int]


def check(update: bool) -> int:
    """Returns the exit code: 1 if a job takes more instructions than expected."""
    missing = [tool for tool in ("valgrind", "cmake", "c++") if shutil.which(tool, path=TOOLS) is None]
    if missing:
        print(f"skipped: instruction counts need {', '.join(missing)} (apt install valgrind cmake g++)")
        return 0
    program, compiler = build()
    instruction_set, counts = count(program)
    key = f"{compiler}, {instruction_set}"
    known: dict[str, Counts] = json.loads(EXPECTED.read_text(encoding="utf-8")) if EXPECTED.exists() else {}
    if update:
        EXPECTED.write_text(json.dumps(known | {key: counts}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    elif key in known:
        return report(compare(counts, known[key]))
    print(f"{key}: " + ", ".join(f"{job} {number:,}" for job, number in counts.items()))
    if not update:
        print("skipped: nothing is expected of this compiler; `instructions --update` takes these counts as expected")
    return 0


def compare(counts: Counts, expected: Counts) -> dict[str, tuple[int, float, bool]]:
    """For each job: the count, its relative change, and whether the change is tolerated."""
    changes = {job: counts[job] / expected[job] - 1 for job in counts}
    return {job: (counts[job], change, change <= TOLERANCE) for job, change in changes.items()}


def report(findings: dict[str, tuple[int, float, bool]]) -> int:
    for job, (number, change, tolerated) in findings.items():
        text = f"{job}: {number:,} instructions, {100 * change:+.2f} % against the expected"
        if not tolerated:
            text += f": more than {100 * TOLERANCE:g} %; find out why, or accept it with `instructions --update`"
        elif change < -TOLERANCE:
            text += ": better; let `instructions --update` hold it there"
        print(text)
    return 0 if all(tolerated for _, _, tolerated in findings.values()) else 1


def build() -> tuple[Path, str]:
    """Builds the program; returns its path and the compiler."""
    switches = ["-DSILVERBIRCH_BENCHMARKS=ON", "-DSILVERBIRCH_PYTHON=OFF", "-DCMAKE_BUILD_TYPE=Release"]
    run(["cmake", "-S", str(ROOT), "-B", str(BUILD), *switches])
    run(["cmake", "--build", str(BUILD), "--target", "instruction_jobs", "--parallel", "2"])
    described = "\n".join(path.read_text() for path in BUILD.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"))
    name = re.search(r'CMAKE_CXX_COMPILER_ID "(.+?)"', described)
    version = re.search(r'CMAKE_CXX_COMPILER_VERSION "(.+?)"', described)
    return BUILD / "benchmarks" / "instruction_jobs", f"{name and name[1]} {version and version[1]}"


def count(program: Path) -> tuple[str, Counts]:
    """The instruction set, and the instructions of each job without those that generate the rows."""
    for instruction_set in INSTRUCTION_SETS:
        try:
            rows = collected(program, "none", instruction_set)
            return instruction_set, {job: collected(program, job, instruction_set) - rows for job in JOBS}
        except subprocess.CalledProcessError:
            continue
    raise SystemExit(f"{program} fails under valgrind with {' and '.join(INSTRUCTION_SETS)}")


def collected(program: Path, job: str, instruction_set: str) -> int:
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    said = run([*callgrind, str(program), job, instruction_set])
    return int(re.search(r"Collected\s*:\s*(\d+)", said)[1])


def run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PATH": TOOLS})
    if done.returncode != 0:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
    done.check_returncode()
    return done.stderr
