"""The dynamics of `ilqr.py` by MuJoCo: one state after the other, with derivatives by differences."""

import mujoco
import numpy as np
from ilqr import Dynamics


class InMujoco(Dynamics):
    """Periods of `n` steps of MuJoCo's model; see `Dynamics`."""

    def __init__(self, model, horizon, trials, n):
        self.model, self.nq, self.horizon, self.trials, self.n = model, int(model.mj.nq), horizon, trials, n
        self.mj = model.mj
        self.quaternion = 3 if self.mj.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE else None
        self.low, self.high = self.mj.actuator_ctrlrange.T
        self.data = [mujoco.MjData(self.mj) for _ in range(trials)]

    def begin(self, states):
        """See `Dynamics.begin`."""
        states = np.broadcast_to(states, (self.trials, states.shape[-1]))
        for data, state in zip(self.data, states, strict=True):
            mujoco.mj_resetData(self.mj, data)
            data.qpos[:], data.qvel[:] = state[: self.nq], state[self.nq :]
        return states

    def step(self, controls):
        """See `Dynamics.step`."""
        for data, control in zip(self.data, controls, strict=True):
            data.ctrl[:] = control
            mujoco.mj_step(self.mj, data, self.n)
        return np.stack([np.concatenate((data.qpos, data.qvel)) for data in self.data])

    def jacobians(self, states, controls):
        """See `Dynamics.jacobians`: differences step by step, chained."""
        data, size = self.data[0], 2 * self.mj.nv
        by_state, by_control = np.empty((len(states), size, size)), np.empty((len(states), size, self.mj.nu))
        a, b = np.empty((size, size)), np.empty((size, self.mj.nu))
        for t, (state, control) in enumerate(zip(states, controls, strict=True)):
            data.qpos[:], data.qvel[:], data.ctrl[:] = state[: self.nq], state[self.nq :], control
            by_state[t], by_control[t] = np.eye(size), 0.0
            for _ in range(self.n):
                mujoco.mjd_transitionFD(self.mj, data, 1e-6, True, a, b, None, None)
                by_state[t], by_control[t] = a @ by_state[t], a @ by_control[t] + b
                mujoco.mj_step(self.mj, data)
        return by_state, by_control
