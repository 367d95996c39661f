"""The machine and the versions that a row was measured with; every raw row holds them."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from .jobs import MACHINE

# implementation -> the distribution that holds it
DISTRIBUTIONS = {
    "silverbirch": "silverbirch",
    "scipy": "scipy",
    "scipy.cKDTree": "scipy",
    "fastcluster": "fastcluster",
    "fastcluster.linkage_vector": "fastcluster",
    "scikit-learn": "scikit-learn",
    "genieclust": "genieclust",
    "quitefastmst": "quitefastmst",
    "betula-cluster": "betula-cluster",
    "betulars": "betulars",
    "torch": "torch",
}


def installed(implementation: str) -> bool:
    return implementation.startswith("silverbirch") or implementation == MACHINE or version(implementation) is not None


def version(implementation: str) -> str | None:
    if implementation == "silverbirch":
        import silverbirch

        return silverbirch.__version__
    try:
        return metadata.version(DISTRIBUTIONS[implementation])
    except metadata.PackageNotFoundError:
        return None


def gpu() -> str | None:
    """The first GPU of NVIDIA."""
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


def describe() -> dict[str, Any]:
    import numpy

    from silverbirch import _core
    from silverbirch.machine import processor

    versions = {name: version(name) for name in DISTRIBUTIONS if "." not in name}
    return {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "gpu": gpu(),
        "instruction_set": _core.instruction_set(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "versions": {name: text for name, text in versions.items() if text is not None},
        "commit": _commit(),
    }


def _commit() -> str | None:
    """The commit, with a plus sign if files were changed since; None outside a clone."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
