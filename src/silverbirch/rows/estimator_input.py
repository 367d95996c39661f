"""What an estimator was given: rows of the right width and names, whatever holds them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from ..checks import Rows, as_any_rows, as_rows
from . import RowSource, is_stream, read_chunks
from .batches import Batches, batches_of_frame, batches_of_rows, batches_of_source
from .formats.frames import is_frame

_AS_ROWS = {"dtype": [np.float64, np.float32], "order": "C"}


def checked_array(estimator: Any, X: Any, *, reset: bool) -> Rows:
    return _finite_rows(estimator, _any_array(estimator, X, reset=reset))


def _any_array(estimator: Any, X: Any, *, reset: bool) -> Any:
    return validate_data(estimator, X, reset=reset, ensure_all_finite=False, **_AS_ROWS)


def batches_for(estimator: Any, X: Any, sample_weight: Any, *, reset: bool, checked: bool = True) -> Batches:
    """The rows in batches; values of tables, files and streams are checked when their turn comes. If not `checked`,
    whoever takes an array looks at its values, within `usual_words`."""
    if is_stream(X):
        source = read_chunks(X)
        _check_columns(estimator, source, reset=reset)
        return batches_of_source(source, sample_weight, weight_name="sample_weight")
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)

        def convert(part: Any, first_row: int) -> Rows:
            array = check_array(part, ensure_all_finite=False, **_AS_ROWS, estimator=estimator, input_name="X")
            return _finite_rows(estimator, array, first_row)

        return batches_of_frame(X, sample_weight, convert, "sample_weight")
    array = _any_array(estimator, X, reset=reset)
    rows = _finite_rows(estimator, array) if checked else as_any_rows(array)
    return batches_of_rows(rows, sample_weight, "sample_weight", checked=checked)


def _finite_rows(estimator: Any, array: Any, first_row: int = 0) -> Rows:
    with usual_words(estimator, array):
        return as_rows(array, first_row=first_row)


@contextlib.contextmanager
def usual_words(estimator: Any, X: Any) -> Iterator[None]:
    """Values are looked at once, by the core; what it refuses is refused in scikit-learn's words, where it has some."""
    try:
        yield
    except ValueError:
        if not (is_stream(X) or is_frame(X)):  # those were checked when they were read
            check_array(X, **_AS_ROWS, estimator=estimator, input_name="X")
        raise


def _check_columns(estimator: Any, source: RowSource, *, reset: bool) -> None:
    """What `validate_data` does for tables in memory."""
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
