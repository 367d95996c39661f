"""Hierarchical clustering without the quadratic wall.

Cluster
    linkage          -- exact dendrogram of points, distances or cluster features; scipy's Z
    Betula           -- aggregate, then cluster: the scikit-learn estimator for any number of rows

Aggregate
    CFTree           -- any number of rows into a bounded number of cluster features, one pass
    ClusterFeatures  -- (weight, mean, sse): what leaves the tree and enters the linkage

Read the rows
    read_chunks      -- files, tables and streams of any size as chunks of rows

Read the result
    Dendrogram       -- cut it, measure it, draw it, export it

Keep it
    load             -- what a file holds: each of the classes has `save` and `load`

Errors
    MemoryLimitError -- more memory would be needed than allowed or there is
    ModelFileError   -- a file is not what it should be
"""

from typing import TYPE_CHECKING, Any

from .dendrogram import Dendrogram
from .errors import MemoryLimitError, ModelFileError
from .features import ClusterFeatures
from .linkage import linkage
from .storage.loading import load
from .tree import CFTree

if TYPE_CHECKING:
    from .estimator import Betula
    from .rows import read_chunks

__version__ = "0.1.0"

__all__ = [
    "Betula",
    "CFTree",
    "ClusterFeatures",
    "Dendrogram",
    "MemoryLimitError",
    "ModelFileError",
    "linkage",
    "load",
    "read_chunks",
]


def __getattr__(name: str) -> Any:
    # scikit-learn is loaded on first use: a small device that only aggregates loads numpy alone.
    if name == "Betula":
        from .estimator import Betula

        return Betula
    if name == "read_chunks":
        from .rows import read_chunks

        return read_chunks
    raise AttributeError(f"module 'silverbirch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
