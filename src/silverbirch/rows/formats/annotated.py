"""AnnData objects: a matrix of observations by variables, and matrices of the same observations in `obsm`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import as_array
from ..columns import Request
from .npy import ArrayTable


def is_annotated(source: Any) -> bool:
    """Whether the source is an AnnData object; does not import anndata."""
    return type(source).__name__ == "AnnData" and hasattr(source, "obsm")


def annotated_table(data: Any, request: Request) -> tuple[ArrayTable, Request]:
    """The table of `X`, whose columns are the variables, or of the matrices of `obsm` that the request names.

    Returns it with the request that remains.
    """
    keys = request.columns or ()
    if keys and all(key in data.obsm for key in keys) and not any(key in data.var_names for key in keys):
        parts = [as_array(data.obsm[key], f"obsm[{key!r}]") for key in keys]
        names = [f"{key}[{number}]" for key, part in zip(keys, parts, strict=True) for number in range(part.shape[1])]
        array = parts[0] if len(parts) == 1 else np.hstack(parts)
        return ArrayTable(array, "X", names), request._replace(columns=None)
    unknown = [key for key in keys if key not in data.var_names]
    if unknown:
        known = ", ".join(map(repr, data.obsm)) or "none"
        raise ValueError(f"X has no variable {unknown[0]!r} and no such matrix in obsm, which has {known}")
    return ArrayTable(data.X, "X.X", list(map(str, data.var_names))), request
