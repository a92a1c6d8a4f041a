"""MuJoCo with forces of mechanisms that it does not have, computed in numpy: the oracle of Tumble's own parts."""

import contextlib
from collections.abc import Callable, Iterator

import mujoco
import numpy as np


@contextlib.contextmanager
def passive_force(force: Callable[[mujoco.MjModel, mujoco.MjData], np.ndarray]) -> Iterator[None]:
    """Let MuJoCo add a force (nv,) to qfrc_passive in every evaluation, those inside a Runge-Kutta step too."""

    def add(mjm: mujoco.MjModel, data: mujoco.MjData) -> None:
        data.qfrc_passive[:] += force(mjm, data)

    mujoco.set_mjcb_passive(add)
    try:
        yield
    finally:
        mujoco.set_mjcb_passive(None)
