"""A fitted model in a file.

The file holds the parameters, the tree, refined leaves, the number, weight, mean and sse of the rows labelled to each
leaf, and the dendrogram with the labels of its leaves. It does not hold the labels of the rows, because their number
has no bound.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..checks import ALGORITHMS, MODES, as_choice, as_count, as_flag, as_method
from ..dendrogram import numbered_by_weight
from ..dendrogram.cuts import CUT_METHODS, as_size
from ..features import ClusterFeatures
from ..linkage import heights_are_euclidean
from ..model import AdaptiveCut, AggregateModel, Clustering, Refined
from ..model.labelled import LabelledLeaves
from ..rows.projected_source import Projection
from ..wording import parameter
from . import dendrogram as dendrogram_in_file
from . import features as features_in_file
from . import tree as tree_in_file
from .container import Arrays, prefixed, under

Model = TypeVar("Model", bound=AggregateModel)


def to_file(model: AggregateModel) -> tuple[dict[str, Any], Arrays]:
    model._require_fitted()
    as_inserted = {"metric": model._metric}  # what `set_params` changed since does not apply to the rows in the tree
    parameters = {name: _plain(value) for name, value in (model.get_params(deep=False) | as_inserted).items()}
    del parameters["device"]  # the file is read on machines without it, too
    _unfitted(type(model), parameters)  # raises an error if the model could not be loaded again
    names = getattr(model, "feature_names_in_", None)
    tree_state, tree_arrays = tree_in_file.to_file(model.tree_)
    state: dict[str, Any] = {
        "parameters": parameters,
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "tree": tree_state,
    }
    arrays = prefixed("tree", tree_arrays)
    if model._projection is not None and model._projection.signs is not None:
        arrays["projection"] = (model._projection.signs + 1).astype(np.uint8)
    if model._refined is not None:
        arrays |= prefixed("refined", features_in_file.to_file(model._refined.features)[1])
    if model._labelled is not None:
        counted = features_in_file.to_file(model._labelled.features)[1] | {"rows": model._labelled.rows}
        arrays |= prefixed("labelled", counted)
    if model._cut_options:
        state["cut"] = {name: _plain(value) for name, value in model._cut_options.items()}
    clustering = model._clustering
    if clustering is not None:
        state["made_by"] = list(clustering.made_by)
        arrays |= dendrogram_in_file.tree_arrays(clustering.dendrogram) | {"leaf_labels": clustering.leaf_labels}
    return state, arrays


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def from_file(state: dict[str, Any], arrays: Arrays, cls: type[Model]) -> Model:
    """The stored model; raises ValueError, KeyError or TypeError if the content is not a model."""
    state = _updated(state)
    model = _unfitted(cls, state["parameters"])
    tree = tree_in_file.from_file(state["tree"], under("tree", arrays))
    columns = as_count(state["n_features"], "n_features")
    model.n_features_in_ = columns
    if state["feature_names"] is not None:
        model.feature_names_in_ = _checked_names(state["feature_names"], columns)
    model._take(tree)
    if refined := under("refined", arrays):
        leaves = features_in_file.from_file({}, refined)
        if not (leaves.weight > 0).all():
            raise ValueError("it has refined leaves of no weight")
        model._refined = Refined(leaves, may_list=model.max_memory is None)
    model._projection = _checked_projection(arrays["projection"], columns) if "projection" in arrays else None
    if model._projection is not None:
        columns = model._projection.n_components
    if {columns} != {tree.features.n_dimensions, model.features_.n_dimensions}:
        raise ValueError(f"its leaves do not all have {columns} columns")
    if labelled := under("labelled", arrays):
        model._labelled = _restored_labelled(labelled, model.features_)
    if "cut" in state:
        model._adaptive = AdaptiveCut(model.n_clusters, model.distance_threshold, _checked_cut(state["cut"]))
    if "made_by" in state:
        model._set_clustering(_restored_clustering(state["made_by"], arrays, model.features_))
    return model


def _checked_cut(options: Any) -> dict[str, Any]:
    """The options of an adaptive cut, each of them checked as `Dendrogram.cut` checks it."""
    if not isinstance(options, dict) or not options or not set(options) <= {"method", "min_size", "max_size", "noise"}:
        raise ValueError("its cut is none that this version knows")
    as_choice(options.get("method", "level"), "cut.method", CUT_METHODS)
    for name in ("min_size", "max_size"):
        as_size(options.get(name), name)
    as_flag(options.get("noise", False), "noise")
    return options


def _restored_labelled(arrays: Arrays, features: ClusterFeatures) -> LabelledLeaves:
    rows, labelled = arrays["rows"], features_in_file.from_file({}, arrays)
    if labelled.mean.shape != features.mean.shape:
        raise ValueError("its labelled rows are not summed up for each leaf")
    counts = rows.dtype == np.int64 and rows.shape == (len(features),) and rows.min() >= 0
    if not counts or not np.array_equal(rows > 0, labelled.weight > 0):
        raise ValueError("its numbers of labelled rows are not whole numbers, one for each leaf")
    if not labelled.weight.any():
        raise ValueError("its labelled rows have no weight")
    return LabelledLeaves(rows, labelled)


def _updated(state: dict[str, Any]) -> dict[str, Any]:
    """The state of a file up to 0.2 in today's form: the metric was part of the preparation, and all heights were
    Euclidean. A dendrogram whose heights are cosine distances today is left out, so it is computed again.
    """
    parameters = dict(state["parameters"])
    if "metric" in parameters:
        return state
    run = state.get("run") or {"preparation": {"metric": "euclidean"}}
    parameters["metric"] = run["preparation"]["metric"]
    state = state | {"parameters": parameters}
    if parameters["metric"] == "cosine" and not heights_are_euclidean(parameters["linkage"], parameters["mode"]):
        if parameters["distance_threshold"] is not None:
            parameters["distance_threshold"] = parameters["distance_threshold"] ** 2 / 2
        state.pop("made_by", None)
    return state


def _unfitted(cls: type[Model], parameters: dict[str, Any]) -> Model:
    """An unfitted model with these parameters, checked. n_jobs may exceed the cores of this machine."""
    n_jobs = parameters["n_jobs"]
    if n_jobs is not None and (type(n_jobs) is not int or n_jobs == 0):
        raise ValueError(f"{parameter('n_jobs', n_jobs)}: a whole number or None is needed")
    model = cls(**parameters | {"n_jobs": None, "device": None})
    model._new_tree()
    model.n_jobs = n_jobs
    return model


def _checked_projection(stored: NDArray[Any], columns: int) -> Projection:
    if stored.dtype != np.uint8 or stored.ndim != 2 or len(stored) != columns or stored.max(initial=0) > 2:
        raise ValueError(f"its projection is not one of {columns} columns")
    return Projection(stored.shape[1], stored.astype(np.int8) - np.int8(1))


def _checked_names(names: Any, columns: int) -> NDArray[Any]:
    if not isinstance(names, list) or len(names) != columns or not all(isinstance(name, str) for name in names):
        raise ValueError(f"its feature names are not {columns} texts")
    return np.array(names, dtype=object)


def _restored_clustering(made_by: Any, arrays: Arrays, features: ClusterFeatures) -> Clustering:
    linkage, mode, algorithm = made_by
    as_method(linkage, as_choice(mode, "mode", MODES), "linkage")
    as_choice(algorithm, "algorithm", ALGORITHMS)
    dendrogram = dendrogram_in_file.with_features(arrays, features)
    labels = arrays["leaf_labels"]
    if labels.dtype != np.int64 or labels.shape != (len(features),):
        raise ValueError("its labels are not one for each leaf")
    in_cluster = labels >= 0
    if labels.min() < -1 or labels.max() >= len(labels) or not np.bincount(labels[in_cluster]).all():
        raise ValueError("its labels are not numbers from 0 without a gap, or -1")
    # Version 0.1 numbered clusters by their first row.
    labels[in_cluster] = numbered_by_weight(labels[in_cluster], features.weight[in_cluster])
    return Clustering(dendrogram, (linkage, mode, algorithm), labels)
