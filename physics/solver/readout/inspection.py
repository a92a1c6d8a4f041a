"""All of one environment: every quantity in MuJoCo's names and order, constraint rows spelt out, as numpy arrays."""

import mujoco
import numpy as np
import torch

from ...base.fields import layout
from ...model.features import has_elliptic_cones, has_noslip
from ...model.model import Model
from ...model.parts import ROWS
from ...model.solver_choice import CG
from ...model.state.fields import QUANTITIES, SCRATCH_INDICES
from ...model.state.memory import MEMORIES
from .derived import DERIVED, derive_from_shaped, shaped

_BY_NAME = (
    *("qpos", "qvel", "ctrl", "xpos", "xquat", "xmat", "xipos", "site_xpos", "site_xmat"),
    *("subtree_com", "cinert", "cdof", "cvel"),
    *("qfrc_bias", "qfrc_passive", "act_dot", "actuator_length", "actuator_velocity", "actuator_force"),
    *("qfrc_actuator", "qfrc_smooth", "qacc_smooth", "qacc", "qfrc_constraint", "cfrc_ext", "cacc", "cfrc_int"),
    *("subtree_linvel", "subtree_angmom", *(memory.field.name for memory in MEMORIES)),
)
_EQUALITY, _FRICTION, _LIMIT = (
    int(getattr(mujoco.mjtConstraint, f"mjCNSTR_{n}")) for n in ("EQUALITY", "FRICTION_DOF", "LIMIT_JOINT")
)
_FRICTION_TENDON, _LIMIT_TENDON = (
    int(getattr(mujoco.mjtConstraint, f"mjCNSTR_{n}")) for n in ("FRICTION_TENDON", "LIMIT_TENDON")
)
_FRICTIONLESS, _PYRAMIDAL, _ELLIPTIC = (
    int(getattr(mujoco.mjtConstraint, f"mjCNSTR_CONTACT_{n}")) for n in ("FRICTIONLESS", "PYRAMIDAL", "ELLIPTIC")
)
_OF_JOINTS = (_EQUALITY, _FRICTION, _FRICTION_TENDON, _LIMIT, _LIMIT_TENDON)
"""Rows that stand before the contacts', as blocks of one axis."""
_SATISFIED, _QUADRATIC, _LINEAR_BELOW, _LINEAR_ABOVE, _CONE = (
    int(getattr(mujoco.mjtConstraintState, f"mjCNSTRSTATE_{n}"))
    for n in ("SATISFIED", "QUADRATIC", "LINEARNEG", "LINEARPOS", "CONE")
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
    fields = shaped(numbers)
    out = {name: fields[name][0].numpy() for name in _BY_NAME}
    out |= {name: derive_from_shaped(model, name, fields)[0].numpy() for name in DERIVED}
    out["eval_qpos"], out["eval_qvel"] = numbers["eval_qpos"][0].numpy(), numbers["eval_qvel"][0].numpy()
    out["solver_niter"] = numbers["solver_niter"][0].numpy()
    rows = _Rows(model, numbers, dump.numpy(), sizes)
    rows.add_of_joints()
    rows.add_contacts()
    return {**out, **rows.arrays()}


class _Rows:
    """Collects constraint rows and contacts of one environment."""

    def __init__(self, model: Model, numbers: dict, dump: np.ndarray, sizes: dict[str, int]) -> None:
        self._model, self._dump = model, dump
        widths = {f.name: f.width for f in QUANTITIES}
        chosen = [n for n in numbers if n.startswith(("con_", "cone_", "block_", "cdof", "subtree_com"))]
        self._field = {n: numbers[n][0].numpy().reshape(-1, widths[n]) for n in chosen}
        self._offset = layout(SCRATCH_INDICES, sizes)[0]
        self._rows: list[tuple] = []
        self._contacts: list[tuple] = []

    def add_of_joints(self) -> None:
        """Add rows that hold both ways, then limits, of tendons after rows of joints."""
        sizes = self._model.sizes
        kinds = [kind for rows in ROWS if rows.types for kind in rows.types(self._model.values).tolist()]
        tendons = self._integer("tile_tenadr") if sizes["ntendon"] else self._integer("tile_conadr")
        for k in range(self._integer("tile_conadr")):
            if self._field["block_D"][k, 0] > 0:
                if k < sizes["ntwosided"]:
                    self._add_two_sided(k, kinds[k])
                else:
                    self._add_block(k, _LIMIT if k < tendons else _LIMIT_TENDON)

    def _add_two_sided(self, k: int, kind: int) -> None:
        f, jacobian = self._field, self._jacobian(k, 1)[0]
        stiffness, x, reach = f["block_D"][k, 0], f["block_jar"][k, 0], f["block_reach"][k, 0]
        state = _LINEAR_BELOW if x < -reach else _LINEAR_ABOVE if x > reach else _QUADRATIC
        force = -stiffness * np.clip(x, -reach, reach)
        loss = 0.0 if kind == _EQUALITY else stiffness * reach
        if has_noslip(self._model) and kind != _EQUALITY:
            force = f["block_force"][k, 0]
            state = _LINEAR_ABOVE if force <= -loss else _LINEAR_BELOW if force >= loss else _QUADRATIC
        self._rows.append((kind, jacobian, stiffness, f["block_aref"][k, 0], force, state, loss))

    def _jacobian(self, k: int, dim: int) -> np.ndarray:
        """Jacobian of block k (dim, nv)."""
        f, count = self._field, self._integer("block_dofnum", k)
        first, start = self._integer("block_dofadr", k), self._integer("block_jacadr", k)
        basis = np.zeros((dim, self._model.mj.nv), f["block_J"].dtype)
        dofs = self._dump[self._offset["block_dof"] :][first : first + count]
        basis[:, dofs] = f["block_J"][start : start + dim * count, 0].reshape(count, dim).T
        return basis

    def add_contacts(self) -> None:
        f, first = self._field, self._integer("tile_conadr")
        for k in range(self._integer("tile_ncon")):
            if f["con_present"][k, 0] < 0.5:
                continue
            block = first + k
            if len(f["con_own1"]):
                geoms = int(f["con_own1"][k, 0]), int(f["con_own2"][k, 0])
            else:
                geoms = self._integer("con_geom1", k), self._integer("con_geom2", k)
            address = len(self._rows) if f["block_D"][block, 0] > 0 else -1
            friction = f["block_friction"][block]
            dim = self._integer("block_dim", block)
            place = f["con_pos"][k], f["con_frame"][k], f["con_dist"][k, 0]
            self._contacts.append((geoms, *place, friction, dim, address))
            if address >= 0:
                several = _ELLIPTIC if has_elliptic_cones(self._model) else _PYRAMIDAL
                self._add_block(block, _FRICTIONLESS if dim == 1 else several)

    def _integer(self, name: str, k: int = 0) -> int:
        return int(self._dump[self._offset[name] + k])

    def _add_block(self, k: int, kind: int) -> None:
        """All rows of block k: its only axis, or a pyramid's."""
        f, dim = self._field, self._integer("block_dim", k)
        if self._model.solver == CG and kind not in _OF_JOINTS:
            basis = self._contact_basis(k - self._integer("tile_conadr"), dim)
        else:
            basis = self._jacobian(k, dim)
        stiffness, x, aref = f["block_D"][k, 0], f["block_jar"][k], f["block_aref"][k]
        if dim == 1:
            self._add_row(kind, basis[0], stiffness, aref[0], x[0])
        elif kind == _ELLIPTIC:
            self._add_cone(k, basis, aref)
        for c in range(1, dim if kind == _PYRAMIDAL else 0):
            for mu in (f["block_friction"][k, c - 1], -f["block_friction"][k, c - 1]):
                self._add_row(kind, basis[0] + mu * basis[c], stiffness, aref[0] + mu * aref[c], x[0] + mu * x[c])
            if has_noslip(self._model):
                self._share_friction(f["block_force"][k, c] / f["block_friction"][k, c - 1])

    def _share_friction(self, slip: float) -> None:
        """Correct the forces of the last two rows, edges of a pyramid, by noslip's change of their difference."""
        edges = self._rows[-2:]
        normal = edges[0][4] + edges[1][4]
        for place, row, force in zip((-2, -1), edges, ((normal + slip) / 2, (normal - slip) / 2), strict=True):
            self._rows[place] = (*row[:4], force, _QUADRATIC if force > 0 else _SATISFIED, *row[6:])

    def _add_cone(self, k: int, basis: np.ndarray, aref: np.ndarray) -> None:
        """A row for each axis of block k, all in one state."""
        f, dim = self._field, len(basis)
        mu, friction, x = f["cone_mu"][k, 0], f["block_friction"][k, : dim - 1], f["block_jar"][k, :dim]
        stiffness = f["block_D"][k, 0] * np.concatenate(([1.0], (friction / mu) ** 2))
        normal, radius = mu * x[0], float(np.linalg.norm(friction * x[1:]))
        state = _SATISFIED if normal >= mu * radius else _QUADRATIC if mu * normal + radius <= 0 else _CONE
        if has_noslip(self._model):  # by forces: MuJoCo calls a contact within its cone satisfied
            normal, radius = f["block_force"][k, 0] / mu, float(np.linalg.norm(f["block_force"][k, 1:dim] / friction))
            state = _SATISFIED if mu * normal >= radius else _QUADRATIC if normal + mu * radius <= 0 else _CONE
        for c in range(dim):
            self._rows.append((_ELLIPTIC, basis[c], stiffness[c], aref[c], f["block_force"][k, c], state, 0.0))

    def _add_row(self, kind: int, jacobian: np.ndarray, stiffness: float, aref: float, x: float) -> None:
        """A row that pushes where x, its J qacc - aref, is negative."""
        state = _QUADRATIC if x < 0 else _SATISFIED
        self._rows.append((kind, jacobian, stiffness, aref, -stiffness * min(x, 0.0), state, 0.0))

    def _contact_basis(self, k: int, dim: int) -> np.ndarray:
        """Jacobian of the space of contact k (dim, nv), which conjugate gradients do without."""
        f, mj, paths = self._field, self._model.mj, self._model.dof_paths()
        frame, basis = f["con_frame"][k].reshape(3, 3), np.zeros((dim, mj.nv), f["con_frame"].dtype)
        for geom, sign in (("con_geom1", -1), ("con_geom2", 1)):
            body = mj.geom_bodyid[self._integer(geom, k)]
            last = int(self._model.values["body_lastdof"][body])
            arm = f["con_pos"][k] - f["subtree_com"][mj.body_rootid[body]]
            for dof in paths[last] if last >= 0 else []:
                turn, slide = np.split(f["cdof"][dof], 2)
                both = np.concatenate((frame @ (slide + np.cross(turn, arm)), frame @ turn))
                basis[:, dof] += sign * both[:dim]
        return basis

    def arrays(self) -> dict[str, np.ndarray]:
        nv = self._model.mj.nv
        kind, jacobian, stiffness, aref, force, state, loss = zip(*self._rows, strict=True) if self._rows else ([],) * 7
        geom, pos, frame, dist, friction, dim, address = (
            zip(*self._contacts, strict=True) if self._contacts else ([],) * 7
        )
        return {
            "efc_type": np.array(kind, int),
            "efc_J": np.array(jacobian).reshape(-1, nv),
            "efc_D": np.array(stiffness),
            "efc_aref": np.array(aref),
            "efc_force": np.array(force),
            "efc_state": np.array(state, int),
            "efc_frictionloss": np.array(loss),
            "contact_geom": np.array(geom, int).reshape(-1, 2),
            "contact_pos": np.array(pos).reshape(-1, 3),
            "contact_frame": np.array(frame).reshape(-1, 9),
            "contact_dist": np.array(dist),
            "contact_friction": np.array(friction).reshape(-1, 5),
            "contact_dim": np.array(dim, int),
            "contact_efc_address": np.array(address, int),
        }
