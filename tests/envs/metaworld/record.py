"""Record states, observations, rewards and starts of Meta-World, for tests that run without it.

Run it by a Python that has Meta-World and no Tumble; the name of the file says which MuJoCo it had:

    pip install mujoco==3.3.0 metaworld==3.1.1
    python tests/envs/metaworld/record.py tests/envs/metaworld/rewards.npz
    pip install mujoco==4.0.0
    python tests/envs/metaworld/record.py --starts tests/envs/metaworld/starts.npz

The first file has states along scripted episodes, each with an action and what the task makes of them. States are
numbers of single precision, so that half the bytes say them exactly. The second has starts of episodes and a few steps.
"""

import argparse
import pickle

import metaworld
import mujoco
import numpy as np
from metaworld.policies import ENV_POLICY_MAP

GOALS, SAMPLES, LONGEST, STEPS = 2, 5, 220, 4
STARTS = ("dial_push_position", "_handle_init_pos", "stick_init_pos", "obj_init_pos")
"""Attributes with the place of the object at the start; the first that a task has is the one that its reward uses."""
REST = {"handle": "window_handle_pos_init", "head": "peg_head_pos_init"}
INFOS = ("success", "near_object", "grasp_success", "grasp_reward", "in_place_reward", "obj_to_target")
WELD = np.array([0.0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 5])


def reset_mocap_welds(env) -> None:
    """Set the weld as Meta-World does, whatever the length of the row is."""
    env.model.eq_data[:, : len(WELD)] = WELD


def visible(task: metaworld.Task) -> metaworld.Task:
    """Return the task with the goal in the observation."""
    return metaworld.Task(task.env_name, pickle.dumps({**pickle.loads(task.data), "partially_observable": False}))


def made(name: str, seed: int) -> tuple:
    """Return an environment of a task, and its tasks' first few."""
    benchmark = metaworld.MT1(name, seed=seed)
    env = benchmark.train_classes[name]()
    return env, [visible(task) for task in benchmark.train_tasks[:GOALS]]


def judged(env, action: np.ndarray) -> dict[str, np.ndarray]:
    """Return a state near the present one, and what the task makes of it; the environment goes on as if not asked."""
    data = env.data
    before = data.qpos.copy(), data.qvel.copy(), env._prev_obs.copy()
    row = {"qpos": data.qpos.astype(np.float32), "qvel": data.qvel.astype(np.float32), "action": action}
    env.set_state(row["qpos"].astype(float), row["qvel"].astype(float))
    space = env.sawyer_observation_space
    observation = np.clip(env._get_obs(), space.low, space.high)
    reward, info = env.evaluate_state(observation, action.astype(float))
    row["seen"] = np.concatenate((observation[:18], observation[36:]))
    row["worth"] = np.array([reward, *(float(info[key]) for key in INFOS)])
    row["first"] = np.array(getattr(env, "_target_to_obj_init", None) or 0.0)
    env.set_state(*before[:2])
    env._prev_obs = before[2]
    return row


def remembered(env) -> dict[str, np.ndarray]:
    """Return what an episode remembers of its start."""
    start = next(getattr(env, name) for name in STARTS if getattr(env, name, None) is not None)
    memory = {"target": env._target_pos, "start": start, "tcp_start": env.init_tcp}
    if hasattr(env, "stick_init_pos"):
        memory["container"] = env.obj_init_pos
    memory |= {key: getattr(env, name) for key, name in REST.items() if hasattr(env, name)}
    return {f"memory.{key}": np.array(value, float) for key, value in memory.items()}


def rewards(seed: int) -> dict[str, np.ndarray]:
    """Return states along scripted episodes of all tasks; names are task/quantity."""
    rows: dict[str, list[np.ndarray]] = {}
    rng = np.random.default_rng(seed)
    for name in metaworld.ALL_V3_ENVIRONMENTS:
        env, tasks = made(name, seed)
        policy = ENV_POLICY_MAP[name]()
        for task in tasks:
            env.set_task(task)
            observation, _ = env.reset()
            memory, taken, success = remembered(env), [], 0
            for _ in range(LONGEST):
                action = np.clip(policy.get_action(observation) + rng.normal(0, 0.1, 4), -1, 1).astype(np.float32)
                observation, _, _, _, info = env.step(action)
                taken.append(judged(env, action))
                success += bool(info["success"])
                if success > 3:
                    break
            chosen = np.unique(np.linspace(0, len(taken) - 1, SAMPLES).astype(int))
            for index in [0] * (SAMPLES - len(chosen)) + list(chosen):
                for key, value in taken[index].items():
                    rows.setdefault(f"{name}/{key}", []).append(value)
            for key, value in {"goal": env._last_rand_vec, **memory}.items():
                rows.setdefault(f"{name}/{key}", []).append(value)
        print(f"{name:30s} best {max(row[0] for row in rows[f'{name}/worth']):.2f}", flush=True)
    return {key: np.array(values) for key, values in rows.items()}


def starts(seed: int) -> dict[str, np.ndarray]:
    """Return goals, first observations and those of a few steps of all tasks, and the goals of the sets."""
    rows: dict[str, list[np.ndarray]] = {}
    for name in metaworld.ALL_V3_ENVIRONMENTS:
        env, tasks = made(name, seed)
        for task in tasks:
            env.set_task(task)
            observation, _ = env.reset()
            observation_of_start, worth = observation, []
            rng = np.random.default_rng(seed)
            for _ in range(STEPS):
                observation, reward, _, _, _ = env.step(rng.uniform(-1, 1, 4).astype(np.float32))
                worth.append(reward)
            rows.setdefault(f"{name}/goal", []).append(env._last_rand_vec)
            rows.setdefault(f"{name}/start", []).append(observation_of_start)
            rows.setdefault(f"{name}/end", []).append(np.concatenate((observation[:18], worth)))
        print(name, flush=True)
    for kind in ("MT10", "ML10", "MT50"):
        benchmark = getattr(metaworld, kind)(seed=seed)
        for split in ("train", "test"):
            for task in getattr(benchmark, f"{split}_tasks"):
                rows.setdefault(f"{kind}/{split}/{task.env_name}", []).append(pickle.loads(task.data)["rand_vec"])
    return {key: np.array(values[::49] if key[:2] in ("MT", "ML") else values) for key, values in rows.items()}


def main() -> None:
    """Write a file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--starts", action="store_true")
    arguments = parser.parse_args()
    metaworld.sawyer_xyz_env.SawyerMocapBase.reset_mocap_welds = reset_mocap_welds
    recorded = starts(7) if arguments.starts else rewards(7)
    np.savez_compressed(arguments.file, mujoco=np.array(mujoco.__version__), **recorded)


if __name__ == "__main__":
    main()
