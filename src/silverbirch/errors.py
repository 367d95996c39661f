"""The package's own exceptions. Bad values raise ValueError or TypeError, as everywhere.

ValueError
 ├─ MemoryLimitError   (also a MemoryError)
 └─ ModelFileError
"""


class MemoryLimitError(ValueError, MemoryError):
    """A step would need more memory than `max_memory` allows or than the machine has. Raised before it is allocated."""


class ModelFileError(ValueError):
    """A file is damaged, of another kind, or written by a newer version."""
