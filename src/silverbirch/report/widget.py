"""The explorer of the page in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..dendrogram import Dendrogram
from ..dendrogram.suggestion import Suggestion
from ..model import AggregateModel
from .clusters import Original, clusters_of
from .contents import dendrogram_payload, labelled_dendrogram, report_payload
from .given import extras_of_dendrogram, extras_of_model
from .pipelines import parts_of

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from .explorer import Explorer


def explore(
    model: AggregateModel | Pipeline | Dendrogram,
    *,
    title: str = "silverbirch",
    column_names: Sequence[str] | None = None,
    inverse_transform: Original | None = None,
    rows: Any = None,
    show: Any = None,
    coordinates: Any = None,
    suggest: bool | Suggestion | None = None,
) -> Explorer:
    """Returns the interactive page as a widget for notebooks.

    What is chosen in the notebook is there in Python, and the other way round: `n_clusters`, `adaptive` and `selected`
    can be read, set and observed, as those of every widget.

    Parameters
    ----------
    model : Betula, Pipeline or Dendrogram
        A fitted model, a fitted scikit-learn pipeline that ends in one, or a dendrogram alone.
    title : str, default "silverbirch"
        The name of the widget for screen readers.
    column_names : list of str, default None
        A name for each column; None for the names that the model or the pipeline was fitted with.
    inverse_transform : function, default None
        Takes an array of centres, returns them in the units to show; None for that of the pipeline.
    rows, show, coordinates, suggest : optional
        Rows that stand for branches, the places of the scatter, and suggested numbers of clusters, as in
        `write_report`; `rows` are for models alone, values and places of a dendrogram are those of its leaves, and its
        suggestion is the result of `Dendrogram.suggest`.

    Returns
    -------
    Explorer
        A widget with `n_clusters` (int, or None at an adaptive cut), `adaptive` (the number of the adaptive cut, or
        None), `selected` (the number of a node, or None), and `labels`, the label of each row at the present cut; of
        each leaf where the rows are not known.

    Raises
    ------
    ImportError
        anywidget is not installed.
    TypeError
        `model` is none of these.
    ValueError
        There is only one leaf, or there are not as many values to show, coordinates or column names as needed.

    Examples
    --------
    >>> import numpy as np, silverbirch as sb
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> explorer = sb.explore(sb.Betula(n_clusters=5).fit(X))
    >>> explorer.n_clusters = 12  # moves the cut in the notebook, too
    >>> int(explorer.labels.max())
    11
    """
    try:
        from .explorer import Explorer
    except ImportError:
        raise ImportError("explore needs anywidget: pip install 'silverbirch[widget]'") from None
    names = None if column_names is None else list(column_names)
    if isinstance(model, Dendrogram):
        _require_merges(model)
        extras = extras_of_dendrogram(model, show, coordinates, suggest)
        return Explorer(model, dendrogram_payload(model, title, names, extras))
    last, known_names, known_inverse = parts_of(model)
    _require_merges(last.dendrogram_)
    original = inverse_transform or known_inverse
    clusters = clusters_of(last, known_names if names is None else names, original)
    extras = extras_of_model(model, last, rows, show, coordinates, suggest)
    payload = report_payload(last, labelled_dendrogram(last), clusters, title, original, extras)
    return Explorer(last.dendrogram_, payload, extras.leaf_of_row)


def _require_merges(dendrogram: Dendrogram) -> None:
    if dendrogram.n_leaves < 2:
        raise ValueError("the dendrogram has only one leaf: there is nothing to explore without two different rows")
