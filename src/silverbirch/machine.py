"""The cores and the memory of this machine and of this process, and whether it runs in a notebook."""

import contextlib
import ctypes
import functools
import math
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")  # of the files in which Linux describes itself
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt in malloc.h of glibc
_LARGE_PIECE = 1 << 18


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which shows what `IPython.display.display` is given."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def processor() -> str:
    return _of_linux("cpuinfo", "model name") or platform.processor() or platform.machine()


def usable_cores() -> int:
    """The number of cores that this process may use; at least one.

    These are the cores of its affinity, and no more than the CPU quota of its container (cgroup), OMP_NUM_THREADS and
    LOKY_MAX_CPU_COUNT. Two hyper-threads are one core. joblib and Dask set OMP_NUM_THREADS in their processes, so that
    all of them together use each core once.
    """
    affinity = getattr(os, "sched_getaffinity", None)  # only on Linux
    allowed = affinity(0) if affinity else range(os.cpu_count() or 1)
    return max(1, min([_physical_cores(_ROOT, frozenset(allowed)), *_quotas(), *_limits_of_environment()]))


@functools.cache
def _physical_cores(root: Path, processors: frozenset[int]) -> int:
    topology = "sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    return len({_text(root / topology.format(processor)) or processor for processor in processors})


def _quotas() -> Iterator[int]:
    """The quota of each cgroup above this process, in cores, rounded up."""
    for line in (_text(_ROOT / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        version_1 = bool(controllers)
        mounted = _ROOT / "sys/fs/cgroup/cpu" if version_1 else _ROOT / "sys/fs/cgroup"
        group = mounted / path.lstrip("/")
        # A container may see the path of the machine, and only its own group, at the root.
        for folder in [group, *group.parents][: len(group.parts) - len(mounted.parts) + 1]:
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if version_1 else ("cpu.max",)
            numbers = " ".join(_text(folder / name) or "" for name in names).split()
            if len(numbers) == 2 and numbers[0].isdigit():  # else "max" or -1: no quota
                yield math.ceil(int(numbers[0]) / int(numbers[1]))


def _limits_of_environment() -> Iterator[int]:
    for name in ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
        number = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP allows a number for each level
        if number.isdecimal() and int(number) > 0:
            yield int(number)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:  # another system, or no such limit
        return None


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
