"""One environment, whole: every quantity in MuJoCo's names and order, constraint rows spelt out, as numpy arrays."""

import mujoco
import numpy as np
import torch

from ..fields import layout
from ..model.model import Model
from ..state.fields import INDICES, QUANTITIES
from .derived import derive

_BY_NAME = (
    *("qpos", "qvel", "ctrl", "xpos", "xquat", "xipos", "subtree_com", "cinert", "cdof", "cvel"),
    *("qfrc_bias", "qfrc_passive", "actuator_force", "qfrc_actuator", "qfrc_smooth", "qacc_smooth", "qacc"),
    *("qfrc_constraint", "cfrc_ext"),
)
_FROM_OTHERS = ("crb", "xmat", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat", "cam_xpos", "cam_xmat", "qM")
_LIMIT, _FRICTIONLESS, _PYRAMIDAL = (
    int(getattr(mujoco.mjtConstraint, f"mjCNSTR_{n}"))
    for n in ("LIMIT_JOINT", "CONTACT_FRICTIONLESS", "CONTACT_PYRAMIDAL")
)


def inspect_numbers(
    model: Model, numbers: dict[str, torch.Tensor], dump: torch.Tensor, sizes: dict[str, int]
) -> dict[str, np.ndarray]:
    """The dictionary of `RigidSolver.inspect` from the scratch.

    Args:
        model: the model.
        numbers: every quantity of the environment, (1, numbers).
        dump: its tile's integers.
        sizes: all sizes.
    """
    out = {name: derive(model, name, {name: numbers[name]})[0].numpy() for name in _BY_NAME}
    out |= {name: derive(model, name, numbers)[0].numpy() for name in _FROM_OTHERS}
    out["eval_qpos"], out["eval_qvel"] = numbers["eval_qpos"][0].numpy(), numbers["eval_qvel"][0].numpy()
    out["solver_niter"] = numbers["solver_niter"][0].numpy()
    rows = _Rows(model, numbers, dump.numpy(), sizes)
    rows.add_limits()
    rows.add_contacts()
    return {**out, **rows.arrays()}


class _Rows:
    """Collects constraint rows and contacts of one environment."""

    def __init__(self, model: Model, numbers: dict, dump: np.ndarray, sizes: dict[str, int]) -> None:
        self._model, self._values, self._dump = model, model.values, dump
        widths = {f.name: f.width for f in QUANTITIES}
        self._field = {
            n: v[0].numpy().reshape(-1, widths[n]) for n, v in numbers.items() if n.startswith(("con_", "lim_"))
        }
        self._offset = layout(INDICES, sizes)[0]
        self._rows: list[tuple] = []
        self._contacts: list[tuple] = []

    def add_limits(self) -> None:
        f, values = self._field, self._values
        for k in range(self._dump[self._offset["tile_nlim"]]):
            stiffness = f["lim_D"][k, 0]
            if stiffness > 0:
                row = self._dump[self._offset["lim_row"] + k]
                jacobian = np.zeros(self._model.mj.nv, f["lim_J"].dtype)
                dof, count = values["limit_dofadr"][row], 3 if values["limit_side"][row] == 0 else 1
                jacobian[dof : dof + count] = f["lim_J"][k, :count]
                x = f["lim_x"][k, 0]
                self._rows.append((_LIMIT, jacobian, stiffness, -f["lim_ref"][k, 0], -stiffness * min(x, 0.0)))

    def add_contacts(self) -> None:
        f, values = self._field, self._values
        for k in range(self._dump[self._offset["tile_ncon"]]):
            if f["con_present"][k, 0] < 0.5:
                continue
            p = self._dump[self._offset["con_pair"] + k]
            geoms = (values["pair_geom1"][p], values["pair_geom2"][p])
            address = len(self._rows) if f["con_D"][k, 0] > 0 else -1
            self._contacts.append(
                (geoms, f["con_pos"][k], f["con_frame"][k], f["con_dist"][k, 0], values["pair_friction"][p], address)
            )
            if address >= 0:
                self._add_contact_rows(k, p)

    def _add_contact_rows(self, k: int, p: int) -> None:
        f, values = self._field, self._values
        dim, first = int(values["pair_condim"][p]), int(values["pair_dofadr"][p])
        dofs = values["pairdof_id"][first : first + values["pair_dofnum"][p]]
        start = self._dump[self._offset["con_jadr"] + k]
        basis = np.zeros((dim, self._model.mj.nv), f["con_J"].dtype)
        basis[:, dofs] = f["con_J"][start : start + dim * len(dofs), 0].reshape(len(dofs), dim).T
        stiffness, x, ref = f["con_D"][k, 0], f["con_x"][k], f["con_ref"][k]
        if dim == 1:
            self._rows.append((_FRICTIONLESS, basis[0], stiffness, -ref[0], -stiffness * min(x[0], 0.0)))
        for c in range(1, dim):
            for mu in (values["pair_friction"][p, c - 1], -values["pair_friction"][p, c - 1]):
                force = -stiffness * min(x[0] + mu * x[c], 0.0)
                jacobian = basis[0] + mu * basis[c]
                self._rows.append((_PYRAMIDAL, jacobian, stiffness, -(ref[0] + mu * ref[c]), force))

    def arrays(self) -> dict[str, np.ndarray]:
        nv = self._model.mj.nv
        kind, jacobian, stiffness, aref, force = zip(*self._rows, strict=True) if self._rows else ([],) * 5
        geom, pos, frame, dist, friction, address = zip(*self._contacts, strict=True) if self._contacts else ([],) * 6
        return {
            "efc_type": np.array(kind, int),
            "efc_J": np.array(jacobian).reshape(-1, nv),
            "efc_D": np.array(stiffness),
            "efc_aref": np.array(aref),
            "efc_force": np.array(force),
            "contact_geom": np.array(geom, int).reshape(-1, 2),
            "contact_pos": np.array(pos).reshape(-1, 3),
            "contact_frame": np.array(frame).reshape(-1, 9),
            "contact_dist": np.array(dist),
            "contact_friction": np.array(friction).reshape(-1, 5),
            "contact_efc_address": np.array(address, int),
        }
