"""Sentences that say which parts of a result are exact and which are approximate."""

from __future__ import annotations

from ..checks import LINKAGES
from ..linkage import heights_are_euclidean
from ..model import AggregateModel
from ..wording import parameter
from . import numbers
from .squares import rounding_of


def accuracy_of(model: AggregateModel) -> list[str]:
    aggregated = bool(model.features_.sse.any())
    rounding = rounding_of(model.dendrogram_.n_leaves)
    return [_leaves(model, aggregated), _linkage(model, aggregated), *_labels(model, aggregated), *rounding]


def linkage_name(model: AggregateModel) -> str:
    method = model._made_by[0]
    return "Ward" if method == "ward" else method


def _leaves(model: AggregateModel, aggregated: bool) -> str:
    if not aggregated:
        return "Aggregation: none but of exact duplicates; each leaf holds equal rows only."
    within = numbers.number(model.dendrogram_.rmsd(len(model.features_)))
    all_rows = numbers.number(model.dendrogram_.rmsd(1))
    return (
        f"Aggregation: rows lie {within} (root mean square) from the mean of their leaf, against {all_rows} from the "
        f"mean of all rows. What happens within a leaf is not seen; raise {parameter('max_leaves')} for finer ones."
    )


def _linkage(model: AggregateModel, aggregated: bool) -> str:
    method, mode, _ = model._made_by
    known = LINKAGES.get(method)  # None for the CF distances that are no linkage
    exact = known if known and known.cf_distance else None
    if mode == "centers":
        how = "of the bare means of the leaves, without their weights; approximate."
    elif mode == "aggregation":
        how = "computed from the merged cluster features at each step; exact for the leaves."
    elif not aggregated or (exact and not exact.equal_vote):
        how = "exact for the leaves: the same heights as from all the rows in them."
    elif exact:
        how = "exact from the leaves upwards. It depends on all merges before; those within leaves are not known."
    else:
        how = "of the means of the leaves; approximate, because the rows within them count too."
    if model._metric != "euclidean":
        euclidean = heights_are_euclidean(method, mode)
        heights = "Euclidean distances of rows of unit length" if euclidean else f"{model._metric} distances"
        how += f" Heights are {heights}."
    elif exact and not exact.squared and mode != "centers":
        how += " Heights are root mean squared distances."
    return f"Linkage: {linkage_name(model)}, {how}"


def _labels(model: AggregateModel, aggregated: bool) -> list[str]:
    if not aggregated:
        return ["Labels: each row has the label of its leaf."]
    labels = "Labels: each row has the label of the exactly nearest leaf."
    if model.clusters_.labelled:
        return [
            labels,
            "Counts, centres and rmsd on this page are exact: those of the labelled rows.",
        ]
    return [
        labels,
        "Counts and rmsd on this page are those of the rows as the leaves absorbed them. Rows are labelled by the "
        "nearest leaf, so that the counts of labels differ a little, and the rmsd is a close upper estimate.",
    ]
