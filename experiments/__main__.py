"""python -m experiments [NAMES] [--quick] [--out DIR] [--render-only]"""

import argparse
import sys
from pathlib import Path

from .reproduction import EXPERIMENTS, reproduce


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Runs the paper's experiments and writes their tables and figures next to the published numbers. "
        "Existing rows are not measured again, so an interrupted run can be resumed.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: all of {', '.join(EXPERIMENTS)}")
    parser.add_argument("--quick", action="store_true", help="small data; takes minutes instead of most of an hour")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("reproduction"),
        help="folder for raw rows, page and figures (default: %(default)s)",
    )
    parser.add_argument(
        "--render-only", action="store_true", help="measure nothing; write the page from the existing rows"
    )
    options = parser.parse_args()

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    try:
        page = reproduce(options.names, quick=options.quick, out=options.out, render_only=options.render_only, say=say)
    except (ValueError, OSError) as error:
        sys.exit(f"Error: {error}")
    print(page.read_text(encoding="utf-8"))
    say(f"written: {page}")


if __name__ == "__main__":
    main()
