"""Million paths a second in the Cornell box, beside mitsuba's scalar variant if a Python that has it is given.

python -m tumble.benchmarks.path_tracing --mitsuba /path/to/python
"""

import argparse
import json
import subprocess
import time
from pathlib import Path
from typing import Any

from .mitsuba_box import DEPTH
from .path_box import BOX, CAMERA, PLAIN

SIZE, SAMPLES = 256, 16


def measure() -> dict[str, float]:
    """Million paths a second of the clock and of processors, after the kernel has been compiled."""
    from ..physics import Model, RigidSolver
    from ..physics.rendering import Camera, Look, PathTracer

    solver = RigidSolver(Model.from_mjcf(BOX), num_envs=1)
    settings: dict[str, Any] = {
        "bounces": DEPTH - 1,
        "environment": (0, 0, 0),
        "denoise": False,
        "progress": False,
        "clamp": 0.0,
    }
    tracer = PathTracer(solver.model, SIZE, SIZE, camera=Camera(**CAMERA), look=Look(**PLAIN), **settings)
    begun = time.perf_counter()
    film = tracer.expose(solver, samples=1)
    print(f"first sample, with the kernel's compilation if it is not in the store: {time.perf_counter() - begun:.1f} s")
    clock, busy = time.perf_counter(), time.process_time()
    film.add(SAMPLES)
    clock, busy = time.perf_counter() - clock, time.process_time() - busy
    paths = SIZE * SIZE * SAMPLES / 1e6
    return {"clock": paths / clock, "busy": paths / busy}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mitsuba", help="a Python that has mitsuba")
    given = parser.parse_args()
    print("tumble", json.dumps(measure()))
    if given.mitsuba:
        script = Path(__file__).with_name("mitsuba_box.py")
        done = subprocess.run([given.mitsuba, script, "speed"], capture_output=True, text=True, check=True)
        print("mitsuba", done.stdout.strip())


if __name__ == "__main__":
    main()
