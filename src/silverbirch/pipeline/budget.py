"""How much of the memory limit of the process is left for the tree and the clustering."""

from ..checks import as_bytes, bytes_text
from ..wording import parameter

# For Python, the libraries and the chunks being read; tests/cli/test_cli_memory.py measures it.
PROGRAM_BYTES = 220_000_000
_LEAST = 1_000_000


def model_memory(max_memory: int | str | None) -> int | None:
    if max_memory is None:
        return None
    left = as_bytes(max_memory) - PROGRAM_BYTES
    if left < _LEAST:
        raise ValueError(
            f"{parameter('max_memory', max_memory)}: Python, its libraries and the rows being read take "
            f"{bytes_text(PROGRAM_BYTES)} of it; allow more"
        )
    return left
