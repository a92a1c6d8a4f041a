"""Kernels that many tests need, compiled once before the tests begin, where there is no cache of them yet.

Without it the workers of pytest-xdist, and the processes that tests start, all compile the same few kernels at the same
time, half a minute each.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

_WORLD = "<mujoco><option{}/><worldbody><geom type='plane' size='1 1 1'{}/>{}</worldbody></mujoco>"
_HINGE = "<body pos='0 0 1'><joint axis='0 1 0'/><geom size='.1'/></body>"
_BALL, _BOX = (
    f"<body pos='0 0 1'><freejoint/><geom type='{kind}' size='.1 .1 .1'/></body>" for kind in ("sphere", "box")
)
_STIFF = " solref='.004 1'"
MODELS = {
    "plain": _WORLD.format("", "", _HINGE),
    "ball joints": _WORLD.format("", "", _BALL),
    "hulls": _WORLD.format("", "", _BOX),
    "mixed precision": _WORLD.format("", _STIFF, _BOX),
    "conjugate gradients": _WORLD.format(" solver='CG'", "", _BALL),
}
WIDTH = 4
"""Lanes of the solvers of tests that ask for no other width (`tests/conftest.py`)."""
KERNELS = (
    ("plain", "32", 16),
    *((kind, "32", WIDTH) for kind in MODELS),
    *((kind, "32", 1) for kind in ("plain", "ball joints", "hulls", "conjugate gradients")),
    *((kind, "64", WIDTH) for kind in ("plain", "ball joints", "hulls")),
    ("plain", "64", 1),
)
"""Of which model, precision and lanes; the first is that of programs which tests start, where registers are as wide."""
ENOUGH_TESTS, ENOUGH_KERNELS = 1000, 12
PATIENCE = 600.0  # seconds that a worker waits for the others


def warm_up(config: pytest.Config, count: int) -> None:
    """Let this worker compile its share, and wait for the others; nothing where few tests run, or there is a cache."""
    from tumble.physics.kernel_cache import folder

    place = folder()
    if count < ENOUGH_TESTS or place is None or len(list(place.glob("*.tic"))) > ENOUGH_KERNELS:
        return
    given = getattr(config, "workerinput", {"workerid": "gw0", "workercount": 1, "testrunuid": "alone"})
    me, workers = int(given["workerid"][2:]), given["workercount"]
    subprocess.run([sys.executable, "-m", "tests.warm_up", str(me), str(workers)], cwd=Path(__file__).parents[1])
    done = Path(tempfile.gettempdir())
    (done / f"tumble-{given['testrunuid']}.{me}").touch()
    until = time.monotonic() + PATIENCE
    while len(list(done.glob(f"tumble-{given['testrunuid']}.*"))) < workers and time.monotonic() < until:
        time.sleep(0.5)


def main(first: int, every: int) -> None:
    """Compile every so many-th kernel, from one on."""
    import tumble
    from tumble.physics import Model, RigidSolver

    for kind, precision, lanes in KERNELS[first::every]:
        tumble.init(precision=precision)
        RigidSolver(Model.from_mjcf(MODELS[kind]), lanes, lanes=lanes).step()


if __name__ == "__main__":
    os.environ.setdefault("TUMBLE_PIN", "0")  # workers side by side would share a core
    main(*map(int, sys.argv[1:]))
