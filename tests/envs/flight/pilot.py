"""A pilot for the drone, in numpy: place to tilt to rates, of what the task's observation tells and no more."""

import numpy as np

GRAVITY, HOVER = 9.81, 0.027 * 9.81 / 4  # m/s^2, N
INERTIA = np.array([1.4e-5, 1.4e-5, 2.17e-5])  # kg m^2
PLACES = 0.028 * np.array([[1, -1], [-1, -1], [-1, 1], [1, 1]])  # m
TURN = 0.025127 * np.array([-1, 1, -1, 1])  # m


def fly(seen: np.ndarray, actions: str, scale: float = 0.4, max_rate: float = 6.0) -> np.ndarray:
    """Return actions (n, 4) that bring the drone to its goal, of observations (n, >= 12)."""
    velocity, rates, down, way = (seen[:, k : k + 3] for k in (0, 3, 6, 9))
    reach = np.minimum(1, 1.0 / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-6))
    # The acceleration that is wanted in the frame of the body, against gravity, is where "up" should point.
    wanted = 4.0 * way * reach - 3.5 * velocity - GRAVITY * down
    lift = wanted[:, 2] / GRAVITY
    up = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)
    turn = np.stack((-up[:, 1], up[:, 0], 0 * lift), axis=1)  # e_z x up: how the body has to turn
    asked = 8.0 * turn
    collective = (lift - 1) / scale
    if actions == "rates":
        return np.clip(np.column_stack((collective, asked / max_rate)), -1, 1)
    torque = INERTIA * 20.0 * (asked - rates)
    share = torque[:, :1] * PLACES[:, 1] / (4 * 0.028**2) - torque[:, 1:2] * PLACES[:, 0] / (4 * 0.028**2)
    share = share + torque[:, 2:] * TURN / (4 * 0.025127**2)
    return np.clip((lift[:, None] - 1) / scale + share / (HOVER * scale), -1, 1)
