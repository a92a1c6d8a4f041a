"""Sensors of energy (MuJoCo's mj_energyPos and mj_energyVel), of subtrees, of time, and of contacts by kernels.

The energy of a spring that yields is measured from where it rests at the evaluation (`solver.plastic`).
"""

import mujoco
import numpy as np
import torch

from ...base.joints import COORDINATES, is_free, is_scalar
from ...base.rotations import quat_mul
from ...files.mjmodel.contact_sensors import read_contacts
from ...files.mjmodel.flags import disabled
from ...model.model import Model
from ..readout.actuators import rotation_vectors
from .objects import Objects
from .reader import Read, Reader, SensorView, column, repeated

Tensor = torch.Tensor
_S, _D = mujoco.mjtSensor, mujoco.mjtDisableBit


def _kinetic(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    def read(view: SensorView) -> Tensor:
        qvel = view.quantities["eval_qvel"]
        return repeated(0.5 * (qvel * (view.quantities["qM"] @ qvel[..., None])[..., 0]).sum(-1), sensors)

    return read


def _potential(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    mj = model.mj
    heavy, slack = not disabled(mj, _D.mjDSBL_GRAVITY), disabled(mj, _D.mjDSBL_SPRING)
    joints, tendons = ([] if slack else _with_springs(mj, kind) for kind in ("jnt", "tendon"))

    def read(view: SensorView) -> Tensor:
        energy = view.quantities["xipos"][:, 0, 0] * 0.0
        if heavy:
            energy = energy + _of_weight(view)
        for j in joints:
            energy = energy + _of_joint(view, j)
        for t in tendons:
            energy = energy + _of_tendon(view, t)
        return repeated(energy, sensors)

    return read


def _with_springs(mj: mujoco.MjModel, kind: str) -> list[int]:
    """Ids of the joints or tendons that have any stiffness."""
    linear, higher = getattr(mj, f"{kind}_stiffness"), getattr(mj, f"{kind}_stiffnesspoly")
    return np.flatnonzero((linear != 0) | higher.any(axis=1)).tolist()


def _of_weight(view: SensorView) -> Tensor:
    quantities = view.quantities
    gravity = quantities.own.get("gravity")
    if gravity is None:
        gravity = quantities.constant("gravity", lambda: quantities.tensor(quantities.model.mj.opt.gravity)[None])
    weight = quantities.of_model("body_mass")[:, 1:, None] * gravity[:, None]
    return -(weight * quantities["xipos"][:, 1:]).sum((1, 2))


def _of_spring(view: SensorView, kind: str, k: int, stretch: Tensor) -> Tensor:
    """Work against a spring whose force is a polynomial of the stretch: k x + k1 x^2 + k2 x^3."""
    linear = view.quantities.of_model(f"{kind}_stiffness")[:, k]
    k1, k2 = getattr(view.quantities.model.mj, f"{kind}_stiffnesspoly")[k].tolist()
    return stretch**2 * (0.5 * linear + stretch * (k1 / 3 + stretch * (k2 / 4)))


def _of_joint(view: SensorView, j: int) -> Tensor:
    quantities, mj = view.quantities, view.quantities.model.mj
    qpos, rest = quantities["eval_qpos"], _rest_of_joint(view, j)
    kind, q = mj.jnt_type[j], int(mj.jnt_qposadr[j])
    if is_scalar(kind):
        return _of_spring(view, "jnt", j, qpos[:, q] - rest[:, 0])
    energy = torch.zeros_like(qpos[:, 0])
    if is_free(kind):
        energy = _of_spring(view, "jnt", j, (qpos[:, q : q + 3] - rest[:, :3]).norm(dim=-1))
        q, rest = q + 3, rest[:, 3:]
    back = rest * quantities.constant("conjugate", lambda: quantities.tensor([1.0, -1, -1, -1]))
    turn = rotation_vectors(quat_mul(back.expand(len(qpos), 4), qpos[:, q : q + 4]))
    return energy + _of_spring(view, "jnt", j, turn.norm(dim=-1))


def _rest_of_joint(view: SensorView, j: int) -> Tensor:
    """The coordinates (n or 1, 1, 4 or 7) of joint j at which its spring has no energy."""
    mj = view.quantities.model.mj
    q, width = int(mj.jnt_qposadr[j]), int(COORDINATES[mj.jnt_type[j]])
    if (adr := int(mj.jnt_plasticadr[j])) >= 0:
        return view.quantities["eval_plastic"][:, adr : adr + width]
    return view.quantities.of_model("qpos_spring")[:, q : q + width]


def _of_tendon(view: SensorView, t: int) -> Tensor:
    length, adr = view.quantities["ten_length"][:, t], int(view.quantities.model.mj.tendon_plasticadr[t])
    rest = view.quantities.of_model("tendon_lengthspring")[:, t]
    if adr >= 0:
        rest = view.quantities["eval_plastic"][:, adr : adr + 2]
    stretch = (length - rest[:, 1]).clamp(min=0) + (length - rest[:, 0]).clamp(max=0)
    return _of_spring(view, "tendon", t, stretch)


def _clock(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    step = float(model.mj.opt.timestep)
    return lambda view: repeated((view.steps.double() * step).to(view.quantities["xpos"].dtype), sensors)


def _contacts(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
    """Touch and contact sensors."""
    mj, known = model.mj, read_contacts(model.mj).tolist()
    begins = np.cumsum([0, *mj.sensor_dim[known]])
    places = [begins[known.index(s)] + np.arange(mj.sensor_dim[s]) for s in sensors.tolist()]
    return lambda view: view.quantities["sensed"][
        :, view.quantities.ids(("sensed", tuple(sensors)), np.concatenate(places))
    ]


READERS: dict[mujoco.mjtSensor, Reader] = {
    _S.mjSENS_E_KINETIC: Reader(("eval_qvel", "qM"), _kinetic),
    _S.mjSENS_E_POTENTIAL: Reader(("eval_qpos", "eval_plastic", "xipos", "ten_length"), _potential),
    _S.mjSENS_SUBTREECOM: column("subtree_com", lambda mj, bodies: bodies),
    _S.mjSENS_SUBTREELINVEL: column("subtree_linvel", lambda mj, bodies: bodies),
    _S.mjSENS_SUBTREEANGMOM: column("subtree_angmom", lambda mj, bodies: bodies),
    _S.mjSENS_CLOCK: Reader(("xpos",), _clock),
    _S.mjSENS_TOUCH: Reader(("sensed",), _contacts),
    _S.mjSENS_CONTACT: Reader(("sensed",), _contacts),
}
"""By the type of sensor."""
