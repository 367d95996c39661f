"""Describes the content of a silverbirch file in plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import Floats
from ..dendrogram import Dendrogram
from ..errors import ModelFileError
from ..features import ClusterFeatures
from ..model import AggregateModel
from ..pipeline.provenance import RunState
from ..pipeline.shared_preparation import KIND as PREPARATION
from ..pipeline.shared_preparation import SharedPreparation
from ..remote import Place, size_of
from ..storage import container
from ..storage.checkpoint import KIND as CHECKPOINT
from ..storage.loading import restored
from ..tree import CFTree


def file_facts(path: Place) -> dict[str, Any]:
    kind, state, arrays = container.read(path)
    facts: dict[str, Any] = {"holds": kind, "bytes": size_of(path)}
    try:
        return facts | _of_kind(path, kind, state, arrays)
    except (AttributeError, KeyError, TypeError) as error:
        raise ModelFileError(f"{path} has no valid content: {container.one_line(error)}") from None


def _of_kind(path: Place, kind: str, state: dict[str, Any], arrays: container.Arrays) -> dict[str, Any]:
    if kind == CHECKPOINT:
        identity = state["identity"]
        known = {"written by": f"silverbirch {state['silverbirch']}", "input": [f["name"] for f in identity["input"]]}
        journal = state.get("labelling", state).get("journal")
        labels = {} if journal is None else {"labels": journal["count"]}
        found = known | state.get("counts", {}) | labels
        return {**found, **identity.get("tree", {}), **identity.get("preparation", {})}
    if kind == PREPARATION:
        return _of_preparation(SharedPreparation.from_file(path, state, arrays))
    if kind not in _FACTS:
        raise ModelFileError(f"{path} holds a {kind}, which this version does not know: update silverbirch")
    facts: dict[str, Any] = _FACTS[kind](restored(path, kind, state, arrays))
    return facts | _of_run(RunState.of_file(path, state, arrays, facts.get("columns", 0)))


def _of_preparation(shared: SharedPreparation) -> dict[str, Any]:
    found = shared.statistics
    return {
        "columns": found.n_columns,
        "rows": found.rows,
        "missing values": (found.rows - found.values).tolist(),
        "mean": found.mean.tolist(),
        "deviation": found.deviation.tolist(),
        "least": _finite(found.least),
        "most": _finite(found.most),
    } | _of_run(shared.state)


def _finite(extremes: Floats) -> list[float | None]:
    """The extremes; None for a column without values, because JSON has no infinity."""
    return [value if np.isfinite(value) else None for value in extremes.tolist()]


def _of_features(features: ClusterFeatures) -> dict[str, Any]:
    total = features.total()
    deviation = float(total.sse[0] / total.weight[0]) ** 0.5
    return {
        "features": len(features),
        "columns": features.n_dimensions,
        "rows": float(total.weight[0]),
        "rmsd(1)": deviation,
    }


def _of_tree(tree: CFTree) -> dict[str, Any]:
    known = _of_features(tree.features) if len(tree) else {"features": 0}
    return known | {
        "threshold": tree.threshold,
        "rebuilds": tree.n_rebuilds,
        "distance": tree.distance,
        "absorption": tree.absorption,
        "max_leaves": tree.max_leaves,
    }


def _of_dendrogram(dendrogram: Dendrogram) -> dict[str, Any]:
    known = {} if dendrogram.features is None else _of_features(dendrogram.features)
    return {"leaves": dendrogram.n_leaves, "height": float(dendrogram.Z[:, 2].max(initial=0.0))} | known


def _of_model(model: AggregateModel) -> dict[str, Any]:
    known = model._clustering
    linkage, mode = (model.linkage, model.mode) if known is None else known.made_by[:2]
    facts = _of_tree(model.tree_) | {"features": len(model.features_), "columns": model.n_features_in_}
    if model._projection is not None:
        facts["projection"] = model._projection.n_components
    facts |= {"linkage": linkage, "mode": mode}
    if known is not None:
        clusters = model.n_clusters_ if model._is_cut else None
        facts |= {"height": float(model.linkage_matrix_[:, 2].max(initial=0.0)), "clusters": clusters}
    return facts


_FACTS: dict[str, Any] = {
    "features": _of_features,
    "tree": _of_tree,
    "dendrogram": _of_dendrogram,
    "model": _of_model,
}


def _of_run(state: RunState) -> dict[str, Any]:
    """What the command line adds to a file, without defaults."""
    preparation = state.preparation
    facts: dict[str, Any] = {
        "names": None if state.columns is None else list(state.columns),
        "id column": state.id_column,
        "weight column": state.weight_column,
        "times": "seconds" if state.times else None,
        "missing": None if preparation.missing == "error" else preparation.missing,
        "scale": None if preparation.scale == "none" else preparation.scale,
        "metric": None if preparation.metric == "euclidean" else preparation.metric,
        "made by": state.record.get("command"),
        "input": [str(file.get("name")) for file in state.record.get("input", [])] or None,
    }
    return {name: value for name, value in facts.items() if value is not None}
