"""The lanes and threads that suit this machine: defaults, and allowed values; processor, versions, commit."""

import contextlib
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from .cores import usable_cores
from .scalars import as_count, as_whole

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the package."""
WIDTHS = (1, 4, 8, 16)
"""Environments in a SIMD register for which there are kernels."""
_THREADS_PER_CORE, _FEW_THREADS = 4, 64
"""More threads than four for each core of the machine are a mistake; up to 64 are taken on any machine."""


def default_lanes(precision: str) -> int:
    """Return the width that fills a SIMD register of this processor at this precision."""
    bits = 128
    flags = _cpu_flags()
    if "avx512f" in flags:
        bits = 512
    elif "avx2" in flags or platform.machine().lower() in ("amd64", "x86_64"):
        bits = 256
    return max(4, bits // int(precision))


def default_threads() -> int:
    """Return one thread for each core this process may use, or TUMBLE_THREADS."""
    asked = os.environ.get("TUMBLE_THREADS")
    return thread_count("TUMBLE_THREADS", int(asked) if asked.isdecimal() else asked) if asked else usable_cores()


def lane_width(lanes: Any) -> int:
    """Check a number of environments per SIMD register, and return it as an int.

    Raises:
        ValueError: for a width for which there is no kernel.
    """
    if as_whole("lanes", lanes) not in WIDTHS:
        raise ValueError(f"lanes={lanes!r}: choose one of {', '.join(map(str, WIDTHS))}")
    return int(lanes)


def thread_count(name: str, threads: Any) -> int:
    """Check a number of worker threads, and return it as an int.

    Raises:
        ValueError: for a value that is no whole number, less than one, or more than the machine could ever use.
    """
    count, cores = as_count(name, threads), os.cpu_count() or 1
    most = max(_FEW_THREADS, _THREADS_PER_CORE * cores)
    if count > most:
        raise ValueError(
            f"{name}={count}: this machine has {cores} cores, for which {most} threads are more than enough"
        )
    return count


def _cpu_flags() -> set[str]:
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("flags"):
                    return set(line.split())
    except OSError:
        pass
    return set()


def processor_name() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the version of Python, as "python", and of each package that is installed."""
    versions = {"python": platform.python_version()}
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return versions


@cache
def commit() -> str | None:
    """Return the commit of Tumble's sources, with "-dirty" if files were changed; None if they are no clone."""
    if not (ROOT / ".git").exists():
        return None
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_")
    }  # of a hook, elsewhere
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True, env=variables)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
