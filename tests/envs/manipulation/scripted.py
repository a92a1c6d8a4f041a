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
