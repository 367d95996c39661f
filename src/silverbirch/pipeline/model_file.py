"""The file of a model with the state of its run: the preparation of rows, their columns, the record."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..errors import ModelFileError
from ..model import AggregateModel
from ..storage import container
from ..storage import model as model_in_file
from ..storage.loading import restored
from ..storage.model import Model
from .provenance import RunState


def model_content(model: AggregateModel, state: RunState) -> tuple[str, dict[str, Any], container.Arrays]:
    """The kind, the plain values and the arrays of the file."""
    if state.columns is not None:
        model.feature_names_in_ = np.array(state.columns, dtype=object)
    return "model", *state.added_to(*model_in_file.to_file(model))


def read_model(path: str | os.PathLike[str]) -> tuple[AggregateModel, RunState]:
    """The model in a file, and the state of its run."""
    return model_in(path, container.read(path), AggregateModel)


def model_in(
    path: str | os.PathLike[str],
    content: tuple[str, dict[str, Any], container.Arrays],
    cls: type[Model],
) -> tuple[Model, RunState]:
    """The model in the content of a file, as an object of the class, and the state of its run. Errors name `path`."""
    kind, state, arrays = content
    if kind != "model":
        raise ModelFileError(f"{path} is a file of the kind {kind!r}, not a model: `silverbirch cluster` makes models")
    model: Model = restored(path, kind, state, arrays, cls)
    model.progress = False  # the command line and the engines show their own
    return model, RunState.of_file(path, state, arrays, model.n_features_in_)
