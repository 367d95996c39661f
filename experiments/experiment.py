"""Experiment: its jobs, and the section of the page that is computed from their rows."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from .jobs import Job, Scale
from .raw_rows import RawRows

DATA = ("uniform", "Gaussian")
PAPER_LINKAGES = ("centroid", "average", "ward")
PAPER_NAMES = {"centroid": "UPGMC", "average": "UPGMA", "ward": "Ward"}


@dataclass(frozen=True)
class Experiment:
    """`section(scale, rows, images)` returns Markdown and writes its figures to the folder `images`."""

    name: str
    title: str
    jobs: Callable[[Scale], list[Job]]
    section: Callable[[Scale, RawRows, Path], str]


def published(name: str) -> list[dict[str, str]]:
    """The numbers of the paper, as printed."""
    text = resources.files(__package__).joinpath("published", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
