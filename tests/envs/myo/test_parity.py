"""MyoSuite's tasks equal MyoSuite 2.11.6: recorded transitions and starts (`record.py`, in its own environment)."""

from pathlib import Path

import numpy as np
import pytest
import torch

import tumble
from tumble import assets

from .record import TASKS


def available() -> bool:
    """Return True if the models are there."""
    try:
        assets.find("myosuite:simhive/myo_sim/leg/myolegs.xml")
    except FileNotFoundError:
        return False
    return True


pytestmark = pytest.mark.skipif(not available(), reason="MyoSuite's models are not installed")

NAMES = [name for names in TASKS.values() for name in names]
TIGHT = {"tolerance": 1e-12, "iterations": 200}
SAME = 1e-10  # of a number of size 1: in MuJoCo, from excitations that differ by a rounding
# Where a tendon runs inside a cylinder, MuJoCo finds its path by steps that stop at an error of 1e-6, and Tumble takes
# two more of these: moments of the hand's muscles move by 1e-10. Points where ellipsoids touch are found to 1e-6 as
# well, and heights of the ground are rounded to single precision, in MyoSuite after they are multiplied by their range.
# After ten steps velocities are off by up to the bound.
LOOSE = 1e-5


@pytest.fixture(scope="module")
def recorded():
    return np.load(Path(__file__).with_name("transitions.npz"))


def rows(recorded, name):
    """Return the numbers of a task by their names."""
    return {key.partition("/")[2]: recorded[key] for key in recorded.files if key.startswith(f"{name}/")}


def put(envs, row) -> None:
    """Put environments into states and episodes of MyoSuite."""
    solver, memory = envs.unwrapped.solver, envs.unwrapped.batch._memory.arrays
    solver.set_state(
        *(torch.as_tensor(row[f"before_{part}"]) for part in ("qpos", "qvel")), act=torch.as_tensor(row["before_act"])
    )
    for world, warm in zip(getattr(solver, "worlds", ()), row["before_qacc_warmstart"], strict=False):
        world.data.qacc_warmstart[:] = warm
    for name in ("target", "count"):
        if name in memory and name in row:
            memory[name][...] = row[name]
    task, numbers = envs.unwrapped.batch.task, {}
    for name in ("active", "resting", "tired"):
        if name in row:
            memory[name][:, host(task.muscle)] = row[name]
    if "mocap_quat" in row:
        solver.set_inputs(mocap_quat=torch.as_tensor(row["mocap_quat"])[:, None])
    if "object_size" in row and task.moved:
        numbers["geom_size"] = task.sizes(row["object_size"])
    if "key_pos" in row and task.moved:
        place = solver.model.mj.body_pos[None].repeat(len(row["key_pos"]), 0)
        place[:, -1] = row["key_pos"]
        numbers["body_pos"] = place
    if "load" in row:
        numbers = task.carry(row["load"])
    update = solver.update_parameters if hasattr(solver, "update_parameters") else solver.parameters.update
    if numbers:
        update(numbers)


def host(values):
    return np.asarray(values)


@pytest.mark.parametrize("simulator", ["mujoco", "tumble"])
@pytest.mark.parametrize("name", NAMES)
def test_transitions(name, simulator, double_precision, recorded):
    row = rows(recorded, name)
    n = len(row["reward"])
    kept = {"output": "numpy", "autoreset_mode": "DISABLED", "model_options": TIGHT}
    envs = tumble.make_vec(f"myosuite/{name}-v0", n, simulator=simulator, **kept)
    envs.reset(seed=1)
    put(envs, row)
    observation, reward, terminated, _, info = envs.step(row["action"])
    errors = {
        "observation": (observation - row["observation"]) / (1 + abs(row["observation"])),
        "reward": (reward - row["reward"]) / (1 + abs(row["reward"])),
    }
    envs.close()
    worst = {key: float(abs(error).max()) if error.size else 0 for key, error in errors.items()}
    print(name, {key: f"{value:.1e}" for key, value in worst.items()}, row["reward"].round(2))
    is_loose = "Terrain" in name or ("Hand" in name and (simulator == "tumble" or "ObjHold" in name))
    assert max(worst.values()) < (LOOSE if is_loose else SAME)
    assert (terminated == row["done"]).all()
    assert (info["success"] == row["solved"]).all()


@pytest.mark.parametrize("name", NAMES)
def test_starts(name, double_precision, recorded):
    row = rows(recorded, name)
    n = 1 if "start" in row else 1000
    envs = tumble.make_vec(f"myosuite/{name}-v0", n, output="numpy")
    observation, _ = envs.reset(seed=7)
    envs.close()
    if "start" in row:
        assert abs(observation[0] - row["start"]).max() < 1e-12 * (1 + abs(row["start"]).max())
        return
    spread = row["start_deviation"] + 1e-6
    assert (abs(observation.mean(0) - row["start_mean"]) < 6 * spread / np.sqrt(300)).all()
    assert (abs(observation.std(0) / spread - 1)[row["start_deviation"] > 1e-5] < 0.25).all()
