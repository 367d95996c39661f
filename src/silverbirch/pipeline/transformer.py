"""A model with its preparation as a scikit-learn pipeline, which takes rows as they are in the files."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from ..estimator import Betula
from ..rows import read_chunks
from ..rows.paths import are_paths
from .provenance import RunState


class RowPreparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The first step of the pipeline: prepares rows as the run did. The run has fitted it."""

    def __init__(self, state: RunState | None = None) -> None:
        self.state = state

    def fit(self, X: Any, y: Any = None) -> Self:
        raise TypeError("this preparation was loaded and cannot be fitted: run `silverbirch cluster` to make a new one")

    def __sklearn_is_fitted__(self) -> bool:
        return self.state is not None

    def transform(self, X: Any) -> NDArray[Any]:
        """Returns the prepared rows. X is anything that `read_chunks` takes, with the columns of the run."""
        assert self.state is not None
        as_chosen = hasattr(X, "__dlpack__") or (isinstance(X, list) and not are_paths(X))  # arrays have no names
        source = read_chunks(X, columns=None if as_chosen else self.state.to_read, times=self.state.times)
        parts = []
        for chunk in source.chunks():
            prepared = self.state.preparation.apply(chunk, source)
            if prepared.left_out is not None:
                at = source.place_in(chunk, int(np.argmax(prepared.left_out)))
                raise ValueError(f"a value is missing in {at}: drop such rows before, as the run did")
            parts.append(prepared.rows)
        return np.concatenate(parts)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns that the run read."""
        if self.state is None or self.state.columns is None:
            raise AttributeError("the columns have no names")
        return np.array(self.state.columns, dtype=object)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Returns the names of the columns: the preparation keeps them."""
        return self.feature_names_in_

    @available_if(lambda self: self.state is not None and self.state.preparation.can_be_undone)  # type: ignore[untyped-decorator]
    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Returns rows in the units before they were scaled."""
        assert self.state is not None
        return self.state.preparation.undo(np.asarray(X))


def prepared_model(model: Betula, state: RunState) -> Betula | Pipeline:
    """The model itself, or a pipeline if rows must be prepared before the model."""
    if not state.preparation.changes_rows:
        return model
    model.__dict__.pop("feature_names_in_", None)  # the first step checks the names
    return Pipeline([("prepare", RowPreparation(state)), ("cluster", model)])
