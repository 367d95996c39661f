"""Prints the summary of a run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..checks import bytes_text
from ..dendrogram import Dendrogram
from ..dendrogram.suggestion import Suggestion
from ..model import AggregateModel
from ..model.cluster_table import ClusterTable
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from ..pipeline.shared_preparation import SharedPreparation
from .console import Voice

_MOST_NAMES = 8
_SOME_CUTS = (2, 5, 10, 20, 50, 100, 200)


def say_run(voice: Voice, record: Record, state: RunState, extra: list[tuple[str, str]] | None = None) -> None:
    measured = record.measured()
    voice.table([*_counts(record.counts, state), *(extra or []), *_costs(measured)])
    voice.give(measured)


def _counts(counts: dict[str, Any], state: RunState) -> list[tuple[str, str]]:
    rows = f"{counts['rows']:,.12g}"
    if "weight" in counts:
        rows += f" of weight {counts['weight']:,.12g}"
    elif state.weight_column is not None:  # files of features and models know only the weight
        rows = f"of weight {rows}"
    if counts.get("dropped"):
        direction = " or no direction" if state.preparation.metric != "euclidean" else ""
        rows += f", {counts['dropped']:,} of them left out for missing values{direction}"
    if counts.get("filled"):
        rows += f", {counts['filled']:,} missing values filled"
    features = f"{counts['features']:,}"
    if "rebuilds" in counts:
        rebuilds = "1 rebuild" if counts["rebuilds"] == 1 else f"{counts['rebuilds']:,} rebuilds"
        features += f", threshold {counts['threshold']:.4g} after {rebuilds}"
    return [("rows", rows), *([("columns", listed(state.columns))] if state.columns else []), ("features", features)]


def listed(columns: Sequence[str]) -> str:
    """The names of the columns: they show a column that should not be clustered, such as an id."""
    columns = [repr(name) if "," in name else name for name in columns]
    if len(columns) <= _MOST_NAMES:
        return ", ".join(columns)
    return f"{', '.join(columns[: _MOST_NAMES - 2])}, … {columns[-1]} ({len(columns):,} in all)"


def _costs(measured: dict[str, Any]) -> list[tuple[str, str]]:
    seconds = dict(measured["seconds"])
    total = seconds.pop("total")
    parts = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())
    peak = measured["peak_memory_bytes"]
    cost = f"{total:.2f} s ({parts})" + ("" if peak is None else f", {bytes_text(peak)} at most")
    written = ", ".join(measured["outputs"].values())
    return [("cost", cost), ("written", written or "nothing; --labels, --model, --report or --record keep the result")]


def add_cut(record: Record, model: AggregateModel, suggestion: Suggestion | None) -> None:
    """Adds the number of clusters to the record, or possible cuts if there is none; and what --choose-k found."""
    if suggestion is not None:
        found = {"n_clusters": suggestion.n_clusters, "reason": suggestion.reason, "votes": suggestion.votes}
        record.found["suggestion"] = found
    if model._is_cut:
        record.counts["clusters"] = model.n_clusters_
    else:
        record.found["cuts"] = _possible_cuts(model.dendrogram_)


def _possible_cuts(dendrogram: Dendrogram) -> list[dict[str, Any]]:
    """Some numbers of clusters, each with a height that gives as many and the rmsd; no height if there is none."""
    cuts = []
    for count in _SOME_CUTS:
        if count <= dendrogram.n_leaves:
            lower, upper = dendrogram._heights_of(count)
            height = (lower + upper) / 2 if lower < upper else None
            cuts.append({"clusters": count, "height": height, "rmsd": dendrogram.rmsd(count)})
    return cuts


def say_suggestion(voice: Voice, suggestion: Suggestion | None) -> None:
    """Prints the scores of each number of clusters; the votes are marked."""
    for line in [] if suggestion is None else repr(suggestion).splitlines()[1:]:
        voice.say(line)


def say_uncut(voice: Voice, record: Record, state: RunState, how_to_cut: str) -> None:
    """Prints the summary of a run without a cut: what cuts would give, and how to make one."""
    say_run(voice, record, state, [("clusters", "not cut"), *_suggested(record)])
    if cuts := record.found["cuts"]:
        lines = [[f"{cut['clusters']}", *(_short(cut[name]) for name in ("height", "rmsd"))] for cut in cuts]
        voice.say("")
        voice.columns([["clusters", "height", "rmsd"], *lines])
    voice.say(how_to_cut)


def _short(number: float | None) -> str:
    return "–" if number is None else f"{number:.6g}"


def _suggested(record: Record) -> list[tuple[str, str]]:
    found = record.found.get("suggestion")
    if found is None:
        return []
    return [("choose-k", f"{found['n_clusters'] or 'no clear number'}: {found['reason']}")]


def say_preparation(voice: Voice, record: Record, shared: SharedPreparation) -> None:
    """Prints the summary of a preparation: what is missing, and the mean, deviation and range of the columns."""
    measured, found = record.measured(), shared.statistics
    names = shared.state.columns or tuple(map(str, range(found.n_columns)))
    missing = found.rows - found.values
    how, _ = shared.state.preparation.to_state()
    options = " ".join(f"--{name} {value}" for name, value in how.items())
    rows = [("rows", f"{found.rows:,.12g}"), ("prepared", options)]
    columns = zip(names, found.mean, found.deviation, found.least, found.most, missing, strict=True)
    for name, mean, deviation, least, most, absent in itertools.islice(columns, _MOST_NAMES):
        text = f"{mean:.6g} ± {deviation:.6g}, {least:.6g} to {most:.6g}" if least <= most else "no value"
        rows.append((name, text + (f", {absent:,.12g} missing" if absent else "")))
    if found.n_columns > _MOST_NAMES:
        rows.append(("…", f"{found.n_columns:,} columns in all"))
    voice.table([*rows, *_costs(measured)])
    voice.give(measured)


def say_clusters(voice: Voice, record: Record, state: RunState, model: AggregateModel) -> None:
    """Prints the summary of a run with the number, sizes and rmsd of the clusters."""
    table = model.clusters_
    k = len(table)
    sizes = f"{k:,}" + (f", of {_sizes(table, state)}" if k > 1 else "")
    if "labelled" in record.counts:
        sizes += f"; {record.counts['labelled']:,} rows labelled"
        if "noise" in record.counts:
            sizes += f", {record.counts['noise']:,} of them noise (-1)"
        if record.counts["unlabelled"]:
            sizes += f", {record.counts['unlabelled']:,} left out"
    say_run(voice, record, state, [*_suggested(record), ("clusters", sizes), ("rmsd", f"{table.overall_rmsd:.6g}")])


def _sizes(table: ClusterTable, state: RunState) -> str:
    if state.weight_column is not None:  # rows of weight 0 are labelled, but not counted
        return f"weight {table.weight.min():,.6g} to {table.weight.max():,.6g}"
    return f"{table.rows.min():,} to {table.rows.max():,} rows"
