"""Sensors of joints and tendons, their limits, and actuators."""

import mujoco
import numpy as np
import torch

from ...files.mjmodel.actuators import owners
from ...model.model import Model
from .objects import Objects
from .reader import Read, Reader, SensorView, column

Tensor = torch.Tensor
_S, _T = mujoco.mjtSensor, mujoco.mjtTrn


def _limit(name: str, of: str = "joint") -> Reader:
    """Read the limit of a joint or tendon that is in force: the lower one, else the upper one."""

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        tendons = np.asarray(model.values["limit_tendon"]).ravel()
        joints = np.where(tendons < 0, np.asarray(model.values["limit_jnt"]).ravel(), -1)
        items = joints if of == "joint" else tendons
        rows = [np.flatnonzero(items == item) for item in model.mj.sensor_objid[sensors]]
        there = np.array([len(r) > 0 for r in rows], float)
        low, high = ([int(r[at]) if len(r) else 0 for r in rows] for at in (0, -1))

        def read(view: SensorView) -> Tensor:
            quantities, key = view.quantities, tuple(sensors)
            if not there.any():
                return quantities["eval_qpos"].new_zeros((len(quantities), len(sensors)))
            first, last = quantities.ids(("low", key), low), quantities.ids(("high", key), high)
            depth, found = quantities["limit_pos"], quantities[name]
            chosen = torch.where(depth[:, first] < 0.0, found[:, first], found[:, last])
            return chosen * quantities.constant(("limited", key), lambda: quantities.tensor(there))

        return read

    return Reader(("eval_qpos", "limit_pos", name), prepare)


def _pulls(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    """Sums of the forces of all actuators on tendons."""
    mj = model.mj
    of = owners(mj)
    on_tendon = mj.actuator_trntype[of] == int(_T.mjTRN_TENDON)
    pulls = on_tendon & (mj.actuator_trnid[of, 0] == mj.sensor_objid[sensors][:, None])

    def read(view: SensorView) -> Tensor:
        weights = view.quantities.constant(
            ("pulls", tuple(sensors)), lambda: view.quantities.tensor(pulls.astype(float))
        )
        return view.quantities["actuator_force"] @ weights.T

    return read


def _outputs(mj: mujoco.MjModel, actuators: np.ndarray) -> np.ndarray:
    """All outputs of some actuators, one actuator's after the other's."""
    return np.concatenate([mj.actuator_outadr[a] + np.arange(mj.actuator_outnum[a]) for a in actuators])


READERS: dict[mujoco.mjtSensor, Reader] = {
    _S.mjSENS_JOINTPOS: column("eval_qpos", lambda mj, joints: mj.jnt_qposadr[joints]),
    _S.mjSENS_JOINTVEL: column("eval_qvel", lambda mj, joints: mj.jnt_dofadr[joints]),
    _S.mjSENS_JOINTACTFRC: column("qfrc_actuator", lambda mj, joints: mj.jnt_dofadr[joints]),
    _S.mjSENS_ACTUATORFRC: column("actuator_force", _outputs),
    _S.mjSENS_ACTUATORPOS: column("actuator_length", _outputs),
    _S.mjSENS_ACTUATORVEL: column("actuator_velocity", _outputs),
    _S.mjSENS_BALLQUAT: column("eval_qpos", lambda mj, balls: mj.jnt_qposadr[balls][:, None] + range(4), unit=True),
    _S.mjSENS_BALLANGVEL: column("eval_qvel", lambda mj, balls: mj.jnt_dofadr[balls][:, None] + range(3)),
    _S.mjSENS_JOINTLIMITPOS: _limit("limit_pos"),
    _S.mjSENS_JOINTLIMITVEL: _limit("limit_vel"),
    _S.mjSENS_JOINTLIMITFRC: _limit("limit_force"),
    _S.mjSENS_TENDONPOS: column("ten_length", lambda mj, tendons: tendons),
    _S.mjSENS_TENDONVEL: column("ten_velocity", lambda mj, tendons: tendons),
    _S.mjSENS_TENDONLIMITPOS: _limit("limit_pos", "tendon"),
    _S.mjSENS_TENDONLIMITVEL: _limit("limit_vel", "tendon"),
    _S.mjSENS_TENDONLIMITFRC: _limit("limit_force", "tendon"),
    _S.mjSENS_TENDONACTFRC: Reader(("actuator_force",), _pulls),
}
"""By the type of sensor."""
