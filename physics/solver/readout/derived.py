"""Quantities by MuJoCo's names, made from the fields that kernels compute: frames, dense matrices, shapes."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
import torch

from ...base.rotations import quat_mul, quat_to_rows, rotate
from ...files.mjmodel.tendons import measured
from ...model.model import Model
from ...model.state.fields import QUANTITIES
from . import actuators

Tensor = torch.Tensor
Fields = dict[str, Tensor]
_DECLARED = {f.name: f for f in QUANTITIES}
_kept: WeakKeyDictionary[Model, dict[tuple, Tensor]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Derived:
    """A quantity that follows from fields of the scratch.

    Attributes:
        sources: those fields.
        compute: (model, fields by name, each (num_envs, items, components)) -> the quantity.
    """

    sources: tuple[str, ...]
    compute: Callable[[Model, Fields], Tensor]


def _constant(model: Model, fields: Fields, name: str, like: Tensor) -> Tensor:
    """Return a number of the model, or the per-environment parameters that replace it, environments first."""
    if name in fields:
        return fields[name]
    return _of_model(model, name, like.dtype, like.device)


def _of_model(model: Model, name: str, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Numbers of the model as a tensor; kept on a device, where another copy would be waited for."""
    if device.type == "cpu":
        return torch.as_tensor(getattr(model.mj, name), dtype=dtype)
    kept = _kept.setdefault(model, {})
    if (name, dtype, device) not in kept:
        kept[name, dtype, device] = torch.as_tensor(getattr(model.mj, name), dtype=dtype, device=device)
    return kept[name, dtype, device]


def _position(kind: str) -> Callable[[Model, Fields], Tensor]:
    def compute(model: Model, fields: Fields) -> Tensor:
        quat = fields["xquat"]
        body = _of_model(model, f"{kind}_bodyid", torch.int64, quat.device)
        quat = quat[:, body]
        return fields["xpos"][:, body] + rotate(
            quat, _constant(model, fields, f"{kind}_pos", quat).expand(len(quat), -1, -1)
        )

    return compute


def _rotation(kind: str) -> Callable[[Model, Fields], Tensor]:
    def compute(model: Model, fields: Fields) -> Tensor:
        quat = fields["xquat"]
        body = _of_model(model, f"{kind}_bodyid", torch.int64, quat.device)
        quat = quat[:, body]
        return quat_to_rows(quat_mul(quat, _constant(model, fields, f"{kind}_quat", quat)))

    return compute


def _body_axes(model: Model, fields: Fields) -> Tensor:
    quat = fields["xquat"]
    return quat_to_rows(quat_mul(quat, _constant(model, fields, "body_iquat", quat)))


def _dense_mass(model: Model, fields: Fields) -> Tensor:
    """The symmetric mass matrix (num_envs, nv, nv)."""
    nv, depth = model.mj.nv, model.values["dof_depth"]
    columns = model.dof_paths()
    lower = fields["M"].new_zeros((len(fields["M"]), nv, nv))
    lower[:, np.repeat(np.arange(nv), depth), np.concatenate([*columns, np.zeros(0, int)])] = fields["M"]
    return lower + torch.tril(lower, -1).transpose(1, 2)


def _composite_inertia(model: Model, fields: Fields) -> Tensor:
    """Inertia of every subtree about its tree's centre of mass (num_envs, nbody, 10), as cinert."""
    own, com = fields["subtree_inertia"], fields["com_offset"]
    arm = com - com[:, torch.as_tensor(model.mj.body_rootid).long()]
    mass = _constant(model, fields, "body_subtreemass", own)[..., None].expand_as(arm[..., :1])
    x, y, z = arm.unbind(-1)
    steiner = mass * torch.stack((y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z), -1)
    crb = torch.cat((own + steiner, arm * mass, mass), -1)
    crb[:, 0] = 0.0
    return crb


_CAM = mujoco.mjtCamLight


def camera_poses(model: Model, fields: Fields) -> tuple[Tensor, Tensor]:
    """Positions (num_envs, ncam, 3) and orientations by rows (num_envs, ncam, 9) of the model's cameras."""
    pos, mat = _position("cam")(model, fields).clone(), _rotation("cam")(model, fields).clone()
    for i in range(model.mj.ncam):
        mode, body, target = (int(getattr(model.mj, f"cam_{n}")[i]) for n in ("mode", "bodyid", "targetbodyid"))
        if mode in (int(_CAM.mjCAMLIGHT_TRACK), int(_CAM.mjCAMLIGHT_TRACKCOM)):
            com = mode == int(_CAM.mjCAMLIGHT_TRACKCOM)
            offset = _constant(model, fields, "cam_poscom0" if com else "cam_pos0", pos)[..., i, :]
            pos[:, i] = fields["subtree_com" if com else "xpos"][:, body] + offset
            mat[:, i] = _constant(model, fields, "cam_mat0", mat)[..., i, :]
        elif mode in (int(_CAM.mjCAMLIGHT_TARGETBODY), int(_CAM.mjCAMLIGHT_TARGETBODYCOM)) and target >= 0:
            com = mode == int(_CAM.mjCAMLIGHT_TARGETBODYCOM)
            mat[:, i] = _look_at(pos[:, i], fields["subtree_com" if com else "xpos"][:, target])
    return pos, mat


def _look_at(eye: Tensor, point: Tensor) -> Tensor:
    """Camera axes by rows (n, 9): -z towards the point, x level."""
    z = torch.nn.functional.normalize(eye - point, dim=-1)
    up = torch.zeros_like(z)
    up[:, 2] = 1.0
    x = torch.nn.functional.normalize(torch.linalg.cross(up, z), dim=-1)
    y = torch.nn.functional.normalize(torch.linalg.cross(z, x), dim=-1)
    return torch.stack((x, y, z), -1).reshape(-1, 9)


def _of_tendons(field: str, coordinate: str) -> Callable[[Model, Fields], Tensor]:
    """A number of each tendon: computed, or, of fixed tendons that only measure, from the coordinates."""

    def compute(model: Model, fields: Fields) -> Tensor:
        if model.sizes["ntendon"]:
            return fields[field]
        coordinates = fields[coordinate]
        return coordinates @ coordinates.new_tensor(measured(model.mj, coordinate == "eval_qpos")).T

    return compute


def _tendon_jacobian(model: Model, fields: Fields) -> Tensor:
    """Derivatives of the tendons' lengths by the dofs (num_envs, ntendon, nv)."""
    found, mj = fields["ten_J"], model.mj
    if not model.sizes["ntendon"]:
        return found.new_tensor(measured(mj, False)).expand(len(found), -1, -1)
    dense = found.new_zeros((len(found), mj.ntendon, mj.nv))
    rows = np.repeat(np.arange(mj.ntendon), model.values["tendon_dofnum"])
    dense[:, rows, model.values["tendon_dof"]] = found
    return dense


def _actuator_moment(model: Model, fields: Fields) -> Tensor:
    gear, count = _constant(model, fields, "actuator_gear", fields["moment"]), model.mj.nout
    ten_J = _tendon_jacobian(model, fields)
    return actuators.moments(model, fields, gear.reshape(-1 if count else 1, count, 6), ten_J)


_POSE = ("xpos", "xquat")
_CAMERA = ("xpos", "xquat", "subtree_com")

DERIVED: dict[str, Derived] = {
    "ximat": Derived(("xquat",), _body_axes),
    "geom_xpos": Derived(_POSE, _position("geom")),
    "geom_xmat": Derived(_POSE, _rotation("geom")),
    "cam_xpos": Derived(_CAMERA, lambda model, f: camera_poses(model, f)[0]),
    "cam_xmat": Derived(_CAMERA, lambda model, f: camera_poses(model, f)[1]),
    "ten_length": Derived(("ten_length", "eval_qpos"), _of_tendons("ten_length", "eval_qpos")),
    "ten_velocity": Derived(("ten_velocity", "eval_qvel"), _of_tendons("ten_velocity", "eval_qvel")),
    "ten_J": Derived(("ten_J",), _tendon_jacobian),
    "actuator_moment": Derived(actuators.MOMENT_SOURCES, _actuator_moment),
    "crb": Derived(("subtree_inertia", "com_offset"), _composite_inertia),
    "qM": Derived(("M",), _dense_mass),
    "M": Derived(("M",), _dense_mass),
}
"""Quantities made from others; every other name is a field of the scratch."""


SENSORDATA = "sensordata"
"""The name of sensors' readings; `sensors` computes them, from quantities that depend on the model's sensors."""


def sources_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the fields of the scratch from which the named quantities follow; the model knows those of sensors.

    Raises:
        KeyError: for an unknown name, with the nearest ones.
        TypeError: for a value that is not a name, and for a string instead of a sequence of names.
    """
    if isinstance(names, str):
        raise TypeError(f"names={names!r}: expected a sequence of names, such as ({names!r},)")
    needed: dict[str, None] = {}
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"name={name!r}: quantities are named by strings (docs/reference/fields.md lists them)")
        if name == SENSORDATA:
            continue
        if name not in DERIVED and name not in _DECLARED:
            near = difflib.get_close_matches(name, sorted({*_DECLARED, *DERIVED, SENSORDATA}), 3)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise KeyError(f"no quantity is named {name!r}{hint} (docs/reference/fields.md lists them)")
        needed.update(dict.fromkeys(DERIVED[name].sources if name in DERIVED else (name,)))
    return tuple(needed)


def derive(model: Model, name: str, fields: Fields) -> Tensor:
    """The quantity `name` from its fields, each (num_envs, numbers).

    `fields` may also have other fields, and numbers of the model, (num_envs, ...) in MuJoCo's shape, that replace the
    model's own.

    Returns:
        (num_envs, items) for scalars, (num_envs, items, components) otherwise.
    """
    if name not in DERIVED:
        return _shape(name, fields[name])
    return derive_from_shaped(model, name, fields | {n: _shape(n, fields[n]) for n in DERIVED[name].sources})


def shaped(fields: Fields) -> Fields:
    """The fields as `derive` computes with them: (num_envs, items, components), if a field has several components."""
    return {n: _shape(n, value) if n in _DECLARED else value for n, value in fields.items()}


def derive_from_shaped(model: Model, name: str, fields: Fields) -> Tensor:
    """The same as `derive`, from fields that are `shaped` already."""
    return DERIVED[name].compute(model, fields) if name in DERIVED else fields[name]


def _shape(name: str, value: Tensor) -> Tensor:
    width = _DECLARED[name].width
    return value if width == 1 else value.reshape(len(value), value.shape[1] // width, width)
