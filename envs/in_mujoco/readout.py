"""Quantities of MuJoCo's data, by the names and in the shapes of `RigidSolver.get`."""

import difflib
from collections.abc import Callable, Sequence

import mujoco
import numpy as np

from .world import MujocoWorld

_SAME = (
    *("qpos", "qvel", "act", "ctrl", "plastic", "qacc_warmstart", "mocap_pos", "mocap_quat", "eq_active"),
    *("qfrc_applied", "xfrc_applied", "xpos", "xquat", "xmat", "xipos", "ximat", "xaxis", "geom_xpos", "geom_xmat"),
    *("site_xpos", "site_xmat", "cam_xpos", "cam_xmat", "subtree_com", "cinert", "crb", "cdof", "cvel"),
    *("qfrc_bias", "qfrc_passive", "qfrc_fluid", "qfrc_gravcomp", "qfrc_actuator", "qfrc_smooth", "qfrc_constraint"),
    *("qacc", "qacc_smooth", "act_dot", "actuator_length", "actuator_velocity", "actuator_force"),
    *("ten_length", "ten_velocity", "cfrc_ext", "cacc", "cfrc_int", "subtree_linvel", "subtree_angmom", "sensordata"),
)
"""Arrays of `MjData` that mean the same as Tumble's quantity of that name."""
_LATE = ("cfrc_ext", "cacc", "cfrc_int")
"""Quantities that a step of MuJoCo leaves to `mj_rnePostConstraint`."""
_SUBTREES = ("subtree_linvel", "subtree_angmom")
"""Quantities that it leaves to `mj_subtreeVel`."""
_EVALUATED = ("eval_qpos", "eval_qvel")


def _dense_mass(world: MujocoWorld) -> np.ndarray:
    """The symmetric mass matrix (nv, nv)."""
    dense = np.zeros((world.model.nv, world.model.nv))
    mujoco.mj_fullM(world.model, world.data, dense)
    return dense


def _dense(world: MujocoWorld, rows: int, name: str, pattern: object) -> np.ndarray:
    """The matrix (rows, nv) of a sparse one in the data; `pattern` has the numbers and columns of its entries."""
    dense = np.zeros((rows, world.model.nv))
    kind = {"ten_J": "ten_J", "actuator_moment": "moment"}[name]
    if dense.size:
        parts = (getattr(pattern, f"{kind}_{part}") for part in ("rownnz", "rowadr", "colind"))
        mujoco.mju_sparse2dense(dense, getattr(world.data, name).ravel(), *(part.ravel() for part in parts))
    return dense


def _iterations(world: MujocoWorld) -> np.ndarray:
    """The most iterations that the constraint solver took in an island, (1,)."""
    return np.array([world.data.solver_niter.max(initial=0)])


_MADE: dict[str, Callable[[MujocoWorld], np.ndarray]] = {
    "M": _dense_mass,
    "qM": _dense_mass,
    "ten_J": lambda world: _dense(world, world.model.ntendon, "ten_J", world.model),
    "actuator_moment": lambda world: _dense(world, len(world.data.moment_rownnz), "actuator_moment", world.data),
    "solver_niter": _iterations,
    "eval_qpos": lambda world: world.evaluated_at()[0],
    "eval_qvel": lambda world: world.evaluated_at()[1],
}
"""Quantities that MuJoCo has in another form."""
KNOWN = (*_SAME, *_MADE)


def prepare(worlds: Sequence[MujocoWorld], names: Sequence[str]) -> None:
    """Prepare environments to keep the inputs of quantities from now on.

    Raises:
        NotImplementedError: MuJoCo has no such quantity; the message has the nearest names that it has.
    """
    for name in names:
        if name not in KNOWN:
            near = difflib.get_close_matches(name, KNOWN, 3, cutoff=0.5) or KNOWN
            raise NotImplementedError(
                f"the quantity {name!r} is Tumble's own, MuJoCo does not have it; there is {', '.join(near)}"
            )
    if any(name in (*_LATE, *_EVALUATED) for name in names):
        for world in worlds:
            world.watch()


def read(worlds: Sequence[MujocoWorld], names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return quantities that were `prepare`d, copies, (n, items) or (n, items, components) each, by name."""
    if any(name in _LATE for name in names):
        for world in worlds:
            _make_late(world)
    if any(name in _SUBTREES for name in names):
        for world in worlds:
            mujoco.mj_subtreeVel(world.model, world.data)
    return {name: _stacked(worlds, name) for name in names}


def _stacked(worlds: Sequence[MujocoWorld], name: str) -> np.ndarray:
    make = _MADE.get(name)
    rows = [make(world) if make else getattr(world.data, name) for world in worlds]
    if not rows:
        return np.zeros((0, 0))
    return np.stack(rows).astype(np.float64, copy=False)


def _make_late(world: MujocoWorld) -> None:
    """Compute accelerations and forces of bodies at the last evaluation: the data's qvel may be of after it."""
    present = world.data.qvel.copy()
    world.data.qvel[:] = world.evaluated_at()[1]
    mujoco.mj_rnePostConstraint(world.model, world.data)
    world.data.qvel[:] = present
