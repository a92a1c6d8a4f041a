"""Observations and reward terms of the arm's tasks, written from their publications in numpy's dense functions.

Everything is read from the solver: sites, mocap bodies and positions, nothing from the task.
"""

from types import SimpleNamespace

import numpy as np
from scipy.spatial.transform import Rotation

HALF = 0.02  # m


def seen(envs) -> SimpleNamespace:
    """Read quantities of the last step from the solver, in double precision."""
    solver, model = envs.unwrapped.solver, envs.unwrapped.task.model
    names = ("qpos", "qvel", "xpos", "xquat", "site_xpos", "actuator_force", "mocap_pos")
    state = SimpleNamespace(**{name: solver.get(name).double().numpy() for name in names})
    state.body = lambda name: state.xpos[:, model.body(name).id]
    state.quat = lambda name: state.xquat[:, model.body(name).id]
    state.grip = state.site_xpos[:, model.site("grip").id]
    if model.nsite > 1:
        state.handle = state.site_xpos[:, model.site("handle").id]
    state.goal = state.mocap_pos[:, 0] if model.nmocap else None
    state.gap, state.rate = state.qpos[:, 7] + state.qpos[:, 8], state.qvel[:, 7] + state.qvel[:, 8]
    return state


def norm(x: np.ndarray) -> np.ndarray:
    """Lengths (n,)."""
    return np.linalg.norm(x, axis=1)


def near(distance: np.ndarray, factor: float = 5) -> np.ndarray:
    """ManiSkill's 1 - tanh(5 d)."""
    return 1 - np.tanh(factor * distance)


def holds(s: SimpleNamespace, pos: np.ndarray) -> np.ndarray:
    """The fingers press by more than 2 N, have stopped before they met, and the thing is within 2 cm of the grip."""
    return (norm(pos - s.grip) < 0.02) & (abs(s.rate) < 0.03) & (s.gap > 0.005) & (s.actuator_force[:, 7] < -2)


def arm(s: SimpleNamespace) -> list[np.ndarray]:
    """The first 19 numbers of every observation."""
    return [s.qpos[:, :7], s.gap[:, None], s.qvel[:, :7], s.rate[:, None], s.grip]


def reach(s, action):
    """IsaacLab's reaching task."""
    distance = norm(s.grip - s.goal)
    terms = {"reach": near(distance), "precise": near(distance, 50), "effort": -0.01 * (action**2).sum(1)}
    return [*arm(s), s.goal, s.goal - s.grip], terms, distance < 0.02


def push(s, action):
    """ManiSkill's PushCube, with the pushing point behind the cube as seen from the goal."""
    cube, goal = s.body("cube"), s.goal[:, :2]
    distance = norm(cube[:, :2] - goal)
    back = cube[:, :2] + 0.035 * (cube[:, :2] - goal) / distance[:, None]
    success = distance < 0.05
    reach = near(np.sqrt(norm(back - s.grip[:, :2]) ** 2 + (s.grip[:, 2] - HALF) ** 2))
    terms = {
        "reach": np.where(success, 1, reach),
        "place": 2 * near(distance),
        "success": success,
        "effort": -0.01 * (action**2).sum(1),
    }
    obs = [*arm(s), cube, s.qpos[:, 12:16], cube - s.grip, goal - cube[:, :2], s.qvel[:, 9:12]]
    return obs, terms, success


def pick(s, action):
    """ManiSkill's PickCube."""
    cube = s.body("cube")
    held, distance = holds(s, cube), norm(cube - s.goal)
    success = (distance < 0.025) & (norm(s.qvel[:, :7]) < 0.2)
    terms = {
        "reach": near(norm(cube - s.grip)),
        "grasp": held,
        "place": 2 * near(distance) * held,
        "success": success,
        "effort": -0.01 * (action**2).sum(1),
    }
    return [*arm(s), cube, s.qpos[:, 12:16], cube - s.grip, s.goal - cube, held[:, None]], terms, success


def stack(s, action, cubes: int = 2):
    """ManiSkill's StackCube for each cube, brought over its place: environment by environment, cube by cube."""
    most, obs, rewards, done = 8 * (cubes - 1), [], [], []
    pos = np.stack([s.body(f"cube{k}") for k in range(cubes)], axis=1)
    for n in range(len(pos)):
        stacked, stage = 0, 0.0
        for k in range(1, cubes):
            offset = pos[n, k] - pos[n, k - 1] - [0, 0, 2 * HALF]
            velocity = s.qvel[n, 9 + 6 * k : 15 + 6 * k]
            linear, angular = np.linalg.norm(velocity[:3]), np.linalg.norm(velocity[3:])
            on = np.linalg.norm(offset[:2]) <= np.linalg.norm([HALF, HALF]) + 0.005 and abs(offset[2]) <= 0.005
            held = holds(s, pos[:, k])[n]
            if on and linear <= 0.01 and angular <= 0.5 and not held and stacked == k - 1:
                stacked += 1
                continue
            stage = 2 * (1 - np.tanh(5 * np.linalg.norm(pos[n, k] - s.grip[n])))
            if held:
                over = offset - [0, 0, 0.04 * min(np.hypot(*offset[:2]) / 0.03, 1)]
                stage = 4 + (2 - np.tanh(np.linalg.norm(over) / 0.2) - np.tanh(np.linalg.norm(over) / 0.03)) / 2
            if on:
                release = (1 + action[n, 3]) / 2 if held else 1
                stage = 5 + 2 * release + 1 - np.tanh(10 * linear + angular)
            break
        k = min(stacked + 1, cubes - 1)
        cube = [part for i in range(cubes) for part in (pos[n, i], s.qpos[n, 12 + 7 * i : 16 + 7 * i])]
        way = pos[n, k - 1] + [0, 0, 2 * HALF] - pos[n, k]
        obs.append(np.concatenate([*cube, pos[n, k] - s.grip[n], way, [holds(s, pos[:, k])[n], stacked]]))
        rewards.append((8 * stacked / most, stage / most))
        done.append(stacked == cubes - 1)
    terms = dict(zip(("stacked", "next"), np.transpose(rewards), strict=True))
    return [*arm(s), np.stack(obs)], terms | {"effort": -0.002 * (action**2).sum(1)}, np.array(done)


def drawer(s, action):
    """ManiSkill's OpenCabinetDrawer."""
    opened, speed = s.qpos[:, 9], s.qvel[:, 9]
    success = (opened >= 0.15) & (abs(speed) < 0.05)
    terms = {
        "reach": np.where(success, 1, near(norm(s.handle - s.grip))),
        "open": 2 * np.minimum(np.maximum(opened / 0.15, 0), 1),
        "success": success,
        "effort": -0.01 * (action**2).sum(1),
    }
    return [*arm(s), s.qpos[:, 9:10], s.qvel[:, 9:10], s.handle, s.handle - s.grip], terms, success


def peg(s, action):
    """Approach, alignment and depth, as in IsaacLab's Factory tasks."""
    frame = Rotation.from_quat(s.quat("peg")[:, [1, 2, 3, 0]])
    tip = s.body("peg") + frame.apply([0, 0, -0.05])
    way = s.goal + np.array([0, 0, 0.025]) - tip
    aside, depth = norm(way[:, :2]), way[:, 2]
    inside = (aside < 0.004) & (depth > 0)
    success = inside & (depth >= 0.04)
    terms = {
        "approach": np.where(inside, 1, near(norm(way))),
        "align": near(aside, 50),
        "insert": np.where(inside, 3 * np.minimum(depth / 0.04, 1), 0),
        "success": success,
        "effort": -0.01 * (action**2).sum(1),
    }
    return [*arm(s), tip, s.quat("peg"), way], terms, success
