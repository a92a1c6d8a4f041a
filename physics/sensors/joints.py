"""Sensors of joints and tendons, their limits, and actuators."""

from collections.abc import Callable

import mujoco
import numpy as np
import torch

from ..model.model import Model
from ..model.outputs import owners
from ..readout.derived import rotate
from .objects import Objects
from .reader import Look, Read, Reader, column

Tensor = torch.Tensor
_S, _T = mujoco.mjtSensor, mujoco.mjtTrn
_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


def rotation_vectors(quat: Tensor) -> Tensor:
    """Axis times angle (..., 3) of quaternions (..., 4), the angle in (-pi, pi]."""
    unit = torch.nn.functional.normalize(quat, dim=-1)
    sine = unit[..., 1:].norm(dim=-1, keepdim=True)
    angle = 2.0 * torch.atan2(sine, unit[..., :1])
    angle = torch.where(angle > torch.pi, angle - 2.0 * torch.pi, angle)
    return unit[..., 1:] * (angle / sine.clamp(min=1e-15))


def _run(name: str, first: Callable[[mujoco.MjModel, np.ndarray], np.ndarray], width: int, unit: bool) -> Reader:
    """Sensors that are several numbers of a field in a row; `unit`: a quaternion, which is normalised."""

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        where = first(model.mj, model.mj.sensor_objid[sensors])[:, None] + np.arange(width)

        def read(look: Look) -> Tensor:
            found = look.sight[name][:, look.sight.ids((name, tuple(sensors)), where)]
            return (torch.nn.functional.normalize(found, dim=-1) if unit else found).flatten(1)

        return read

    return Reader((name,), prepare)


def _limit(name: str, of: str = "joint") -> Reader:
    """Of the limit of a joint or tendon that is in force: the lower one, else the upper one."""

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        tendons = np.asarray(model.values["limit_tendon"]).ravel()
        joints = np.where(tendons < 0, np.asarray(model.values["limit_jnt"]).ravel(), -1)
        items = joints if of == "joint" else tendons
        rows = [np.flatnonzero(items == item) for item in model.mj.sensor_objid[sensors]]
        there = np.array([len(r) > 0 for r in rows], float)
        low, high = ([int(r[at]) if len(r) else 0 for r in rows] for at in (0, -1))

        def read(look: Look) -> Tensor:
            sight, key = look.sight, tuple(sensors)
            if not there.any():
                return sight["eval_qpos"].new_zeros((len(sight), len(sensors)))
            first, last = sight.ids(("low", key), low), sight.ids(("high", key), high)
            depth, found = sight["limit_pos"], sight[name]
            chosen = torch.where(depth[:, first] < 0.0, found[:, first], found[:, last])
            return chosen * sight.constant(("limited", key), lambda: sight.tensor(there))

        return read

    return Reader(("eval_qpos", "limit_pos", name), prepare)


def _actuator(velocity: bool) -> Reader:
    """Length or velocity of what actuators on joints drive."""

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        mj, actuators = model.mj, model.mj.sensor_objid[sensors]
        joints = mj.actuator_trnid[actuators, 0]
        turning = np.isin(mj.jnt_type[joints], (_FREE, _BALL))
        place = (mj.jnt_dofadr if velocity else mj.jnt_qposadr)[joints]

        def read(look: Look) -> Tensor:
            sight, key = look.sight, ("actuators", velocity, tuple(sensors))
            gear = sight.of_model("actuator_gear")[:, sight.ids(key, mj.actuator_outadr[actuators])]
            state = sight["eval_qvel" if velocity else "eval_qpos"]
            found = state[:, sight.ids((key, "place"), place)] * gear[..., 0]
            for row in np.flatnonzero(turning):
                found[:, row] = _of_turning(look, int(actuators[row]), int(joints[row]), gear[:, row], velocity)
            return found

        return read

    return Reader(("eval_qvel", "eval_qpos"), prepare)


def _of_turning(look: Look, actuator: int, joint: int, gear: Tensor, velocity: bool) -> Tensor:
    """The same on a ball or free joint, whose gear is an axis; (n,)."""
    mj, sight = look.sight.model.mj, look.sight
    free = mj.jnt_type[joint] == _FREE
    q, dof = int(mj.jnt_qposadr[joint]) + 3 * free, int(mj.jnt_dofadr[joint])
    quat = torch.nn.functional.normalize(sight["eval_qpos"][:, q : q + 4], dim=-1)
    axis = (gear[:, 3:] if free else gear[:, :3]).expand(len(quat), 3)
    if mj.actuator_trntype[actuator] == int(_T.mjTRN_JOINTINPARENT):
        axis = rotate(quat * sight.constant("conjugate", lambda: sight.tensor([1.0, -1, -1, -1])), axis)
    if not velocity:
        return quat[:, 0] * 0.0 if free else (rotation_vectors(quat) * axis).sum(-1)
    qvel = sight["eval_qvel"]
    if free:
        return (qvel[:, dof : dof + 3] * gear[:, :3]).sum(-1) + (qvel[:, dof + 3 : dof + 6] * axis).sum(-1)
    return (qvel[:, dof : dof + 3] * axis).sum(-1)


def _tendon_pull() -> Reader:
    """Sum of the forces of all actuators on a tendon."""

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        mj = model.mj
        of = owners(mj)
        on_tendon = mj.actuator_trntype[of] == int(_T.mjTRN_TENDON)
        pulls = on_tendon & (mj.actuator_trnid[of, 0] == mj.sensor_objid[sensors][:, None])

        def read(look: Look) -> Tensor:
            weights = look.sight.constant(("pulls", tuple(sensors)), lambda: look.sight.tensor(pulls.astype(float)))
            return look.sight["actuator_force"] @ weights.T

        return read

    return Reader(("actuator_force",), prepare)


READERS: dict[int, Reader] = {
    int(kind): reader
    for kind, reader in {
        _S.mjSENS_JOINTPOS: column("eval_qpos", lambda mj, joints: mj.jnt_qposadr[joints]),
        _S.mjSENS_JOINTVEL: column("eval_qvel", lambda mj, joints: mj.jnt_dofadr[joints]),
        _S.mjSENS_JOINTACTFRC: column("qfrc_actuator", lambda mj, joints: mj.jnt_dofadr[joints]),
        _S.mjSENS_ACTUATORFRC: column("actuator_force", lambda mj, actuators: mj.actuator_outadr[actuators]),
        _S.mjSENS_ACTUATORPOS: _actuator(velocity=False),
        _S.mjSENS_ACTUATORVEL: _actuator(velocity=True),
        _S.mjSENS_BALLQUAT: _run("eval_qpos", lambda mj, joints: mj.jnt_qposadr[joints], 4, unit=True),
        _S.mjSENS_BALLANGVEL: _run("eval_qvel", lambda mj, joints: mj.jnt_dofadr[joints], 3, unit=False),
        _S.mjSENS_JOINTLIMITPOS: _limit("limit_pos"),
        _S.mjSENS_JOINTLIMITVEL: _limit("limit_vel"),
        _S.mjSENS_JOINTLIMITFRC: _limit("limit_force"),
        _S.mjSENS_TENDONPOS: column("ten_length", lambda mj, tendons: tendons),
        _S.mjSENS_TENDONVEL: column("ten_velocity", lambda mj, tendons: tendons),
        _S.mjSENS_TENDONLIMITPOS: _limit("limit_pos", "tendon"),
        _S.mjSENS_TENDONLIMITVEL: _limit("limit_vel", "tendon"),
        _S.mjSENS_TENDONLIMITFRC: _limit("limit_force", "tendon"),
        _S.mjSENS_TENDONACTFRC: _tendon_pull(),
    }.items()
}
"""By MuJoCo's number of the type of sensor."""
