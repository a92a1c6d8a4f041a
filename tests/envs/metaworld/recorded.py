"""The transitions that `record.py` recorded, and states of Tumble that equal the recorded states."""

from functools import cache
from pathlib import Path

import numpy as np

from tumble.envs.batch.batch import TaskBatch
from tumble.envs.registry import make_task

HERE = Path(__file__).parent
PER_GOAL = 5  # recorded states of one goal
AT_REST = 5e-3  # m that hand and objects may have come to rest elsewhere with the MuJoCo of the recording
UNUSED = (("door-lock-v3", "start"), ("door-unlock-v3", "start"))  # what rewards do not read


@cache
def recorded(file: str) -> dict[str, np.ndarray]:
    """Return the arrays of a file by name."""
    with np.load(HERE / file) as arrays:
        return dict(arrays)


def of_task(file: str, name: str) -> dict[str, np.ndarray]:
    """Return the arrays of a task by quantity."""
    return {key.rpartition("/")[2]: value for key, value in recorded(file).items() if key.startswith(f"{name}/")}


def judged(name: str, rows: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return observations (n, 39), rewards (n,) and infos of ours in recorded states, by MuJoCo's kinematics."""
    states = rows["qpos"].astype(float), rows["qvel"].astype(float)
    n = len(states[0])
    batch = TaskBatch(make_task(f"metaworld/{name}", {}), n, simulator="mujoco")
    start = batch.task.start_of(np.repeat(rows["goal"], PER_GOAL, axis=0))
    theirs = {key[7:]: np.repeat(value, PER_GOAL, axis=0) for key, value in rows.items() if key.startswith("memory.")}
    for key, value in theirs.items():
        if (name, key) not in UNUSED:
            np.testing.assert_allclose(start.memory[key], value, rtol=0, atol=AT_REST, err_msg=key)
    noise = batch.streams.present(np.arange(n))
    batch.solver.reset(None, *states, inputs=start.inputs)
    begun = batch.task.begin(batch._view.look(start.memory, noise))
    memory = {**start.memory, **begun.memory, **theirs}
    if "first_distance" in memory:
        memory["first_distance"] = rows["first"]
    result = batch.task.step(batch._view.look(memory, noise), rows["action"].astype(float))
    batch.solver.close()
    return result.observation, *result.reward_terms.values(), result.info
