"""Raw rows in a file, one JSON object on each line. Tables and figures are computed from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .jobs import Job, as_dict, from_dict

Row = dict[str, Any]


class RawRows:
    """The rows of a file by their job. A later row of the same job replaces an earlier one.

    A line with only "machine" describes the machine that measured the rows below it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[Job, Row] = {}
        self._machine: str | None = None
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                row = json.loads(line)
            except ValueError:
                continue  # the run was killed while it wrote this line
            if "job" in row:
                self._rows[from_dict(row["job"])] = row | {"machine": self._machine}
            else:
                self._machine = row["machine"]

    def any(self, job: Job) -> Row | None:
        return self._rows.get(job)

    def good(self, job: Job) -> Row | None:
        """The row of a job; None if it is not measured, failed or was left out."""
        row = self._rows.get(job)
        return row if row is not None and row["status"] == "ok" else None

    def add(self, job: Job, measured: Row, machine: str) -> Row:
        row = {"job": as_dict(job)} | measured
        lines = [] if machine == self._machine else [json.dumps({"machine": machine})]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            if file.tell() and self.path.read_bytes()[-1:] != b"\n":  # the end of a killed run
                file.write(b"\n")
            file.write("".join(f"{line}\n" for line in [*lines, json.dumps(row)]).encode())
        self._machine = machine
        self._rows[job] = row | {"machine": machine}
        return row

    def values(self, jobs: Sequence[Job], quantity: str) -> list[float]:
        """The values of a quantity for all measured jobs that have it."""
        rows = (self.good(job) for job in jobs)
        return [row[quantity] for row in rows if row is not None and row.get(quantity) is not None]
