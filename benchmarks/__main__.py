"""python -m benchmarks list | run | billion | ablations | render | instructions"""

import argparse
from dataclasses import replace
from pathlib import Path

from . import runner, studies
from .jobs import SUITES, suite_named

QUICK_ROWS = 3_000
QUICK_RESULTS = runner.ROOT / "build" / "quick-benchmark"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="silverbirch and its peers, measured.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="list the suites, their libraries, and the studies")
    run = verbs.add_parser("run", help="measure; write one raw row for each run to <results>/<suite>.jsonl")
    run.add_argument("suite", nargs="*", help="default: all but 'billion'")
    run.add_argument("--quick", action="store_true", help=f"at most {QUICK_ROWS:,} rows, once, to test that all works")
    run.add_argument("--repeats", type=int, help="runs of each job that takes less than 10 s (default 3, quick 1)")
    run.add_argument("--results", type=Path, help="default benchmarks/results, quick build/quick-benchmark")
    billion = verbs.add_parser("billion", help="measure a billion rows from a generator; takes minutes")
    billion.add_argument("--rows", type=int, default=1_000_000_000)
    billion.add_argument("--results", type=Path, default=runner.RESULTS)
    ablations = verbs.add_parser("ablations", help="measure with and without each mechanism for speed")
    ablations.add_argument("--mechanisms", nargs="+", default=[], metavar="NAME", help="default: all")
    ablations.add_argument(
        "--tasks", nargs="+", default=[], metavar="TASK", help="default: tree linkage features assign"
    )
    ablations.add_argument("--repeats", type=int, help="default 11, quick 1")
    ablations.add_argument(
        "--parallel", type=int, default=1, metavar="P", help="number of runs at a time, each on its own core"
    )
    ablations.add_argument("--out", type=Path, help="default benchmarks/results/ablations.jsonl")
    ablations.add_argument("--quick", action="store_true", help=f"at most {QUICK_ROWS:,} rows, once")
    render = verbs.add_parser("render", help="write docs/benchmarks.md, its figure and the README's table")
    render.add_argument("--results", type=Path, default=runner.RESULTS)
    render.add_argument("--root", type=Path, default=runner.ROOT, help="the folder with docs/ and README.md")
    instructions = verbs.add_parser(
        "instructions", help="compare instruction counts of two fixed jobs with the stored ones"
    )
    instructions.add_argument("--update", action="store_true", help="store the current counts as the expected ones")
    options = parser.parse_args(arguments)
    VERBS[options.verb](options)


def list_suites(options: argparse.Namespace) -> None:
    for suite in SUITES:
        print(f"{suite.name:<11}{suite.title}{'' if suite.by_default else ' (only if named)'}")
        for peer, rows in suite.peers.items():
            print(f"{'':<11}  {peer}, up to {rows:,} rows")
    for name, question in studies.questions().items():
        print(f"python -m benchmarks.studies.{name}\n{'':<11}{question}")


def run_suites(options: argparse.Namespace) -> None:
    chosen = [suite_named(name) for name in options.suite] or [suite for suite in SUITES if suite.by_default]
    if options.quick:
        small = [suite.small(QUICK_ROWS) for suite in chosen]
        runner.run(small, options.results or QUICK_RESULTS, options.repeats or 1)
    else:
        runner.run(chosen, options.results or runner.RESULTS, options.repeats or 3)


def run_billion(options: argparse.Namespace) -> None:
    suite = suite_named("billion")
    cases = tuple(replace(case, rows=options.rows) for case in suite.cases)
    runner.run([replace(suite, cases=cases)], options.results, repeats=1)


def run_ablations(options: argparse.Namespace) -> None:
    from . import ablations

    folder = QUICK_RESULTS if options.quick else runner.RESULTS
    mechanisms = ablations.chosen(options.mechanisms, options.tasks, QUICK_ROWS if options.quick else None)
    repeats = options.repeats or (1 if options.quick else 11)
    ablations.run(mechanisms, options.out or folder / "ablations.jsonl", repeats, options.parallel)


def render_results(options: argparse.Namespace) -> None:
    from .render import render

    render(options.results, options.root)


def count_instructions(options: argparse.Namespace) -> None:
    from .instructions import check

    raise SystemExit(check(update=options.update))


VERBS = {
    "list": list_suites,
    "run": run_suites,
    "billion": run_billion,
    "ablations": run_ablations,
    "render": render_results,
    "instructions": count_instructions,
}

if __name__ == "__main__":
    main()
