"""The number of cores this process may keep busy: the cores it is allowed on, less its control group's limit."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

_GROUPS, _MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def usable_cores() -> int:
    """Number of cores that this process may use, at least one; a container's quota of 1.5 counts as two."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cgroup_quota()
    return allowed if quota >= allowed else max(1, math.ceil(quota))


def cgroup_quota(groups: Path = _GROUPS, membership: Path = _MEMBERSHIP) -> float:
    """Cores' worth of time that Linux's control groups grant this process; infinity where they set no limit.

    Args:
        groups: where the control groups are mounted.
        membership: the file that says which of them this process is in, a line `number:controllers:path` each.
    """
    quota = math.inf
    for folder, version in group_folders("cpu", groups, membership):
        quota = min(quota, _second_version(folder) if version == 2 else _first_version(folder))
    return quota


def group_folders(
    controller: str, groups: Path = _GROUPS, membership: Path = _MEMBERSHIP
) -> Iterator[tuple[Path, int]]:
    """The folders of the control groups that this process is in, which a controller has, and their version, 1 or 2.

    Args:
        controller: "cpu" or "memory".
        groups: where the control groups are mounted.
        membership: the file that says which of them this process is in.
    """
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from ((folder, 2) for folder in _upwards(groups, path))
        elif controller in controllers.split(","):
            yield from ((folder, 1) for folder in _upwards(groups / controller, path))


def _upwards(top: Path, path: str) -> Iterator[Path]:
    """A group's folder, and the folders of the groups it is in; inside a container only the top may be there."""
    folder = top / path.lstrip("/")
    while folder != top and top in folder.parents:
        yield folder
        folder = folder.parent
    yield top


def _second_version(folder: Path) -> float:
    """The quota in `cpu.max`: "max 100000" or microseconds of work and of the period they are for."""
    try:
        work, period = (folder / "cpu.max").read_text().split()
        return math.inf if work == "max" else int(work) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf


def _first_version(folder: Path) -> float:
    """The quota in `cpu.cfs_quota_us`, -1 for none, for a period of `cpu.cfs_period_us`."""
    try:
        work = int((folder / "cpu.cfs_quota_us").read_text())
        return math.inf if work < 0 else work / int((folder / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf
