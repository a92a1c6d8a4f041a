"""Sensors of subtrees, of energy, of time, and of what kernels read of contacts."""

import mujoco
import numpy as np
import torch

from ..model.contact_sensors import read_contacts
from ..model.kernel_numbers import disabled
from ..model.model import Model
from ..readout.actuators import rotation_vectors
from ..readout.derived import multiply
from .objects import Objects
from .reader import Look, Read, Reader

Tensor = torch.Tensor
_S, _J = mujoco.mjtSensor, mujoco.mjtJoint
_FREE, _BALL = int(_J.mjJNT_FREE), int(_J.mjJNT_BALL)


def _of_bodies(name: str) -> Reader:
    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        bodies = model.mj.sensor_objid[sensors]
        return lambda look: look.sight[name][:, look.sight.ids((name, tuple(sensors)), bodies)].flatten(1)

    return Reader((name,), prepare)


def _repeated(energy: Tensor, sensors: np.ndarray) -> Tensor:
    return energy[:, None].expand(-1, len(sensors))


def _kinetic(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    def read(look: Look) -> Tensor:
        qvel = look.sight["eval_qvel"]
        return _repeated(0.5 * (qvel * (look.sight["qM"] @ qvel[..., None])[..., 0]).sum(-1), sensors)

    return read


def _potential(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    """Weight, and springs of joints (mj_energyPos)."""
    mj = model.mj
    heavy = not disabled(mj, mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    springs = [] if disabled(mj, mujoco.mjtDisableBit.mjDSBL_SPRING) else np.flatnonzero(mj.jnt_stiffness).tolist()

    def read(look: Look) -> Tensor:
        sight = look.sight
        energy = sight["xipos"][:, 0, 0] * 0.0
        if heavy:
            gravity = sight.own.get("gravity")
            if gravity is None:
                gravity = sight.constant("gravity", lambda: sight.tensor(mj.opt.gravity)[None])
            weight = sight.of_model("body_mass")[:, 1:, None] * gravity[:, None]
            energy = energy - (weight * sight["xipos"][:, 1:]).sum((1, 2))
        for j in springs:
            energy = energy + _spring(look, j)
        return _repeated(energy, sensors)

    return read


def _spring(look: Look, j: int) -> Tensor:
    sight, mj = look.sight, look.sight.model.mj
    qpos, rest = sight["eval_qpos"], sight.of_model("qpos_spring")
    kind, q = mj.jnt_type[j], int(mj.jnt_qposadr[j])
    squares = []
    if kind == _FREE:
        squares.append(((qpos[:, q : q + 3] - rest[:, q : q + 3]) ** 2).sum(-1))
        q += 3
    if kind in (_FREE, _BALL):
        back = rest[:, q : q + 4] * sight.constant("conjugate", lambda: sight.tensor([1.0, -1, -1, -1]))
        squares.append((rotation_vectors(multiply(back.expand(len(qpos), 4), qpos[:, q : q + 4])) ** 2).sum(-1))
    else:
        squares.append((qpos[:, q] - rest[:, q]) ** 2)
    return 0.5 * sight.of_model("jnt_stiffness")[:, j] * sum(squares)


def _clock(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    step = float(model.mj.opt.timestep)
    return lambda look: _repeated((look.steps.double() * step).to(look.sight["xpos"].dtype), sensors)


def _contacts(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    """Touch and contact sensors."""
    mj, known = model.mj, read_contacts(model.mj).tolist()
    begins = np.cumsum([0, *mj.sensor_dim[known]])
    places = [begins[known.index(s)] + np.arange(mj.sensor_dim[s]) for s in sensors.tolist()]
    return lambda look: look.sight["sensed"][:, look.sight.ids(("sensed", tuple(sensors)), np.concatenate(places))]


READERS: dict[int, Reader] = {
    int(kind): reader
    for kind, reader in {
        _S.mjSENS_SUBTREECOM: _of_bodies("subtree_com"),
        _S.mjSENS_SUBTREELINVEL: _of_bodies("subtree_linvel"),
        _S.mjSENS_SUBTREEANGMOM: _of_bodies("subtree_angmom"),
        _S.mjSENS_E_KINETIC: Reader(("eval_qvel", "qM"), _kinetic),
        _S.mjSENS_E_POTENTIAL: Reader(("eval_qpos", "xipos"), _potential),
        _S.mjSENS_CLOCK: Reader(("xpos",), _clock),
        _S.mjSENS_TOUCH: Reader(("sensed",), _contacts),
        _S.mjSENS_CONTACT: Reader(("sensed",), _contacts),
    }.items()
}
"""By MuJoCo's number of the type of sensor."""
