"""What a user gives a page beside the model: rows, what is shown of them, and coordinates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dendrogram import Dendrogram
from ..dendrogram.suggestion import Suggestion
from ..model import AggregateModel
from ..rows import RowSource, read_chunks
from ..rows.formats.frames import is_arrow, is_frame
from ..rows.frame_rows import has_lists
from ..rows.paths import are_paths, is_path
from .contents import Extras
from .representatives import Shown, Values, first_rows, kept_values, nearest_rows, values_in_memory
from .scatter import places_of_leaves

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

_QUICK_COLUMNS = 50  # up to this many the suggestion of k takes some seconds


def extras_of_model(
    model: AggregateModel | Pipeline, last: AggregateModel, rows: Any, show: Any, coordinates: Any, suggest: Any
) -> Extras:
    """last : the model itself, or the last step of the pipeline"""
    n_leaves = last.dendrogram_.n_leaves
    # Those of the last batch of a stream are not those of all rows.
    leaf_of_row = getattr(last, "_leaf_of_row", None) if getattr(last, "_batch", None) is None else None
    shown = None
    if rows is not None:
        names, source, values = opened(model, last, rows, show)
        nearest = nearest_rows(last, source)
        leaf_of_row = nearest.leaf_of_row
        if values is not None:
            _check_length(names, values, nearest.seen)
            shown = Shown(names, _getter(values), nearest.row, nearest.points)
    elif show is not None:
        shown = _shown_without_rows(last, leaf_of_row, show)
    places = None if coordinates is None else places_of_leaves(coordinates, n_leaves, leaf_of_row)
    return Extras(shown, places, leaf_of_row, _suggestion(last, suggest))


def extras_of_dendrogram(dendrogram: Dendrogram, show: Any, coordinates: Any, suggest: Any) -> Extras:
    """Values and coordinates are those of the leaves. A suggestion has to be given: it depends on the linkage."""
    if suggest is not None and not isinstance(suggest, Suggestion):
        raise TypeError(
            f"a Suggestion is expected, not {suggest!r}: give the result of Dendrogram.suggest, which has to know the "
            "linkage that made the dendrogram"
        )
    n_leaves, shown = dendrogram.n_leaves, None
    if show is not None:
        names, columns = _as_columns(show)
        _check_length(names, columns, n_leaves, "leaves")
        shown = Shown(names, values_in_memory(columns), np.arange(n_leaves))
    places = None if coordinates is None else places_of_leaves(coordinates, n_leaves, None)
    return Extras(shown, places, suggestion=suggest)


def opened(
    model: AggregateModel | Pipeline, last: AggregateModel, rows: Any, show: Any
) -> tuple[list[str], RowSource, list[Sequence[Any]] | Values | None]:
    """The names of what is shown, the rows as the last step takes them, and the values to show: None without any."""
    known = getattr(model, "feature_names_in_", None)
    columns = None if known is None else [str(name) for name in known]
    by_name = _names_of_columns(rows, show)
    names = by_name or []
    values: list[Sequence[Any]] | Values | None = None
    if isinstance(rows, RowSource):
        data = rows
    elif is_path(rows) or are_paths(rows) or is_arrow(rows) or (is_frame(rows) and has_lists(rows)):
        data = read_chunks(rows, columns=None if columns is None else _without_places(columns), keep=by_name)
    else:
        if is_frame(rows) and by_name is not None:
            values = [_as_list(rows[name]) for name in by_name]
        data = rows[columns] if is_frame(rows) and columns is not None else rows
    if by_name is not None and values is None:
        values = kept_values(_with_columns(data, by_name), by_name)
    if show is not None and by_name is None:
        names, values = _as_columns(show)
    if model is not last:
        before: Any = model[:-1]  # type: ignore[index]
        data = before.transform(rows if isinstance(data, RowSource) else data)
    return names, last._source(data), values


def _names_of_columns(rows: Any, show: Any) -> list[str] | None:
    """The columns of a table that `show` names; None if it has values of its own."""
    if isinstance(show, str):
        return [show]
    names = show if isinstance(show, list | tuple) and show and all(isinstance(name, str) for name in show) else None
    if names is None:
        return None
    if isinstance(rows, RowSource):
        there: Sequence[str] = rows.kept
    elif is_frame(rows):
        there = [str(name) for name in rows.columns]
    elif is_arrow(rows):
        there = rows.schema.names
    elif is_path(rows) or are_paths(rows):
        return list(names)  # a text for each row of a file would be a column of the file
    else:
        return None
    return list(names) if set(names) <= set(there) else None


def _with_columns(data: Any, names: list[str]) -> RowSource:
    if not isinstance(data, RowSource):
        raise TypeError(
            f"the rows are of type {type(data).__name__} and have no column {names[0]!r}: give a data frame or a file, "
            "or one value for each row"
        )
    missing = [name for name in names if name not in data.kept]
    if missing:
        raise ValueError(f"the rows have no column {missing[0]!r} beside the data: read it by read_chunks(…, keep=…)")
    if not data.repeatable:
        raise ValueError("the rows are read twice, but a stream can be read only once: write it to a file")
    return data


def _without_places(columns: list[str]) -> list[str]:
    """The names to read: the columns "e[0]", "e[1]", … come from one column "e" of lists."""
    return list(dict.fromkeys(re.sub(r"\[\d+\]$", "", name) for name in columns))


def _as_columns(show: Any) -> tuple[list[str], list[Sequence[Any]]]:
    if isinstance(show, Mapping):
        return [str(name) for name in show], [_as_list(values) for values in show.values()]
    if is_frame(show):
        return [str(name) for name in show.columns], [_as_list(show[name]) for name in show.columns]
    name = getattr(show, "name", None)
    return [name if isinstance(name, str) else "shown"], [_as_list(show)]


def _as_list(values: Any) -> Sequence[Any]:
    """Values that an index finds by their place: a column of pandas finds them by its own index."""
    if isinstance(values, list | tuple | np.ndarray):
        return values  # type: ignore[return-value]
    found: Sequence[Any] = values.to_list() if hasattr(values, "to_list") else list(values)
    return found


def _check_length(names: list[str], values: Any, count: int, what: str = "rows") -> None:
    if callable(values):
        return
    for name, column in zip(names, values, strict=True):
        if len(column) != count:
            raise ValueError(f"{len(column):,} values of {name!r} but {count:,} {what}: one for each is needed")


def _getter(values: list[Sequence[Any]] | Values) -> Values:
    return values if callable(values) else values_in_memory(values)


def _shown_without_rows(last: AggregateModel, leaf_of_row: Any, show: Any) -> Shown:
    """Values of the rows given to `fit`, where each leaf holds equal rows only; any of them stands for the leaf."""
    if leaf_of_row is None or last.features_.sse.any():
        raise ValueError(
            "values of rows are given to be shown, but not the rows: give them too, as `fit` takes them, to find those "
            "that stand for a branch"
        )
    if isinstance(show, str):
        raise ValueError(f"a column {show!r} is to be shown, but no rows are given: give a data frame or a file")
    names, columns = _as_columns(show)
    _check_length(names, columns, len(leaf_of_row))
    return Shown(names, values_in_memory(columns), first_rows(leaf_of_row, last.dendrogram_.n_leaves))


def _suggestion(model: AggregateModel, suggest: Any) -> Suggestion | None:
    if isinstance(suggest, Suggestion):
        return suggest
    quick = model.features_.n_dimensions <= _QUICK_COLUMNS
    if suggest is False or (suggest is None and not quick) or model.dendrogram_.n_leaves < 2:
        return None
    return model.choose_k()
