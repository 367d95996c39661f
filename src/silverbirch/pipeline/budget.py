"""What a limit for the whole process leaves for the tree and the clustering."""

from ..checks import as_bytes, bytes_text

# Python, the libraries, and the chunks on their way; tests/test_cli_memory.py holds it.
PROGRAM_BYTES = 220_000_000
_LEAST = 1_000_000


def model_memory(max_memory: int | str | None) -> int | None:
    if max_memory is None:
        return None
    left = as_bytes(max_memory) - PROGRAM_BYTES
    if left < _LEAST:
        raise ValueError(
            f"max_memory={max_memory}: Python, its libraries and the rows on their way take "
            f"{bytes_text(PROGRAM_BYTES)} of it; give more"
        )
    return left
