"""Lengths, rates and moments of actuators' outputs, whatever they drive, in MuJoCo's order."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
import torch

from ..kinematics.joints import DOFS, is_free, is_scalar
from ..mjmodel.flags import disabled
from ..mjmodel.transmissions import TENDON, actuator_types
from ..model.model import Model

Tensor = torch.Tensor
Fields = dict[str, Tensor]
_kept: WeakKeyDictionary[Model, dict[torch.device, "_Outputs"]] = WeakKeyDictionary()

LENGTH_SOURCES = ("eval_qpos", "moment", "ten_length", "trn_length")
VELOCITY_SOURCES = ("eval_qvel", "moment", "ten_velocity", "trn_velocity")
MOMENT_SOURCES = ("moment", "ten_J", "trn_moment")


def chosen(items: Any, device: torch.device) -> Any:
    """Indices of items (k,) on a device; a slice where they follow each other, as a slice is not copied."""
    if isinstance(items, slice):
        return items
    ids = np.asarray(items, np.int64)
    if ids.ndim == 1 and len(ids) and np.array_equal(ids, np.arange(ids[0], ids[0] + len(ids))):
        return slice(int(ids[0]), int(ids[0]) + len(ids))
    return torch.as_tensor(ids, device=device)


def rotation_vectors(quat: Tensor) -> Tensor:
    """Axis times angle (..., 3) of quaternions (..., 4), the angle in (-pi, pi]."""
    unit = torch.nn.functional.normalize(quat, dim=-1)
    sine = unit[..., 1:].norm(dim=-1, keepdim=True)
    angle = 2.0 * torch.atan2(sine, unit[..., :1])
    angle = torch.where(angle > torch.pi, angle - 2.0 * torch.pi, angle)
    return unit[..., 1:] * (angle / sine.clamp(min=1e-15))


@dataclass(frozen=True)
class _Outputs:
    """Outputs by what they drive.

    Attributes:
        straight: those on hinges and slides, then their coordinates, then their dofs.
        pulls: those on tendons, then these.
        turning: on ball and free joints: (output, joint) each.
        others: on neither a joint nor a tendon.
    """

    straight: tuple[Any, Any, Any]
    pulls: tuple[Any, Any]
    turning: list[tuple[int, int]]
    others: Any


def _outputs(model: Model, device: torch.device) -> _Outputs:
    """The outputs of a model, with indices on a device; kept, as their way to a GPU is waited for."""
    kept = _kept.setdefault(model, {})
    if device not in kept:
        mj = model.mj
        kind, out, driven = actuator_types(mj), mj.actuator_outadr, mj.actuator_trnid[:, 0]
        straight, pulls = is_scalar(kind) & (kind < TENDON), kind == TENDON
        joints = driven[straight]
        where = [np.arange(out[a], out[a] + mj.actuator_outnum[a]) for a in np.flatnonzero(kind > TENDON)]
        kept[device] = _Outputs(
            (chosen(out[straight], device), *(chosen(adr[joints], device) for adr in (mj.jnt_qposadr, mj.jnt_dofadr))),
            (chosen(out[pulls], device), chosen(driven[pulls], device)),
            [(int(out[a]), int(driven[a])) for a in np.flatnonzero(~is_scalar(kind))],
            chosen(np.concatenate([*where, np.zeros(0, int)]), device),
        )
    return kept[device]


def lengths(model: Model, fields: Fields, gear: Tensor) -> Tensor:
    """actuator_length (n, nout); `gear` is (n or 1, nout, 6)."""
    qpos, mj = fields["eval_qpos"], model.mj
    found, outputs = qpos.new_zeros((len(qpos), mj.nout)), _outputs(model, qpos.device)
    out, place, _ = outputs.straight
    found[:, out] = qpos[:, place] * gear[:, out, 0]
    _take_others(found, outputs, fields, "length", gear)
    for row, joint in outputs.turning:
        if not is_free(mj.jnt_type[joint]):
            first = int(mj.jnt_qposadr[joint])
            found[:, row] = (rotation_vectors(qpos[:, first : first + 4]) * _moment(fields, row, 3)).sum(-1)
    return found


def velocities(model: Model, fields: Fields, gear: Tensor) -> Tensor:
    """actuator_velocity (n, nout); as in MuJoCo 0 where actuation is off."""
    qvel, mj = fields["eval_qvel"], model.mj
    found, outputs = qvel.new_zeros((len(qvel), mj.nout)), _outputs(model, qvel.device)
    if disabled(mj, mujoco.mjtDisableBit.mjDSBL_ACTUATION):
        return found
    out, _, dof = outputs.straight
    found[:, out] = qvel[:, dof] * gear[:, out, 0]
    _take_others(found, outputs, fields, "velocity", gear)
    for row, joint in outputs.turning:
        first, count = _dofs(mj, joint)
        found[:, row] = (qvel[:, first : first + count] * _moment(fields, row, count)).sum(-1)
    return found


def moments(model: Model, fields: Fields, gear: Tensor, ten_J: Tensor) -> Tensor:
    """actuator_moment, dense (n, nout, nv); `ten_J` is dense too."""
    mj, count = model.mj, len(fields["moment"])
    found, outputs = gear.new_zeros((count, mj.nout, mj.nv)), _outputs(model, gear.device)
    kind = actuator_types(mj)
    on_joint = is_scalar(kind) & (kind < TENDON)  # of single dofs, by pairs of indices: a slice would take a block
    out = mj.actuator_outadr[on_joint]
    found[:, out, mj.jnt_dofadr[mj.actuator_trnid[on_joint, 0]]] = gear[:, out, 0]
    out, tendon = outputs.pulls
    found[:, out] = ten_J[:, tendon] * gear[:, out, :1]
    for row, joint in outputs.turning:
        first, dofs = _dofs(mj, joint)
        found[:, row, first : first + dofs] = _moment(fields, row, dofs)
    rows = np.repeat(np.arange(model.sizes["ntrn"]), model.values["trn_dofnum"])
    found[:, rows, model.values["trn_dof"]] += fields["trn_moment"]
    return found


def _take_others(found: Tensor, outputs: _Outputs, fields: Fields, what: str, gear: Tensor) -> None:
    """Lengths or velocities of outputs on no joint."""
    out, tendon = outputs.pulls
    found[:, out] = fields[f"ten_{what}"][:, tendon] * gear[:, out, 0]
    found[:, outputs.others] = fields[f"trn_{what}"][:, outputs.others]


def _moment(fields: Fields, row: int, count: int) -> Tensor:
    """Derivatives of the length of an output by the dofs of its ball or free joint (n, count)."""
    return fields["moment"].reshape(len(fields["moment"]), -1, 6)[:, row, :count]


def _dofs(mj: mujoco.MjModel, joint: int) -> tuple[int, int]:
    """First dof of a ball or free joint, and their number."""
    return int(mj.jnt_dofadr[joint]), int(DOFS[mj.jnt_type[joint]])
