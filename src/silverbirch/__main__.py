"""`silverbirch` and `python -m silverbirch`; without the extra `cli`, one line that says what is missing."""

import sys


def main() -> None:
    try:
        from .cli import app
    except ImportError as error:
        sys.exit(f"the command line needs {error.name}: pip install 'silverbirch[cli]'")
    app()


if __name__ == "__main__":
    main()
