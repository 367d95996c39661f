"""What this machine is, and what memory this process has and has had."""

import platform
import sys
from pathlib import Path


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()


def peak_memory() -> int | None:
    """The most bytes so far; None where the system does not say."""
    # On Linux getrusage would include the process that this one was started from.
    return _of_linux("VmHWM") or _of_getrusage()


def memory_now() -> int | None:
    """In bytes; None where the system does not say."""
    return _of_linux("VmRSS")


def _of_linux(name: str) -> int | None:
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            line = next((line for line in file if line.startswith(f"{name}:")), None)
    except OSError:
        return None
    return None if line is None else int(line.split()[1]) * 1024


def _of_getrusage() -> int | None:
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(most if sys.platform == "darwin" else most * 1024)
