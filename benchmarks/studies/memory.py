"""How much memory `silverbirch cluster --max-memory` takes, for every kind of file, narrow and wide.

    python -m benchmarks.studies.memory                                    all kinds and widths; takes some minutes
    python -m benchmarks.studies.memory --kinds parquet --columns 384      some of them
    python -m benchmarks.studies.memory --render                           the table of the last run, again

Every run is a process of its own that clusters normally distributed rows, without a limit on the number of features,
and writes the labels and the model. The peak is what the system reports as its largest resident memory; pages of mapped
files count. The raw rows go to --output, and docs/command-line.md holds the table that is made from them.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine, markdown, raw_rows, runner
from silverbirch.checks import as_bytes

ROWS = {2: 2_000_000, 16: 100_000, 384: 20_000, 2000: 5_000}
LIMITS = ("192MB", "256MB")
RESULTS = runner.RESULTS / "memory.jsonl"
PAGE = runner.ROOT / "docs" / "command-line.md"
BEGIN, END = "<!-- memory: begin -->", "<!-- memory: end -->"


def batches(rows: int, columns: int, dtype: Any = np.float64, size: int = 1000) -> Iterator[Any]:
    """Normally distributed rows as record batches, made bit by bit so that large files need little memory."""
    import pyarrow as pa

    random = np.random.default_rng(0)
    names = [f"c{number}" for number in range(columns)]
    for start in range(0, rows, size):
        X = random.normal(size=(min(size, rows - start), columns)).astype(dtype)
        yield pa.record_batch([pa.array(column) for column in X.T], names=names)


def write_npy(path: Path, rows: int, columns: int) -> None:
    mapped = np.lib.format.open_memmap(path, "w+", np.float64, (rows, columns))
    done = 0
    for batch in batches(rows, columns):
        for number, column in enumerate(batch.columns):
            mapped[done : done + batch.num_rows, number] = column.to_numpy()
        done += batch.num_rows


def write_csv(path: Path, rows: int, columns: int) -> None:
    from pyarrow import csv

    made = batches(rows, columns, np.float32)  # fewer digits
    first = next(made)
    with csv.CSVWriter(path, first.schema) as writer:
        writer.write_batch(first)
        for batch in made:
            writer.write_batch(batch)


def write_parquet(path: Path, rows: int, columns: int) -> None:
    """One row group, as pyarrow writes it by default up to a million rows."""
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_batches(batches(rows, columns)), path)


def write_arrow(path: Path, rows: int, columns: int) -> None:
    """One batch, the worst case."""
    import pyarrow as pa
    from pyarrow import ipc

    table = pa.Table.from_batches(batches(rows, columns)).combine_chunks()
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def write_feather(path: Path, rows: int, columns: int) -> None:
    """Batches of 65 536 rows, compressed, as pyarrow.feather writes them by default."""
    import pyarrow as pa
    from pyarrow import feather

    feather.write_feather(pa.Table.from_batches(batches(rows, columns)).combine_chunks(), str(path))


KINDS: dict[str, Callable[[Path, int, int], None]] = {
    "npy": write_npy,
    "csv": write_csv,
    "parquet": write_parquet,
    "arrow": write_arrow,
    "feather": write_feather,
}


def measure(path: Path, limit: str, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        command = ["cluster", path, "-k", "20", "--labels", f"{folder}/labels.parquet", "--model", f"{folder}/model.sb"]
        limits = ["--max-leaves", str(options.max_leaves), "--max-memory", limit, "--json"]
        done = subprocess.run(
            [sys.executable, "-m", "silverbirch", *map(str, command), *limits], capture_output=True, text=True
        )
    if done.returncode:
        return {"refused": done.stderr.strip()}
    record = json.loads(done.stdout)
    kept = {name: record[name] for name in ("peak_memory_bytes", "seconds") if name in record}
    return kept | {"features": record["counts"]["features"]}


def run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    place = machine.describe()
    with tempfile.TemporaryDirectory(dir=options.folder) as made:
        for columns in options.columns:
            rows = options.rows or ROWS.get(columns, max(1000, 40_000_000 // columns))
            for kind in options.kinds:
                path = Path(options.folder or made) / f"rows-{rows}x{columns}.{kind}"
                if not path.exists():
                    make = [sys.executable, "-m", __spec__.name, "--make", kind, str(path), str(rows), str(columns)]
                    subprocess.run(make, check=True)
                for limit in options.limits:
                    found = measure(path, limit, options)
                    shape = {"kind": kind, "rows": rows, "columns": columns, "bytes": path.stat().st_size}
                    yield shape | {"limit": limit} | found | {"machine": place}
                if options.folder is None:
                    path.unlink()


def rendered(rows: list[dict[str, Any]]) -> str:
    limits = list(dict.fromkeys(row["limit"] for row in rows))
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        case = row["kind"], f"{row['rows']:,} × {row['columns']:,}"
        cells.setdefault(case, {})[row["limit"]] = _cell(row)
    lines = [[*case, *(found.get(limit, "") for limit in limits)] for case, found in cells.items()]
    return markdown.table(["file", "rows × columns", *(f"`--max-memory {limit}`" for limit in limits)], lines)


def _cell(row: dict[str, Any]) -> str:
    if "refused" in row:
        needed = re.search(r"at least ([\d.]+ [kMGT]?B)", row["refused"])
        return f"refused, needs {needed[1]}" if needed else row["refused"]
    share = row["peak_memory_bytes"] / as_bytes(row["limit"])
    return f"{row['peak_memory_bytes'] / 1e6:,.0f} MB, {share:.0%}{' **too much**' if share > 1 else ''}"


def _show(row: dict[str, Any]) -> None:
    print(row["kind"], row["columns"], row["limit"], _cell(row))


def write_page(rows: list[dict[str, Any]]) -> None:
    """Puts the table between its marks in the docs."""
    place = rows[-1]["machine"]
    measured = f"Measured on {place['cpu']}, {place['cores']} cores, {place['system']}, Python {place['python']}."
    markdown.put_between(PAGE, BEGIN, END, f"{rendered(rows)}\n\n{measured}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--columns", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--rows", type=int, help="default: by the number of columns")
    parser.add_argument("--limits", nargs="+", default=LIMITS)
    parser.add_argument("--max-leaves", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="keep the files here, for the next run")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the raw rows")
    parser.add_argument("--append", action="store_true", help="keep the raw rows that are there")
    parser.add_argument("--render", action="store_true", help="only make the table of the raw rows again")
    parser.add_argument("--make", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        kind, path, rows, columns = options.make
        KINDS[kind](Path(path), int(rows), int(columns))
        return
    if not options.render:
        raw_rows.write(options.output, run(options), _show, append=options.append)
    rows = raw_rows.read(options.output)
    print(rendered(rows))
    if options.output == RESULTS:
        write_page(rows)


if __name__ == "__main__":
    main()
