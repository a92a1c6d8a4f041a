"""The memory that a batch needs, and the free memory: compared before anything is allocated.

Linux hands out memory that it does not have, and ends the process that writes to it; so the system would not say.
"""

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

from .cores import group_folders

try:
    import resource
except ImportError:  # Windows, which has no such limits
    resource = None  # type: ignore[assignment]

_PROCESS = Path("/proc/self")
_ADDRESSES, _DATA = 0, 5
"""Columns of `statm` in proc(5): pages of the address space, and of data and stack."""
GIB = 1 << 30


def require_memory(num_envs: int, bytes_per_env: int, there_is: float | None = None) -> None:
    """Refuse a batch that cannot fit into memory.

    Args:
        num_envs: number of environments.
        bytes_per_env: bytes that the solver allocates for each.
        there_is: free bytes there; None: in this machine's memory.

    Raises:
        MemoryError: the message has the needed and the free bytes.
    """
    needed, there_is = num_envs * bytes_per_env, available_memory() if there_is is None else there_is
    if needed > there_is:
        raise MemoryError(
            f"num_envs={num_envs:,}: the solver needs {needed / GIB:,.1f} GiB ({bytes_per_env:,} bytes for each "
            f"environment), and {there_is / GIB:,.1f} GiB are free: at most {int(there_is // bytes_per_env):,} fit"
        )


def available_memory(meminfo: Path = Path("/proc/meminfo"), limits: tuple[str, ...] | None = None) -> float:
    """Bytes that this process may still take; infinity where the system does not say.

    Args:
        meminfo: the file of the machine's memory, as in proc(5).
        limits: files with the limits of control groups; None: of the groups that this process is in.
    """
    free = math.inf
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        free = 1024.0 * (int(lines["MemAvailable"].split()[0]) + int(lines["SwapFree"].split()[0]))
    except (OSError, KeyError, ValueError, IndexError):
        pass
    for limit in map(Path, limits) if limits is not None else _group_limits():
        with contextlib.suppress(OSError, ValueError):  # "max", or no limit
            free = min(free, max(0.0, float(limit.read_text()) - _used_by_group(limit.parent)))
    return min(free, *_left_of_process())


def _group_limits() -> Iterator[Path]:
    """The files with the limits of the control groups of this process, of both versions of them."""
    for folder, version in group_folders("memory"):
        yield folder / ("memory.max" if version == 2 else "memory.limit_in_bytes")


def _used_by_group(folder: Path) -> int:
    """Bytes that a control group uses, without the cache of files, which the system can take back."""
    used = 0
    with contextlib.suppress(OSError, ValueError):
        name = "memory.current" if (folder / "memory.current").exists() else "memory.usage_in_bytes"
        used = int((folder / name).read_text())
        found = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        files = ("active_file", "inactive_file")
        used -= sum(int(found.get(f"total_{name}", found.get(name, 0))) for name in files)
    return max(0, used)


def _left_of_process() -> Iterator[float]:
    """Bytes that are left of the limits of this process: of `ulimit -v` and `ulimit -d`."""
    yield math.inf
    if resource is None:
        return
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = [int(word) for word in (_PROCESS / "statm").read_text().split()]
        for kind, column in ((resource.RLIMIT_AS, _ADDRESSES), (resource.RLIMIT_DATA, _DATA)):
            limit, _ = resource.getrlimit(kind)
            if limit != resource.RLIM_INFINITY:
                yield float(max(0, limit - pages[column] * os.sysconf("SC_PAGE_SIZE")))
