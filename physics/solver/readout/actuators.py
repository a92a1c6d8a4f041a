"""Moments of actuators' outputs, for all transmissions, as a dense matrix; and other inputs of readings."""

from typing import Any

import numpy as np
import torch

from ...base.joints import DOFS, is_scalar
from ...files.mjmodel.actuators import TENDON, actuator_types
from ...model.model import Model

Tensor = torch.Tensor
Fields = dict[str, Tensor]

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


def moments(model: Model, fields: Fields, gear: Tensor, ten_J: Tensor) -> Tensor:
    """actuator_moment, dense (n, nout, nv); `gear` is (n or 1, nout, 6), and `ten_J` is dense too."""
    mj, moment = model.mj, fields["moment"]
    found = gear.new_zeros((len(moment), mj.nout, mj.nv))
    kind, out, driven = actuator_types(mj), mj.actuator_outadr, mj.actuator_trnid[:, 0]
    single, pulls = is_scalar(kind) & (kind < TENDON), kind == TENDON
    found[:, out[single], mj.jnt_dofadr[driven[single]]] = gear[:, out[single], 0]
    found[:, out[pulls]] = ten_J[:, driven[pulls]] * gear[:, out[pulls], :1]
    for a in np.flatnonzero(~is_scalar(kind)):
        first, count = int(mj.jnt_dofadr[driven[a]]), int(DOFS[mj.jnt_type[driven[a]]])
        found[:, out[a], first : first + count] = moment.reshape(len(moment), -1, 6)[:, out[a], :count]
    rows = np.repeat(np.arange(model.sizes["ntrn"]), model.values["trn_dofnum"])
    found[:, rows, model.values["trn_dof"]] += fields["trn_moment"]
    return found
