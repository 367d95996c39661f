"""Hierarchical clustering without the quadratic wall.

Cluster
    linkage          -- the exact dendrogram of points, distances or cluster features, as scipy's Z
    Betula           -- the scikit-learn estimator for any number of rows: aggregates, then clusters
    AgglomerativeClustering
                     -- scikit-learn's class over the exact `linkage`

Aggregate
    CFTree           -- turns any number of rows into a bounded number of cluster features, in one pass
    ClusterFeatures  -- (weight, mean, sse) of groups of rows: the tree returns them, `linkage` takes them

Read rows
    read_chunks      -- reads files, tables and streams of any size in chunks of rows

Use the result
    Dendrogram       -- cuts, measures, draws and exports a dendrogram
    dendrogram       -- draws one as scipy's function does, however deep it is
    clustermap       -- draws a heat map of any number of rows with its dendrograms
    leaf_order       -- the order of its leaves in which neighbours are near
    write_report     -- writes a page about a fitted model
    explore          -- the same page as a widget for notebooks

Files
    load             -- loads the object that a file holds; each class also has `save` and `load`

Many machines: the modules silverbirch.dask and silverbirch.spark, with an `aggregate` and a `Betula` each

Errors
    MemoryLimitError -- a step needs more memory than is allowed or than the machine has
    ModelFileError   -- a file is damaged or holds something else
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False  # type checkers take it for true; importing typing would take longer than all the rest here
if TYPE_CHECKING:
    from typing import Any

    from .agglomerative import AgglomerativeClustering
    from .dendrogram import Dendrogram
    from .errors import MemoryLimitError, ModelFileError
    from .estimator import Betula
    from .features import ClusterFeatures
    from .linkage import leaf_order, linkage
    from .plot.clustermap import clustermap
    from .plot.scipy_dendrogram import dendrogram
    from .report import write_report
    from .report.widget import explore
    from .rows import read_chunks
    from .storage.loading import load
    from .tree import CFTree

__version__ = "0.6.0"

__all__ = [
    "AgglomerativeClustering",
    "Betula",
    "CFTree",
    "ClusterFeatures",
    "Dendrogram",
    "MemoryLimitError",
    "ModelFileError",
    "clustermap",
    "dendrogram",
    "explore",
    "leaf_order",
    "linkage",
    "load",
    "read_chunks",
    "write_report",
]

# The module of each name. A name is imported on its first use: numpy alone for most of them, scikit-learn for the
# estimators. So the command line has nothing to load before it is ready for signals.
_MODULES = {
    "AgglomerativeClustering": ".agglomerative",
    "Betula": ".estimator",
    "CFTree": ".tree",
    "ClusterFeatures": ".features",
    "Dendrogram": ".dendrogram",
    "MemoryLimitError": ".errors",
    "ModelFileError": ".errors",
    "clustermap": ".plot.clustermap",
    "dendrogram": ".plot.scipy_dendrogram",
    "explore": ".report.widget",
    "leaf_order": ".linkage",
    "linkage": ".linkage",
    "load": ".storage.loading",
    "read_chunks": ".rows",
    "write_report": ".report",
}


class _Package(ModuleType):
    """This package: when its subpackages `linkage` and `dendrogram` are imported, these names stay the functions."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _MODULES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:  # cloudpickle sends functions with the modules that they name
        from importlib import import_module

        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(_MODULES[name], __name__), name)
    raise AttributeError(f"module 'silverbirch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
