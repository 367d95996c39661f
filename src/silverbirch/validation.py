"""Checks the rows given to a scikit-learn estimator; the errors for arrays are those of scikit-learn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from .checks import is_sparse
from .rows import RowSource, source_of
from .rows.formats.annotated import is_annotated
from .rows.gpu_source import GpuSource
from .rows.memory_source import ArraySource, MemorySource
from .rows.projected_source import SparseSource


def rows_for(estimator: Any, X: Any, sample_weight: Any = None, *, reset: bool) -> RowSource:
    """The source of the rows given to an estimator. With `reset`, the estimator stores their width and names."""
    check = partial(check_array, dtype=[np.float64, np.float32], order="C", estimator=estimator, input_name="X")
    # The core checks the values once. If it finds a bad value, scikit-learn's own check raises the error.
    matrix = X.X if is_annotated(X) else X
    if getattr(estimator, "projection", None) is not None and is_sparse(matrix):
        source: RowSource = SparseSource(check(matrix, accept_sparse="csr"))
    else:
        source = source_of(X, convert=partial(check, ensure_all_finite=False), complain=check)
    if isinstance(source, MemorySource):
        known = source.array if isinstance(source, ArraySource | GpuSource) else matrix
        validate_data(estimator, known, reset=reset, skip_check_array=True)
    else:
        _check_columns(estimator, source, reset=reset)
    return source_of(source, sample_weight, weight_name="sample_weight")


def _check_columns(estimator: Any, source: RowSource, *, reset: bool) -> None:
    """Checks width and names as scikit-learn's `validate_data` does, for rows that are not in memory."""
    names = None if source.names is None else np.array(source.names, dtype=object)
    if reset:
        estimator.n_features_in_ = source.n_dimensions
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = names
        return
    if source.n_dimensions != estimator.n_features_in_:
        raise ValueError(
            f"X has {source.n_dimensions} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input: choose them by read_chunks(…, columns=…)"
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and names is not None and list(names) != list(known):
        raise ValueError(
            f"X has columns {_some(names)}, but the model was fitted to {_some(known)}: choose them, in this order, by "
            "read_chunks(…, columns=…)"
        )


def _some(names: NDArray[Any]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
