"""Prepared models in Python: a scikit-learn pipeline that takes rows as they came in the files."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from ..estimator import Betula
from ..rows import read_chunks
from ..rows.paths import are_paths
from .provenance import RunState


class RowPreparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The first step: what a run did to its rows before they came to the tree. It was fitted by that run."""

    def __init__(self, state: RunState | None = None) -> None:
        self.state = state

    def fit(self, X: Any, y: Any = None) -> Self:
        raise TypeError("this preparation belongs to a model from a file: make a new run to fit another")

    def __sklearn_is_fitted__(self) -> bool:
        return self.state is not None

    def transform(self, X: Any) -> NDArray[Any]:
        """X : rows by the names of the run's columns, or arrays of as many columns; whatever `read_chunks` takes."""
        assert self.state is not None
        as_chosen = isinstance(X, np.ndarray) or (isinstance(X, list) and not are_paths(X))
        source = read_chunks(X, columns=None if as_chosen else self.state.to_read)
        parts = []
        for chunk in source.chunks():
            prepared = self.state.preparation.apply(chunk, source)
            if prepared.weight is not None:
                at = source.place_in(chunk, int(np.argmin(prepared.weight)))
                raise ValueError(f"a value is missing in {at}: drop such rows before, as the run did")
            parts.append(prepared.rows)
        return np.concatenate(parts)


def prepared_model(model: Betula, state: RunState) -> Any:
    """The model itself, or a pipeline where its rows were changed before it saw them."""
    if not state.preparation.changes_rows:
        return model
    model.__dict__.pop("feature_names_in_", None)  # names are the business of the first step
    return Pipeline([("prepare", RowPreparation(state)), ("cluster", model)])
