"""Pictures by MuJoCo's own renderer, in a process of its own, where OpenGL without a screen is there (EGL)."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np

PROGRAM = """
import pickle, sys
import mujoco
import numpy as np
from pathlib import Path
jobs = pickle.loads(Path(sys.argv[1]).read_bytes())
found = []
for binary, (distance, azimuth, elevation, lookat), (height, width), flags in jobs:
    buffer = np.frombuffer(binary, np.uint8)
    model = mujoco.MjModel.from_binary_path("m.mjb", {"m.mjb": bytes(buffer)})
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    camera.distance, camera.azimuth, camera.elevation = distance, azimuth, elevation
    camera.lookat[:] = lookat
    option = mujoco.MjvOption()
    for flag in flags:
        option.flags[flag] = 1
    with mujoco.Renderer(model, height, width) as renderer:
        renderer.update_scene(data, camera, option)
        found.append(renderer.render())
Path(sys.argv[2]).write_bytes(pickle.dumps(found))
"""


def binary_of(mj: mujoco.MjModel) -> bytes:
    """A model as MuJoCo writes it."""
    buffer = np.zeros(mujoco.mj_sizeModel(mj), np.uint8)
    mujoco.mj_saveModel(mj, None, buffer)
    return buffer.tobytes()


def mujoco_pictures(jobs: list, folder: Path) -> list[np.ndarray] | None:
    """Pictures (height, width, 3) of models seen by free cameras; None where MuJoCo cannot draw here.

    Args:
        jobs: (model, (distance, azimuth, elevation, lookat), (height, width), flags of mjtVisFlag) each.
        folder: for temporary files.
    """
    given, found = folder / "jobs.pickle", folder / "found.pickle"
    given.write_bytes(pickle.dumps([(binary_of(mj), *rest) for mj, *rest in jobs]))
    environment = os.environ | {"MUJOCO_GL": "egl"}
    command = [sys.executable, "-c", PROGRAM, str(given), str(found)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode or not found.exists():
        print(done.stderr[-2000:])
        return None
    return pickle.loads(found.read_bytes())
