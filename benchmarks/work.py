"""What a measurement consists of."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Work(NamedTuple):
    run: Callable[[], Any]
    describe: Callable[[Any], dict[str, Any]]  # "heights", where there are some, are compared between libraries
    repeatable: bool = True  # whether run may be called again for a better measurement
