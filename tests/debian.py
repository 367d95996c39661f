"""Installs packages of Debian that tests need and pip does not have."""

import os
import shutil
import subprocess
import sys


def install(package, by_hand):
    """Installs a package by apt-get; ends the program with `by_hand` if that is not possible."""
    apt = shutil.which("apt-get")
    sudo = [] if os.geteuid() == 0 else [shutil.which("sudo")]
    if apt is None or None in sudo:
        missing = "apt-get" if apt is None else "sudo"
        sys.exit(f"there is no {package}, and without {missing} it cannot be installed from here: {by_hand}")
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": sys.stderr}
    # A fresh machine has no lists of packages; one that has them needs no new ones.
    command = [*sudo, apt, "install", "--yes", "--no-install-recommends", package]
    if subprocess.run(command, **quiet).returncode:
        updated = subprocess.run([*sudo, apt, "update"], **quiet)
        if updated.returncode or subprocess.run(command, **quiet).returncode:
            sys.exit(f"apt-get could not install {package}: {by_hand}")
