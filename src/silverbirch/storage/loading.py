"""What model files hold: cluster features, a tree, a dendrogram or a fitted model; each class loads its own kind.

A file that holds more can be read as less: the features of a tree, the tree of a model.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import ModelFileError
from . import container as files


class _Kind(NamedTuple):
    text: str
    module: str
    class_name: str
    parts: dict[str, Callable[[Any], Any]]  # how to get at other kinds it holds; None where it was saved without

    def restored(self, state: dict[str, Any], arrays: files.Arrays) -> Any:
        # Imported on first use: the estimator needs scikit-learn, and all of these import this module.
        cls = getattr(importlib.import_module(f"silverbirch.{self.module}"), self.class_name)
        return cls._from_file(state, arrays)


_KINDS = {
    "features": _Kind("cluster features", "features", "ClusterFeatures", {}),
    "tree": _Kind("a tree", "tree", "CFTree", {"features": lambda tree: tree.features if len(tree) else None}),
    "dendrogram": _Kind("a dendrogram", "dendrogram", "Dendrogram", {"features": lambda whole: whole.features}),
    "model": _Kind(
        "a model",
        "estimator",
        "Betula",
        {
            "features": lambda model: model.features_,
            "tree": lambda model: model.tree_,
            "dendrogram": lambda model: model.dendrogram_,
        },
    ),
}


def load(path: str | os.PathLike[str]) -> Any:
    """What a file holds: ClusterFeatures, a CFTree, a Dendrogram or a Betula; ModelFileError where it is none.

    A model of the command line whose rows were scaled, filled or normalised comes as a scikit-learn pipeline that does
    the same to the rows it is given.
    """
    kind, state, arrays = files.read(path)
    if kind not in _KINDS:
        raise ModelFileError(f"{path} holds a {kind}, none of {', '.join(_KINDS)}")
    whole = restored(path, kind, state, arrays)
    if kind != "model" or "run" not in state:
        return whole
    from ..pipeline.transformer import prepared_model
    from .provenance import RunState

    return prepared_model(whole, RunState.of_file(path, state, arrays, whole.n_features_in_))


def load_as(cls: Any, wanted: str, path: str | os.PathLike[str]) -> Any:
    """The object of class `cls` from a file of the kind wanted, or of one that holds such an object."""
    kind, state, arrays = files.read(path)
    if wanted == "model":
        _refuse_prepared(path, state)
    if kind == wanted:
        return restored(path, kind, state, arrays, cls._from_file)
    if kind not in _KINDS:
        raise ModelFileError(f"{path} holds a {kind}, not {_KINDS[wanted].text}")
    text, _, class_name, parts = _KINDS[kind]
    if wanted not in parts:
        raise ModelFileError(f"{path} holds {text}, not {_KINDS[wanted].text}: {class_name}.load reads it")
    part = parts[wanted](restored(path, kind, state, arrays))
    if part is None:
        raise ModelFileError(f"{path} holds {text} without {_KINDS[wanted].text}: it was saved without")
    return part


def _refuse_prepared(path: Any, state: dict[str, Any]) -> None:
    """A model that cannot take rows as they are must not look like one that can."""
    run = state.get("run")
    if isinstance(run, dict) and run.get("prepared"):
        raise ModelFileError(
            f"{path} holds a model of rows that were prepared (scaled, filled or normalised): silverbirch.load gives "
            "it with that preparation"
        )


def restored(path: Any, kind: str, state: dict[str, Any], arrays: files.Arrays, restore: Any = None) -> Any:
    """What a file of that kind held. Whatever wrong content sets off in the checks becomes one error that names it."""
    try:
        return (restore or _KINDS[kind].restored)(state, arrays)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        text = _KINDS[kind].text.replace("a ", "a whole ", 1)
        raise ModelFileError(f"{path} does not hold {text}: {files.one_line(error)}") from None
