"""What a run says at its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import bytes_text
from ..model import AggregateModel
from ..pipeline.record import Record
from .console import Voice


def say_run(voice: Voice, record: Record, extra: list[tuple[str, str]] | None = None) -> None:
    measured = record.measured()
    voice.table([*_counts(record.counts), *(extra or []), *_costs(measured)])
    voice.give(measured)


def _counts(counts: dict[str, Any]) -> list[tuple[str, str]]:
    rows = f"{counts['rows']:,.12g}"
    if counts.get("dropped"):
        rows += f", {counts['dropped']:,} of them left out for missing values"
    if counts.get("filled"):
        rows += f", {counts['filled']:,} missing values filled"
    features = f"{counts['features']:,}"
    if "rebuilds" in counts:
        features += f", threshold {counts['threshold']:.4g} after {counts['rebuilds']} rebuilds"
    return [("rows", rows), ("features", features)]


def _costs(measured: dict[str, Any]) -> list[tuple[str, str]]:
    seconds = dict(measured["seconds"])
    total = seconds.pop("total")
    parts = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())
    peak = measured["peak_memory_bytes"]
    cost = f"{total:.2f} s ({parts})" + ("" if peak is None else f", {bytes_text(peak)} at most")
    written = ", ".join(measured["outputs"].values())
    return [("cost", cost), *([("written", written)] if written else [])]


def say_clusters(voice: Voice, record: Record, model: AggregateModel) -> None:
    """The same, with what the clusters are like."""
    k = model.n_clusters_
    weights = np.bincount(model.subcluster_labels_, model.features_.weight)
    sizes = (
        f"{k:,}, of {weights.min():,.12g} to {weights.max():,.12g} rows" if k > 1 else "1: the dendrogram is not cut"
    )
    say_run(voice, record, [("clusters", sizes), ("rmsd", f"{model.dendrogram_.rmsd(k):.6g}")])
