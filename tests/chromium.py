"""The Chromium that opens the interactive page, for its tests and its benchmark.

python tests/chromium.py     prints its path; installs Debian's package first if there is no Chromium
"""

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BY_HAND = "install Chromium by hand and put it on the PATH, or name its file in the variable CHROMIUM"


def installed():
    """The path of an installed Chromium; None if there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def path():
    """The path of an installed Chromium."""
    if found := installed():
        return found
    raise FileNotFoundError(f"none of {', '.join(NAMES)} is on the PATH: run `python tests/chromium.py`, or {BY_HAND}")


if __name__ == "__main__":
    if installed() is None:
        from debian import install

        install("chromium", BY_HAND)
    print(path())
