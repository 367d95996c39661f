"""`silverbirch` and `python -m silverbirch`; without the extra `cli`, one line says what to install."""

import signal
import sys


def main() -> None:
    _treat_termination_as_interrupt()
    try:
        from .cli import app
    except ImportError as error:
        sys.exit(f"the command line needs {error.name}: pip install 'silverbirch[cli]'")
    except KeyboardInterrupt:
        sys.exit("Error: interrupted")
    app()


def _treat_termination_as_interrupt() -> None:
    """SIGTERM and SIGHUP become an interrupt, which removes partial files. Ignored signals (nohup) stay ignored."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # not every system has both
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


if __name__ == "__main__":
    main()
