"""Record transitions of HumanoidBench's own tasks, for `test_parity.py`: `python record.py REPOSITORY transitions.npz`.

It runs in an environment of its own, with Python 3.11, beside a clone of HumanoidBench:

    pip install mujoco==4.0.0 dm-control==1.0.50 gymnasium==0.29.1 imageio numpy

What HumanoidBench imports for policies of hands, and none of these tasks uses, is replaced by an empty module. Actions
are handed in as float64, so that servos get numbers that are not rounded to single precision.
"""

import os
import sys
import types

import mujoco
import numpy as np

TASKS = (
    *("walk", "reach", "hurdle", "crawl", "maze", "sit_simple", "sit_hard", "balance_simple", "balance_hard"),
    *("stair", "slide", "pole", "run", "stand"),
)
STEPS = (0, 4, 8)  # of an episode, after which the H1 is put where a reward depends on more
PUT = {
    "hurdle": ({1: 4.8}, {0: 1.9, 1: 0.0}),
    "pole": ({0: 0.98, 1: 0.5}, {0: 1.5, 1: 2.9}),
    "maze": ({0: 2.9}, {1: -0.6}),
    "sit_simple": ({2: 0.75}, {0: 0.1}),
    "sit_hard": ({2: 0.75}, {0: -0.3}),
    "balance_simple": ({0: 1.0, 2: 0.97}, {2: 0.7}),
    "balance_hard": ({33: -0.1, 34: 0.2, 35: 0.6}, {0: 1.0, 2: 0.97}),
    "crawl": ({2: 0.6}, {1: 1.2}),
    "walk": ({2: 1.1}, {2: 0.1}),
}
"""Coordinates by their numbers, that the second and the third transition of a task begin with."""


def humanoid_bench(repository: str):
    """Import HumanoidBench, and return Gymnasium."""
    os.environ["MUJOCO_GL"] = "disable"
    policies = types.ModuleType("humanoid_bench.mjx.flax_to_torch")
    policies.TorchModel = policies.TorchPolicy = None
    sys.modules |= {"humanoid_bench.mjx": types.ModuleType("humanoid_bench.mjx"), policies.__name__: policies}
    sys.path.insert(0, repository)
    import gymnasium
    from humanoid_bench.dmc_deps import dmc_sizes

    for kind, kept in (("mjmodel", mujoco.MjModel), ("mjdata", mujoco.MjData)):
        for field in [field for field in dmc_sizes.array_sizes[kind] if not hasattr(kept, field)]:
            del dmc_sizes.array_sizes[kind][field]
    import humanoid_bench  # noqa: F401

    return gymnasium


def record(gym, name: str) -> dict[str, np.ndarray]:
    """Return transitions of a task by the names of the numbers, each with its rows."""
    env, rng = gym.make(f"h1-{name}-v0", render_mode=None).unwrapped, np.random.default_rng(3)
    np.random.seed(5)
    env.model.opt.tolerance, env.model.opt.iterations = 1e-12, 200
    env.reset(seed=1)
    rows, data = [], env.data
    for step in range(max(STEPS) + 1):
        action = np.float32(np.clip(rng.normal(0, 0.5, env.model.nu), -1, 1)).astype(float)
        if rows and step == STEPS[len(rows)]:
            qpos = data.qpos.copy()
            for place, value in PUT.get(name, ({}, {}))[len(rows) - 1].items():
                qpos[place] = value
            env.set_state(qpos, data.qvel.copy())
            if name == "reach":
                env.task.goal = data.site("left_hand").xpos + rng.normal(0, 0.02, 3)
        kept = {"action": np.float32(action)}
        kept |= {f"before_{part}": getattr(data, part).copy() for part in ("qpos", "qvel", "qacc_warmstart")}
        if name == "reach":
            kept["target"] = env.task.goal.copy()
        if name == "maze":
            kept["stage"] = np.array([env.task.maze_stage], float)
        observation, reward, terminated, _, _ = env.step(action)
        kept |= {"observation": observation.copy(), "reward": np.array(reward, float)}
        kept["terminated"] = np.array(bool(terminated))
        if step == STEPS[len(rows)]:
            rows.append(kept)
    starts = np.array([env.reset(seed=k)[0] for k in range(200)])
    spread = np.stack((starts.min(0), starts.max(0)))
    return {key: np.stack([row[key] for row in rows]) for key in rows[0]} | {"start_range": np.float32(spread)}


if __name__ == "__main__":
    gym = humanoid_bench(sys.argv[1])
    numbers = {f"{name}/{key}": value for name in TASKS for key, value in record(gym, name).items()}
    np.savez_compressed(sys.argv[2], **numbers)
    for name in TASKS:
        print(name, numbers[f"{name}/reward"].round(3), numbers[f"{name}/terminated"])
    print(os.path.getsize(sys.argv[2]))
