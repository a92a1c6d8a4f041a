"""HumanoidBench's tasks equal HumanoidBench: recorded transitions and starts (`record.py`, in its own environment)."""

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
        assets.find("humanoid_bench:envs/h1_pos_walk.xml")
    except FileNotFoundError:
        return False
    return True


pytestmark = pytest.mark.skipif(not available(), reason="HumanoidBench's models are not in TUMBLE_ASSETS")

TIGHT = {"tolerance": 1e-12, "iterations": 200}
SAME = 1e-12  # of a number of size 1: it is 0, but where a sum is added up in another order
# Points where meshes touch are found to 1e-6 m, wherever the search begins; ten steps of stiff contacts turn that into
# velocities. In MuJoCo the search and the constraint solver begin as recorded.
LOOSE = 1e-3


@pytest.fixture(scope="module")
def recorded():
    return np.load(Path(__file__).with_name("transitions.npz"))


def rows(recorded, name):
    """Return the numbers of a task by their names."""
    return {key.partition("/")[2]: recorded[key] for key in recorded.files if key.startswith(f"{name}/")}


@pytest.mark.parametrize("simulator", ["mujoco", "tumble"])
@pytest.mark.parametrize("name", TASKS)
def test_transitions(name, simulator, double_precision, recorded):
    row = rows(recorded, name)
    kept = {"output": "numpy", "autoreset_mode": "DISABLED", "model_options": TIGHT}
    envs = tumble.make_vec(f"humanoid_bench/h1-{name}-v0", len(row["reward"]), simulator=simulator, **kept)
    envs.reset(seed=1)
    solver, memory = envs.unwrapped.solver, envs.unwrapped.batch._memory.arrays
    solver.set_state(*(torch.as_tensor(row[f"before_{part}"]) for part in ("qpos", "qvel")))
    for world, warm in zip(getattr(solver, "worlds", ()), row["before_qacc_warmstart"], strict=False):
        world.data.qacc_warmstart[:] = warm
    for key in memory:
        memory[key][...] = row[key]
    observation, reward, terminated, *_ = envs.step(row["action"])
    errors = {
        "observation": (observation - row["observation"]) / (1 + abs(row["observation"])),
        "reward": (reward - row["reward"]) / (1 + abs(row["reward"])),
    }
    envs.close()
    worst = {key: float(abs(error).max()) for key, error in errors.items()}
    print(name, {key: f"{value:.1e}" for key, value in worst.items()}, row["reward"].round(3))
    assert max(worst.values()) < (SAME if simulator == "mujoco" else LOOSE)
    assert worst["reward"] < 1e-5
    assert (terminated == row["terminated"]).all()


@pytest.mark.parametrize("name", TASKS)
def test_starts(name, double_precision, recorded):
    low, high = rows(recorded, name)["start_range"]
    envs = tumble.make_vec(f"humanoid_bench/h1-{name}-v0", 200, output="numpy")
    observation, _ = envs.reset(seed=7)
    envs.close()
    spread = high - low + 1e-6
    assert (abs(observation.min(0) - low) < 0.12 * spread).all()
    assert (abs(observation.max(0) - high) < 0.12 * spread).all()
