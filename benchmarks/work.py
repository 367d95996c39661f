"""Work: the function to measure, and the description of its result."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Work(NamedTuple):
    run: Callable[[], Any]
    describe: Callable[[Any], dict[str, Any]]  # "heights" are compared between libraries
    repeatable: bool = True  # whether run may be called again for a better measurement
