"""The Chromium that opens the interactive page, for its tests and its benchmark.

python tests/chromium.py     prints its path; installs Debian's package first if there is no Chromium
"""

import os
import shutil
import subprocess
import sys

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


def install():
    """Installs Debian's package."""
    apt = shutil.which("apt-get")
    sudo = [] if os.geteuid() == 0 else [shutil.which("sudo")]
    if apt is None or None in sudo:
        missing = "apt-get" if apt is None else "sudo"
        sys.exit(f"no Chromium on the PATH, and without {missing} it cannot be installed from here: {BY_HAND}")
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": sys.stderr}
    # A fresh machine has no lists of packages; one that has them needs no new ones.
    package = [*sudo, apt, "install", "--yes", "--no-install-recommends", "chromium"]
    if subprocess.run(package, **quiet).returncode:
        updated = subprocess.run([*sudo, apt, "update"], **quiet)
        if updated.returncode or subprocess.run(package, **quiet).returncode:
            sys.exit(f"apt-get could not install chromium: {BY_HAND}")


if __name__ == "__main__":
    if installed() is None:
        install()
    print(path())
