"""How long the interactive page takes to open, and how many frames a second a dragged cut gets, in headless Chromium.

    python -m benchmarks.studies.page                      up to a million leaves; takes some minutes
    python -m benchmarks.studies.page --leaves 25000       some sizes
    python -m benchmarks.studies.page --render             the table of the last run, again

Points in 50 groups are clustered, and `Dendrogram.to_html` writes the page, with the static part. "open" is the time
from the start of the navigation until the second frame after the script has drawn everything. "computing" is the time
that the page kept a processor busy: other processes do not count. Then the line of the cut is dragged from the
top to the bottom and back, one event of the pointer a frame; the picture, the curve and the scatter follow, and panels
out of sight when the line rests. There are at most 60 frames a second, and the processor draws them. Each number is the
median of several runs. The raw rows go to --output, and docs/report.md holds the table made from them.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import silverbirch as sb
from benchmarks import machine, markdown, raw_rows, runner

LEAVES = (25_000, 100_000, 1_000_000)
METHODS = ("ward", "single")
SIZE = {"width": 1440, "height": 900}
RESULTS = runner.RESULTS / "page.jsonl"
PAGE = runner.ROOT / "docs" / "report.md"
BEGIN, END = "<!-- page: begin -->", "<!-- page: end -->"

# The script of the page sets window.silverbirch when it is ready.
READY = """(() => {
  let view;
  Object.defineProperty(window, "silverbirch", {
    get: () => view,
    set: (value) => {
      view = value;
      requestAnimationFrame(() => requestAnimationFrame(() => { window.readyAt = performance.now(); }));
    },
  });
})();"""

# One event of the pointer in each frame, as a quick hand gives them; the time of each frame, and the cuts.
DRAG = """({ x, heights }) => new Promise((done) => {
  const { store, panels } = window.silverbirch;
  const line = document.querySelector(".cut-line"), times = [], cuts = new Set();
  const frame = (now) => {
    times.push(now);
    cuts.add(store.state.cut.k);
    if (times.length > heights.length) return done([times, cuts.size, panels.dendrogramPanel.drawn.length]);
    const clientY = heights[times.length - 1];
    line.dispatchEvent(new PointerEvent("pointermove", { pointerId: 1, pointerType: "mouse", clientX: x, clientY, bubbles: true }));
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""  # noqa: E501


def dendrogram_of(leaves: int, method: str) -> sb.Dendrogram:
    random = np.random.default_rng(0)
    X = random.normal(size=(leaves, 2)) + 20 * random.normal(size=(50, 2))[random.integers(0, 50, leaves)]
    return sb.Dendrogram(sb.linkage(X, method), X)


class Window:
    """A page in a new window."""

    def __init__(self, browser: Any) -> None:
        self.page = browser.new_context(viewport=SIZE).new_page()
        self.page.add_init_script(READY)
        self.session = self.page.context.new_cdp_session(self.page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def computing(self) -> float:
        """The seconds that the page has kept its own processor busy; other processes do not count."""
        measured = self.session.send("Performance.getMetrics")["metrics"]
        return float(next(entry["value"] for entry in measured if entry["name"] == "TaskDuration"))

    def open(self, path: Path) -> dict[str, float]:
        self.page.goto(path.as_uri())
        while (ready := self.page.evaluate("window.readyAt ?? null")) is None:
            time.sleep(0.05)
        return {"open": ready / 1000, "open_computing": self.computing()}

    def drag(self, steps: int) -> dict[str, float]:
        self.page.wait_for_timeout(1000)  # what is out of sight is filled later
        before = self.computing()
        found = dragged(self.page, steps)
        return found | {"frame_computing": (self.computing() - before) / found["frames"]}


def dragged(page: Any, steps: int) -> dict[str, Any]:
    """Drags the line of the cut from the top of the picture to the bottom and back."""
    stage = page.locator(".stage").bounding_box()
    line = page.get_by_role("slider", name="Cut").bounding_box()
    x = stage["x"] + stage["width"] / 2
    page.mouse.move(x, line["y"] + line["height"] / 2)
    page.mouse.down()  # the line captures this pointer, so that it takes the events that follow
    way = np.concatenate([np.linspace(0.05, 0.85, steps), np.linspace(0.85, 0.05, steps)])
    frames, cuts, drawn = page.evaluate(DRAG, {"x": x, "heights": (stage["y"] + way * stage["height"]).tolist()})
    page.mouse.up()
    gaps = np.diff(frames) / 1000
    return {
        "frames_per_second": 1 / float(gaps.mean()),
        "slowest_frame": float(gaps.max()),
        "frames": len(frames),
        "different_cuts": cuts,
        "nodes_drawn": drawn,
    }


def measure(browser: Any, leaves: int, method: str, repeats: int, steps: int) -> dict[str, Any]:
    dendrogram = dendrogram_of(leaves, method)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        start = time.perf_counter()
        dendrogram.to_html(path)
        row = {"write": time.perf_counter() - start, "bytes": path.stat().st_size}
        runs = []
        for _ in range(repeats):
            window = Window(browser)
            runs.append(window.open(path) | window.drag(steps))
            window.page.context.close()
    return row | {name: statistics.median(found[name] for found in runs) for name in runs[0]}


def run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise SystemExit("this study needs playwright: pip install '.[browser]'") from None
    from tests import chromium

    place = machine.describe()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.path())
        for method in options.methods:
            for leaves in options.leaves:
                shape = {"leaves": leaves, "method": method, "chromium": browser.version}
                shape["load"] = os.getloadavg()[0]
                yield shape | measure(browser, leaves, method, options.repeats, options.steps) | {"machine": place}
        browser.close()


def rendered(rows: list[dict[str, Any]]) -> str:
    head = ["leaves", "linkage", "file", "written in", "open in", "frames a second", "computing a frame", "nodes drawn"]
    lines = [
        [
            f"{row['leaves']:,}",
            row["method"],
            f"{row['bytes'] / 1e6:.1f} MB",
            f"{row['write']:.1f} s",
            f"{row['open']:.1f} s ({row['open_computing']:.1f} s computing)",
            f"{row['frames_per_second']:.0f}",
            f"{1000 * row['frame_computing']:.0f} ms",
            f"{row['nodes_drawn']:,.0f}",
        ]
        for row in rows
    ]
    return markdown.table(head, lines)


def _show(row: dict[str, Any]) -> None:
    print({name: value for name, value in row.items() if name != "machine"}, flush=True)


def write_page(rows: list[dict[str, Any]]) -> None:
    """Puts the table between its marks in the docs."""
    place = rows[-1]["machine"]
    measured = (
        f"Measured by `python -m benchmarks.studies.page` with Chromium {rows[-1]['chromium'].partition('.')[0]}, "
        f"headless and without a GPU, on {place['cpu']}, {place['cores']} cores, {place['system']}."
    )
    load = max(row["load"] for row in rows)
    if load > place["cores"]:
        measured += f" Other programs ran beside it (load {load:.0f}), so that the times are upper limits."
    markdown.put_between(PAGE, BEGIN, END, f"{rendered(rows)}\n\n{measured}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leaves", type=int, nargs="+", default=LEAVES)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--repeats", type=int, default=3, help="how often each page is opened and dragged")
    parser.add_argument("--steps", type=int, default=100, help="events of the mouse in each direction")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the raw rows")
    parser.add_argument("--render", action="store_true", help="only make the table of the raw rows again")
    options = parser.parse_args()
    if not options.render:
        raw_rows.write(options.output, run(options), _show)
    rows = raw_rows.read(options.output)
    print(rendered(rows))
    if options.output == RESULTS:
        write_page(rows)


if __name__ == "__main__":
    main()
