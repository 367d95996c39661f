"""Instruction counts of two small fixed jobs, by valgrind's callgrind: a guard that noise cannot move.

instruction_jobs.cpp is built against the core; the counts are compared with instructions.json. Another compiler makes
other instructions, so a count is judged only where one of the same compiler and instruction set is expected.
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
# Tools of the environment that runs this come first, also where it was not activated.
TOOLS = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
INSTRUCTION_SETS = ("avx2", "baseline")  # the fastest one that valgrind runs too

Counts = dict[str, int]


def check(update: bool) -> int:
    """The exit code: 1 where a job takes more instructions than expected."""
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
    """For each job the count, its change against the expected one, and whether that is tolerated."""
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
    """The program, and the compiler that made it."""
    switches = ["-DSILVERBIRCH_BENCHMARKS=ON", "-DSILVERBIRCH_PYTHON=OFF", "-DCMAKE_BUILD_TYPE=Release"]
    run(["cmake", "-S", str(ROOT), "-B", str(BUILD), *switches])
    run(["cmake", "--build", str(BUILD), "--target", "instruction_jobs", "--parallel", "2"])
    described = "\n".join(path.read_text() for path in BUILD.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"))
    name = re.search(r'CMAKE_CXX_COMPILER_ID "(.+?)"', described)
    version = re.search(r'CMAKE_CXX_COMPILER_VERSION "(.+?)"', described)
    return BUILD / "benchmarks" / "instruction_jobs", f"{name and name[1]} {version and version[1]}"


def count(program: Path) -> tuple[str, Counts]:
    """The instruction set used, and the instructions of each job without those that make the rows."""
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
