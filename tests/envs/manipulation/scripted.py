"""Policies written by hand, which prove that the arm's tasks can be done: functions of observations alone, (n, ...)."""

import numpy as np

GRIP, CUBE = slice(16, 19), slice(19, 22)
GAIN = 8.0  # actions per metre
OPEN, CLOSE = 1.0, -1.0
ABOVE = np.array([0, 0, 0.08])  # m


def towards(obs: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The action (n, 3) that brings the grip to a target."""
    return np.clip(GAIN * (target - obs[:, GRIP]), -1, 1)


def fetch(obs: np.ndarray, cube: np.ndarray, holding: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Come from above, grasp, and bring to a place what is held: actions (n, 4)."""
    grip = obs[:, GRIP]
    aside = np.linalg.norm((cube - grip)[:, :2], axis=1)
    there = np.linalg.norm(cube - grip, axis=1) < 0.006
    above = np.where((aside > 0.01)[:, None], cube + ABOVE, cube)
    target = np.where((holding > 0)[:, None], place, above)
    return np.column_stack((towards(obs, target), np.where(there | (holding > 0), CLOSE, OPEN)))


def reach(obs: np.ndarray) -> np.ndarray:
    """Go to the goal."""
    return towards(obs, obs[:, 19:22])


def push(obs: np.ndarray) -> np.ndarray:
    """Go over the cube to the side that is away from the goal, down, and on."""
    grip, cube, way = obs[:, GRIP], obs[:, CUBE], obs[:, 29:31]
    distance = np.linalg.norm(way, axis=1, keepdims=True)
    ahead = way / (distance + 1e-6)
    offset = grip[:, :2] - cube[:, :2]
    along = (offset * ahead).sum(axis=1, keepdims=True)
    across = offset - along * ahead
    behind = (along < -0.02) & (np.linalg.norm(across, axis=1, keepdims=True) < 0.012) & (grip[:, 2:] < 0.035)
    start = cube[:, :2] - 0.06 * ahead
    low = np.linalg.norm(grip[:, :2] - start, axis=1, keepdims=True) < 0.02
    target = np.column_stack((start, np.where(low, 0.02, 0.09)))
    onward = np.clip(2 * distance, 0.1, 0.3) * ahead - 4 * across
    pushing = np.column_stack((onward, GAIN * (0.02 - grip[:, 2])))
    return np.where(distance < 0.02, 0, np.where(behind, np.clip(pushing, -1, 1), towards(obs, target)))


def pick(obs: np.ndarray) -> np.ndarray:
    """Fetch the cube to the goal."""
    return fetch(obs, obs[:, CUBE], obs[:, 32], obs[:, CUBE] + obs[:, 29:32])


def stack(obs: np.ndarray) -> np.ndarray:
    """Lift the next cube, bring it over its place, let it down, let go, and rise."""
    grip, way = obs[:, GRIP], obs[:, -5:-2]
    cube, holding = grip + obs[:, -8:-5], obs[:, -2]
    aside = np.linalg.norm(way[:, :2], axis=1)[:, None]
    over = cube + way + np.where(aside > 0.02, ABOVE, 0.025 * ABOVE)
    carry = np.where((way[:, 2:] < -0.03) | (aside < 0.03), over, cube + ABOVE)
    settled = (aside[:, 0] < 0.012) & (np.abs(way[:, 2]) < 0.004)
    settled |= (obs[:, -1] > 0) & (holding < 1) & (grip[:, 2] < 0.11) & (np.linalg.norm(grip - cube, axis=1) > 0.1)
    rise = np.column_stack((towards(obs, grip + ABOVE) * (obs[:, 7:8] > 0.07), np.full(len(obs), OPEN)))
    return np.where(settled[:, None], rise, fetch(obs, cube, holding, carry))


def pull(obs: np.ndarray) -> np.ndarray:
    """Go over the handle, down, close, and pull."""
    handle, grip = obs[:, 21:24], obs[:, GRIP]
    aside = np.linalg.norm((handle - grip)[:, :2], axis=1)
    there = np.linalg.norm(handle - grip, axis=1) < 0.01
    held = (obs[:, 7] < 0.03) & (aside < 0.03)
    target = np.where((aside > 0.01)[:, None], handle + 1.2 * ABOVE, handle)
    action = np.column_stack((towards(obs, target), np.where(there | held, CLOSE, OPEN)))
    pulling = np.tile([-0.4, 0, 0, CLOSE], (len(obs), 1))
    pulling[:, 0] *= obs[:, 19] < 0.17
    return np.where(held[:, None], pulling, action)


def insert(obs: np.ndarray) -> np.ndarray:
    """Bring the tip over the mouth, then down."""
    way = obs[:, 26:29]
    aside = np.linalg.norm(way[:, :2], axis=1)
    over = np.where(aside < 0.003, -0.06, 0.02)
    over = np.where((way[:, 2] > 0.001) & (aside < 0.004), -0.06, over)
    return np.clip(2 * GAIN * (way + np.column_stack((0 * over, 0 * over, over))), -0.5, 0.5)
