"""The texts of all rows, by which the page finds them and names its leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from .packing import Packed
from .payload import Payload
from .representatives import MOST_ROWS_OF_PAGE, Shown
from .showing import TEXT, shortened

_MOST_LETTERS = 3_000_000  # of all texts together
_MOST_OF_TEXT = 100


def add_texts(payload: Payload, shown: Shown, leaf_of_row: Any) -> None:
    """Adds the texts of all rows, of as many columns as fit, the first ones first.

    Without the leaf of each row, values are those of the leaves, or there are too many rows for a page.
    """
    n_leaves = len(shown.row_of_leaf)
    of_leaves = leaf_of_row is None and np.array_equal(shown.row_of_leaf, np.arange(n_leaves))
    n_rows = n_leaves if of_leaves else 0 if leaf_of_row is None else len(leaf_of_row)
    if not 0 < n_rows <= MOST_ROWS_OF_PAGE:
        return
    places = [i for i, kind in enumerate(payload.header["representatives"]["kinds"]) if kind == TEXT]
    texts: list[list[str | None]] = []
    letters = 0
    for column in shown.values(np.arange(n_rows), places) if places else []:
        short = shortened(column, _MOST_OF_TEXT)
        letters += sum(len(text or "") for text in short)
        if letters > _MOST_LETTERS:
            break
        texts.append(short)
    if texts:
        payload.header["texts"] = texts
        if not of_leaves:
            payload.arrays["leaf_row"] = Packed(shown.row_of_leaf.astype(np.int32))
