"""Saves and loads the four kinds of files: cluster features, a tree, a dendrogram or a fitted model.

A part can be loaded from a file of the whole: the features of a tree, the tree of a model.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..dendrogram import Dendrogram
from ..errors import ModelFileError
from ..features import ClusterFeatures
from ..model import AggregateModel
from ..tree import CFTree
from . import container, dendrogram, features, model, tree

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from ..estimator import Betula


class _Kind(NamedTuple):
    text: str
    cls: type[Any]  # its objects are saved as this kind
    name: str  # of the class whose `load` reads it
    to_file: Callable[[Any], tuple[dict[str, Any], container.Arrays]]
    from_file: Callable[..., Any]  # of (values, arrays, class)
    parts: dict[str, Callable[[Any], Any]]  # kind of a part: its getter, which returns None if the part is absent


_KINDS = {
    "features": _Kind("cluster features", ClusterFeatures, "ClusterFeatures", features.to_file, features.from_file, {}),
    "tree": _Kind(
        "a tree",
        CFTree,
        "CFTree",
        tree.to_file,
        tree.from_file,
        {"features": lambda it: it.features if len(it) else None},
    ),
    "dendrogram": _Kind(
        "a dendrogram",
        Dendrogram,
        "Dendrogram",
        dendrogram.to_file,
        dendrogram.from_file,
        {"features": lambda it: it.features},
    ),
    "model": _Kind(
        "a model",
        AggregateModel,
        "Betula",
        model.to_file,
        model.from_file,
        {"features": lambda it: it.features_, "tree": lambda it: it.tree_, "dendrogram": lambda it: it.dendrogram_},
    ),
}


def save(path: str | os.PathLike[str], thing: Any) -> None:
    """Writes an object of one of the kinds."""
    container.write(path, *content_of(thing))


def content_of(thing: Any) -> tuple[str, dict[str, Any], container.Arrays]:
    """The kind, the plain values and the arrays that the file of an object holds."""
    kind = _kind_of(type(thing))
    return kind, *_KINDS[kind].to_file(thing)


def load(path: str | os.PathLike[str]) -> ClusterFeatures | CFTree | Dendrogram | Betula | Pipeline:
    """Returns the object that a file holds: ClusterFeatures, a CFTree, a Dendrogram or a Betula.

    A model of the command line whose rows were scaled or filled is returned as a scikit-learn pipeline that
    prepares its rows in the same way.

    Parameters
    ----------
    path : str or path
        A file that `save` or the command line wrote.

    Returns
    -------
    ClusterFeatures, CFTree, Dendrogram, Betula or sklearn.pipeline.Pipeline
        The object. No file can run code when it is loaded.

    Raises
    ------
    ModelFileError
        The file is damaged, holds something else, or was written by a newer version.
    MemoryLimitError
        The file is larger than the memory of the machine.

    Examples
    --------
    >>> import silverbirch as sb
    >>> sb.ClusterFeatures(1, [[0.0, 0.0], [3.0, 4.0]], 0).save("features.sb")
    >>> sb.load("features.sb")
    ClusterFeatures(2 features, 2 dimensions, weight 2)
    """
    kind, state, arrays = container.read(path)
    if kind not in _KINDS:
        raise ModelFileError(f"{path} holds a {kind}, none of {', '.join(_KINDS)}")
    if kind != "model":
        loaded: ClusterFeatures | CFTree | Dendrogram = restored(path, kind, state, arrays)
        return loaded
    from ..estimator import Betula  # needs scikit-learn

    whole: Betula = restored(path, kind, state, arrays, Betula)
    if "run" not in state:
        return whole
    from ..pipeline.provenance import RunState
    from ..pipeline.transformer import prepared_model

    return prepared_model(whole, RunState.of_file(path, state, arrays, whole.n_features_in_))


def load_as(cls: Any, path: str | os.PathLike[str]) -> Any:
    """The object of class `cls` from a file of its kind, or of a kind that holds such an object."""
    return object_in(path, container.read(path), cls)


def object_in(path: Any, content: tuple[str, dict[str, Any], container.Arrays], cls: Any) -> Any:
    """The object of class `cls` in the content of a file."""
    wanted = _kind_of(cls)
    kind, state, arrays = content
    if wanted == "model":
        _refuse_prepared(path, state)
    if kind == wanted:
        return restored(path, kind, state, arrays, cls)
    if kind not in _KINDS:
        raise ModelFileError(f"{path} holds a {kind}, not {_KINDS[wanted].text}")
    held = _KINDS[kind]
    if wanted not in held.parts:
        raise ModelFileError(f"{path} holds {held.text}, not {_KINDS[wanted].text}: {held.name}.load reads it")
    part = held.parts[wanted](restored(path, kind, state, arrays))
    if part is None:
        raise ModelFileError(f"{path} holds {held.text} without {_KINDS[wanted].text}: it was saved without")
    return part


def restored(path: Any, kind: str, state: dict[str, Any], arrays: container.Arrays, cls: Any = None) -> Any:
    """The object of that kind. An error that wrong content causes in its checks becomes a ModelFileError."""
    known = _KINDS[kind]
    try:
        return known.from_file(state, arrays, cls or known.cls)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        text = known.text.replace("a ", "a whole ", 1)
        raise ModelFileError(f"{path} does not hold {text}: {container.one_line(error)}") from None


def _kind_of(cls: type[Any]) -> str:
    return next(kind for kind, known in _KINDS.items() if issubclass(cls, known.cls))


def _refuse_prepared(path: Any, state: dict[str, Any]) -> None:
    """Raises ModelFileError if rows must be prepared before the model takes them: the class alone would not do it."""
    run = state.get("run")
    if isinstance(run, dict) and run.get("prepared"):
        raise ModelFileError(
            f"{path} holds a model of rows that were prepared (scaled or filled): silverbirch.load loads "
            "it with that preparation"
        )
