"""The model at the end of a scikit-learn pipeline, and the way back to the columns that the pipeline was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model import AggregateModel
from .clusters import Original

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


def parts_of(model: AggregateModel | Pipeline) -> tuple[AggregateModel, list[str] | None, Original | None]:
    """The model, the names of the columns to show, and the function that takes centres back to their units.

    The names and the function are None where a model is alone or the other steps do not know them.
    """
    if isinstance(model, AggregateModel):
        return model, None, None
    steps: list[Any] = getattr(model, "steps", [])
    last = steps[-1][1] if steps else None
    if not isinstance(last, AggregateModel):
        raise TypeError(f"model is a {type(model).__name__}: pass a fitted Betula, or a Pipeline that ends in one")
    if len(steps) == 1 or last.features_.n_dimensions != last.n_features_in_:  # a projection has columns of its own
        return last, None, None
    before: Any = model[:-1]
    if last._metric == "euclidean" and hasattr(before, "inverse_transform"):  # else centres are means of directions
        return last, _as_list(getattr(before, "feature_names_in_", None)), before.inverse_transform
    return last, _names_after(before), None


def _names_after(steps: Any) -> list[str] | None:
    """The names of the columns that the steps return, without the names of the steps before them."""
    try:
        names = steps.get_feature_names_out()
    except (AttributeError, ValueError):  # a step that does not know them
        return None
    return _as_list(names)


def _as_list(names: Any) -> list[str] | None:
    return None if names is None else [str(name) for name in names]
