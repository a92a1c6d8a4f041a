"""What tests of files share: a model around one mesh, and a limit of time and memory while it loads."""

import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import mujoco
import pytest

from tumble.physics import Model

SECONDS = 60.0
"""Some 20 files of a test take a second, the first import of trimesh another one; more on a busy machine."""
ROOM = 1 << 30
"""Bytes beyond what the process has: small for a file that declares a billion faces, ample for a real one."""


@pytest.fixture
def load() -> Callable[..., mujoco.MjModel]:
    """Load a body with a mesh 'mug' from a file."""

    def of(path: Path | str, attributes: str = "", geom: str = "", **options: object) -> mujoco.MjModel:
        return Model.from_mjcf(
            f'<mujoco><asset><mesh name="mug" file="{path}" {attributes}/></asset><worldbody><body name="b">'
            f'<freejoint/><geom name="g" type="mesh" mesh="mug" {geom}/></body></worldbody></mujoco>',
            **options,
        ).mj

    return of


@pytest.fixture
def bounded() -> Iterator[None]:
    """A MemoryError beyond some room, a TimeoutError after some time."""
    import trimesh  # noqa: F401  (its own room does not count)

    def late(*_: object) -> None:
        raise TimeoutError("the file is still being read")

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, hard))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
