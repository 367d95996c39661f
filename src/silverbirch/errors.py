"""The package's own exceptions. Other bad values raise ValueError or TypeError.

ValueError
 ├─ MemoryLimitError   (also a MemoryError)
 └─ ModelFileError
"""


class MemoryLimitError(ValueError, MemoryError):
    """A step needs more memory than `max_memory` allows or the machine has; raised before the memory is allocated.

    Examples
    --------
    >>> import numpy as np, silverbirch as sb
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> sb.Betula(5, linkage="minimax", max_memory="100kB").fit(X)
    Traceback (most recent call last):
        ...
    silverbirch.errors.MemoryLimitError: minimax linkage of ... objects needs ...
    """


class ModelFileError(ValueError):
    """A file is damaged, holds something else, or was written by a newer version.

    Examples
    --------
    >>> from pathlib import Path
    >>> import silverbirch as sb
    >>> _ = Path("notes.sb").write_text("not a model")
    >>> sb.load("notes.sb")
    Traceback (most recent call last):
        ...
    silverbirch.errors.ModelFileError: notes.sb is not a whole silverbirch file: ...
    """
