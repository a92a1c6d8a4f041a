"""The quadruped of examples/tasks/rough.py stands and trots on every kind of ground, at every difficulty.

tests/test_rough_ground_page.py walks on five of them in the default run.
"""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.terrain import ALL_TERRAINS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "tasks"
FIELD = ALL_TERRAINS.generate()
EASY = FIELD.difficulties.ravel() == 0.0


@pytest.fixture(scope="module")
def solver(tmp_path_factory):
    """An environment on each of 10 x 26 sub-terrains."""
    spec = mujoco.MjSpec.from_file(str(EXAMPLES / "dog.xml"))
    FIELD.add_to(spec, friction=0.8)
    yield RigidSolver(Model.from_mjspec(spec), num_envs=FIELD.kinds.size)


def postures(time: float, speed: float) -> np.ndarray:
    """The page's trot at one moment, (12,) rad."""
    program = (EXAMPLES / "rough.py").read_text("utf-8")
    (trot,) = re.findall(r"    def trot.*?\n\n", program, re.DOTALL)
    names = {"sin_cos": lambda x: (np.sin(x), np.cos(x)), "clip": np.clip, "math": np, "self": None}
    exec(re.search(r"^LEG, .*$", program, re.MULTILINE).group(), names)
    exec("import math\n" + re.sub(r"^    ", "", trot, flags=re.MULTILINE), names)
    task = type("Arrays", (), {"xp": np, "late": np.array([0.0, 0.5, 0.5, 0.0])})
    return names["trot"](task, np.array([[time]]), np.array([[speed]]))[0]


def run(solver: RigidSolver, speed: float, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Start at the origins and go; return when each fell over (inf: it did not), s, and how far it came, m."""
    origins, model = FIELD.origins.reshape(-1, 3), solver.model.mj
    qpos = np.tile(model.qpos0, (len(origins), 1))
    qpos[:, :3] += origins
    qpos[:, 7:] = postures(0.0, 0.0)
    solver.reset()
    solver.set_state(qpos=qpos, qvel=np.zeros((len(qpos), model.nv)))
    fell = np.full(len(qpos), np.inf)
    for step in range(round(seconds / 0.02)):
        now = 0.02 * step
        angles = postures(now, speed * min(now, 1.0)) if speed else postures(0.0, 0.0)
        solver.ctrl = torch.as_tensor(angles, dtype=solver.dtype).expand(len(qpos), 12)
        solver.step(5)
        lying = solver.get("xmat")[:, 1, 8].numpy() < 0.3
        fell = np.where(lying & np.isinf(fell), now, fell)
    assert not solver.faults.any()
    assert torch.isfinite(solver.qpos).all()
    return fell, np.linalg.norm(solver.qpos[:, :2].numpy() - origins[:, :2], axis=1)


@pytest.mark.slow
def test_it_stands_on_every_kind_of_ground(solver):
    fell, moved = run(solver, 0.0, 20.0)
    uneven = np.isin(
        FIELD.kinds.ravel(), ["slope", "stairs", "random_uniform", "tilted_grid", "wave", "fractal", "perlin_noise"]
    )
    assert np.isinf(fell)[~uneven].all(), FIELD.kinds.ravel()[~uneven][
        np.isfinite(fell[~uneven])
    ]  # they have platforms
    assert moved[~uneven].max() < 0.1
    above = solver.qpos[:, 2].numpy() - FIELD.height_at(solver.qpos[:, :2].numpy())
    assert above.min() > 0.05


@pytest.mark.slow
def test_it_trots_on_every_kind_of_ground(solver):
    fell, came = run(solver, 0.5, 20.0)
    kinds = FIELD.kinds.ravel()
    for kind, far, when in zip(kinds[EASY], came[EASY], fell[EASY], strict=True):
        print(f"{kind}: {far:.1f} m, {when} s")
    assert (came[EASY] > 3.0).mean() > 0.8 and np.isinf(fell[EASY]).mean() > 0.9
    assert np.isinf(fell).mean() > 0.6
