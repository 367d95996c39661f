"""What this machine is, what memory it has, and what memory this process has and has had."""

import os
import platform
import sys


def processor() -> str:
    return _of_linux("cpuinfo", "model name") or platform.processor() or platform.machine()


def physical_memory() -> int | None:
    """The bytes that the machine has; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def free_memory() -> int | None:
    """The bytes that the machine can still give; None where the system does not say."""
    return _bytes_of_linux("meminfo", "MemAvailable")


def peak_memory() -> int | None:
    """The most bytes this process has had so far; None where the system does not say."""
    # On Linux getrusage would include the process that this one was started from.
    return _bytes_of_linux("self/status", "VmHWM") or _of_getrusage()


def memory_now() -> int | None:
    """The bytes this process has; None where the system does not say."""
    return _bytes_of_linux("self/status", "VmRSS")


def _bytes_of_linux(file: str, name: str) -> int | None:
    text = _of_linux(file, name)
    return None if text is None else int(text.split()[0]) * 1024


def _of_linux(file: str, name: str) -> str | None:
    """What follows a name in a file of /proc."""
    try:
        with open(f"/proc/{file}", encoding="utf-8", errors="replace") as lines:
            pairs = (line.partition(":") for line in lines)
            return next((value.strip() for key, _, value in pairs if key.strip() == name), None)
    except OSError:  # not Linux
        return None


def _of_getrusage() -> int | None:
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(most if sys.platform == "darwin" else most * 1024)
