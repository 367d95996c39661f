"""`silverbirch` and `python -m silverbirch`; without the extra `cli`, one line that says what is missing."""

import signal
import sys


def main() -> None:
    _end_cleanly_when_told_to()
    try:
        from .cli import app
    except ImportError as error:
        sys.exit(f"the command line needs {error.name}: pip install 'silverbirch[cli]'")
    except KeyboardInterrupt:
        sys.exit("Error: interrupted")
    app()


def _end_cleanly_when_told_to() -> None:
    """A request to end is an interrupt: what is half written is removed. Where it is ignored (nohup), it stays so."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # not every system has both
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


if __name__ == "__main__":
    main()
