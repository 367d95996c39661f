"""The processor and the memory of this machine, the memory of this process, and whether it runs in a notebook."""

import contextlib
import ctypes
import os
import platform
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt in malloc.h of glibc
_LARGE_PIECE = 1 << 18


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which shows what `IPython.display.display` is given."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def processor() -> str:
    return _of_linux("cpuinfo", "model name") or platform.processor() or platform.machine()


def physical_memory() -> int | None:
    """The bytes of memory of the machine; None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def free_memory() -> int | None:
    """The bytes of memory that are available; None if the system does not report it."""
    return _bytes_of_linux("meminfo", "MemAvailable")


def peak_memory() -> int | None:
    """The most bytes that this process has used so far; None if the system does not report it."""
    # On Linux getrusage includes the memory of the process that started this one.
    return _bytes_of_linux("self/status", "VmHWM") or _of_getrusage()


def memory_now() -> int | None:
    """The bytes that this process uses now; None if the system does not report it."""
    return _bytes_of_linux("self/status", "VmRSS")


def keep_no_free_memory() -> None:
    """From now on, large pieces of memory go back to the system as soon as they are freed, which takes more time.

    Else the C library of Linux keeps them: several times what is in use.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _LARGE_PIECE)
        mallopt(_TRIM_THRESHOLD, _LARGE_PIECE)


def give_back_free_memory() -> None:
    """Gives the memory that the C library keeps back to the system, small pieces included."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _bytes_of_linux(file: str, name: str) -> int | None:
    text = _of_linux(file, name)
    return None if text is None else int(text.split()[0]) * 1024


def _of_linux(file: str, name: str) -> str | None:
    """The text after a name in a file of /proc."""
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
