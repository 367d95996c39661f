"""`silverbirch` and `python -m silverbirch`.

Imports take longest at the start, so they are made when everything is ready for signals. A signal to end (Ctrl-C,
SIGTERM, SIGHUP) removes what is half written, says so, and ends the process by that signal: shells see 128 + its
number. The handler raises no exception, because libraries may swallow it. A pipe whose reader has gone (SIGPIPE, as in
`| head`) ends the process silently. Without the extra `cli`, one line says what to install.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_TO_END = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_READER_GONE = [signal.SIGPIPE] if hasattr(signal, "SIGPIPE") else []
_ERASE_BAR = b"\r\x1b[2K\x1b[?25h"  # and show the cursor, which a progress bar hides


def main() -> None:
    ready = [number for number in _TO_END if signal.getsignal(number) != signal.SIG_IGN]  # nohup ignores SIGHUP
    ready += _READER_GONE  # which Python itself ignores
    _end_on(ready, cleanup=lambda: None)
    _silence_libraries()
    try:
        from .storage.temporary import remove_all

        _end_on(ready, cleanup=remove_all)
        from .cli import app
    except ImportError as error:
        sys.exit(f"the command line needs {error.name}: pip install 'silverbirch[cli]'")
    try:
        app()
    finally:  # everything is written: while Python shuts down, a signal has nothing to remove
        for number in ready:
            signal.signal(number, signal.SIG_DFL)


def _end_on(signals: list[int], cleanup: Callable[[], None]) -> None:
    def end(number: int, frame: FrameType | None) -> None:
        cleanup()
        if number not in _READER_GONE:
            with suppress(OSError):  # the terminal may be gone
                os.write(2, (_ERASE_BAR if os.isatty(2) else b"") + b"Error: interrupted\n")
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in signals:
        signal.signal(number, end)


def _silence_libraries() -> None:
    """Keeps warnings of libraries off stderr, unless they are asked for (python -W, PYTHONWARNINGS)."""
    import warnings

    if not sys.warnoptions:
        warnings.showwarning = lambda *_, **__: None
        sys.unraisablehook = lambda _: None  # such as writers that are closed again after the disk was full


if __name__ == "__main__":
    main()
