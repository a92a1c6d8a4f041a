"""The memory that a batch needs, and that there is: compared before anything is allocated.

Linux hands out memory that it does not have, and ends the process that writes to it; so the system would not say.
"""

import math
from pathlib import Path

_GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
GIB = 1 << 30


def require_memory(num_envs: int, bytes_per_env: int, there_is: float | None = None) -> None:
    """Refuse a batch that cannot fit into memory.

    Args:
        num_envs: number of environments.
        bytes_per_env: what the solver allocates for each.
        there_is: bytes that are free where it does; None: in this machine's memory.

    Raises:
        MemoryError: with what is needed and what there is.
    """
    needed, there_is = num_envs * bytes_per_env, available_memory() if there_is is None else there_is
    if needed > there_is:
        raise MemoryError(
            f"num_envs={num_envs:,}: the solver needs {needed / GIB:,.1f} GiB ({bytes_per_env:,} bytes for each "
            f"environment), and {there_is / GIB:,.1f} GiB are free: at most {int(there_is // bytes_per_env):,} fit"
        )


def available_memory(meminfo: Path = Path("/proc/meminfo"), limits: tuple[str, ...] = _GROUP_LIMITS) -> float:
    """Bytes that this process may still take; infinity where the system does not say.

    Args:
        meminfo: what proc(5) tells of the machine's memory.
        limits: files of a control group that limit the memory of a container.
    """
    free = math.inf
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        free = 1024.0 * (int(lines["MemAvailable"].split()[0]) + int(lines["SwapFree"].split()[0]))
    except (OSError, KeyError, ValueError, IndexError):
        pass
    for limit in limits:
        try:
            free = min(free, float(Path(limit).read_text()))
        except (OSError, ValueError):  # "max", or no such group
            continue
    return free
