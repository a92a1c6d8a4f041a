"""The work of a stretch of physics steps, counted on both sides: speeds compare only if these agree."""

from typing import NamedTuple

import mujoco
import numpy as np
import torch

from ..physics import Model, RigidSolver
from ..physics.files.mjmodel.pairs import pair_condim, pair_margin
from ..physics.model.features import has_elliptic_cones

SAMPLED = 10
"""At most so many of the steps are counted, evenly spread."""
_WARNINGS = ("mjWARN_BADQPOS", "mjWARN_BADQVEL", "mjWARN_BADQACC", "mjWARN_CONTACTFULL", "mjWARN_CNSTRFULL")


class Work(NamedTuple):
    """Means over environments and counted steps; `faults` is the number of environments that met one."""

    contacts: float
    rows: float
    iterations: float
    faults: int

    def disagreement(self, other: "Work") -> float:
        """Largest relative difference of contacts and rows, and of iterations where there are fewer of them here.

        The same problems to the same tolerance are the work; a solver that needs more iterations for them has no
        advantage by it, one that stops before it is done has. Infinite where the faults differ.
        """
        if self.faults != other.faults:
            return float("inf")
        mine = (self.contacts, self.rows, min(self.iterations, other.iterations))
        pairs = zip(mine, other[:3], strict=True)
        return max(abs(a - b) / max(abs(b), 1e-12) if a != b else 0.0 for a, b in pairs)


def counted_steps(steps: int) -> set[int]:
    """Choose which of so many steps are counted."""
    return set(np.linspace(0, steps - 1, min(steps, SAMPLED)).round().astype(int).tolist())


def tumble_work(solver: RigidSolver, controls: torch.Tensor) -> Work:
    """Step a solver from its present state under controls (steps, num_envs, nu), counting."""
    counted = counted_steps(len(controls))
    found: list[tuple[float, float, float]] = []
    for k, control in enumerate(controls):
        solver.ctrl = control
        solver.step()
        if k in counted:
            iterations = solver.solver_niter.double().mean().item()
            contacts, rows = tumble_rows(solver)
            found.append((contacts.double().mean().item(), rows.double().mean().item(), iterations))
    contacts, rows, iterations = np.mean(found, 0).tolist()
    return Work(contacts, rows, iterations, int((solver.faults != 0).sum()))


def tumble_rows(solver: RigidSolver) -> tuple[torch.Tensor, torch.Tensor]:
    """Contacts and constraint rows of the last evaluation, (num_envs,) each.

    Rows of contacts, of limits of hinges, of friction losses and of equalities, which have to be active.
    """
    mj, found = solver.model.mj, solver.contacts
    pairs = found.geom.reshape(-1, 2).cpu().numpy()
    condim = torch.as_tensor(pair_condim(mj, pairs)).reshape(found.mask.shape)
    margin = torch.as_tensor(pair_margin(mj, pairs)).float().reshape(found.mask.shape)
    active = found.mask & (found.dist < margin)
    elliptic = has_elliptic_cones(solver.model)
    rows = torch.where(condim == 1, 1, condim if elliptic else 2 * (condim - 1))
    both_ways = solver.model.sizes["ntwosided"]
    return found.mask.sum(1), (rows * active).sum(1) + _limit_rows(solver) + both_ways


def mujoco_work(model: Model, states: np.ndarray, warm: np.ndarray, controls: np.ndarray) -> Work:
    """Step MuJoCo from full physics states (n, nstate) and warm starts (n, nv) under controls (n, steps, nu).

    MuJoCo solves islands of bodies one by one: the iterations are the most of any island.
    """
    mj, data = model.mj, mujoco.MjData(model.mj)
    counted = counted_steps(controls.shape[1])
    total, faults = np.zeros(3), 0
    for env, state in enumerate(states):
        mujoco.mj_resetData(mj, data)
        mujoco.mj_setState(mj, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        data.qacc_warmstart[:] = warm[env]
        for k, control in enumerate(controls[env]):
            data.ctrl[:] = control
            mujoco.mj_step(mj, data)
            if k in counted:
                total += data.ncon, data.nefc, data.solver_niter[: max(1, data.nisland)].max()
        faults += any(data.warning[int(getattr(mujoco.mjtWarning, name))].number for name in _WARNINGS)
    contacts, rows, iterations = (total / (len(states) * len(counted))).tolist()
    return Work(contacts, rows, iterations, faults)


def _limit_rows(solver: RigidSolver) -> torch.Tensor:
    """Limits of hinges and slides that are within their margin, (num_envs,)."""
    of_joints = np.ravel(solver.model.values["limit_tendon"]) < 0
    names = ("limit_side", "limit_qposadr", "limit_value", "limit_margin")
    values = {name: np.ravel(solver.model.values[name])[of_joints] for name in names}
    side = torch.as_tensor(values["limit_side"])
    if (side == 0).any():
        raise ValueError("limits of ball joints are not counted here; choose a model without them")
    coordinate = solver.get("eval_qpos")[:, torch.as_tensor(values["limit_qposadr"]).long()]
    distance = (torch.as_tensor(values["limit_value"]).float() - coordinate) * side
    return (distance < torch.as_tensor(values["limit_margin"]).float()).sum(1)
