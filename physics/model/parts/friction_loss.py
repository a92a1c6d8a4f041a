"""Friction loss of dofs and tendons: one row for each, which resists motion with a force of at most the loss.

MuJoCo documentation, Computation: Friction loss. The reference acceleration is pure damping, as there is no position to
return to; so stiffness and damping do not depend on the state, and are numbers of the model.

Size nfriction: dofs and tendons with friction loss.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field, ids
from ...base.hooks import ROWS, TENDON_FORCES
from ...base.math import func
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import BRAKE, SOLIMP, SOLREF, Parameter
from ...files.mjmodel.flags import disabled
from ...files.mjmodel.solver_params import reference_of, start_stiffness
from ...files.mjmodel.tendons import dofs_of_rows, joined, tendon_dofs
from ...mechanics.constraint.rows import append_row, append_tendon
from .part import FRICTION, ConstraintRows, Part

_D, _TYPES = mujoco.mjtDisableBit, mujoco.mjtConstraint


@stage(
    when=lambda has: has.friction_loss,
    reads="qvel ten_velocity ten_J",
    writes="block_reach block_D block_aref block_J block_dim block_dofnum block_dof",
    updates="block_dofadr block_jacadr tile_conadr tile_ndof tile_njac",
)
def friction_blocks(model, work):
    """Append a block for every dof and tendon that has friction loss."""
    for row in range(model.nfriction):
        k, speed = work.tile_conadr[0], work.real(0.0)
        if ti.static(model.has.tendons):
            t = model.friction_tendon[row]
            if t >= 0:
                append_tendon(model, work, t, 1.0)
                speed = work.ten_velocity[t]
            else:
                speed = _append_dof(model, work, row)
        else:
            speed = _append_dof(model, work, row)
        loss, stiffness = work.real(model.friction_loss[row]), work.real(model.friction_D[row])
        work.block_D[k] = ti.select(loss > 0.0, stiffness, work.real(0.0))  # some environments may have none
        work.block_reach[k] = loss / stiffness
        work.block_aref.at(k, 0)._assign(-(speed * model.friction_damping[row]))


@func
def _append_dof(model, work, row: ti.i32):
    """Append a row on the dof of a friction loss; return the dof's velocity (m/s or rad/s)."""
    k = append_row(work, 1)
    dof = model.friction_dofadr[row]
    work.block_dof.put(work.block_dofadr[k], dof)
    work.block_J[work.block_jacadr[k]] = work.real(1.0)
    return work.qvel[dof]


@piece(reads="block_force", updates="ten_force")
def pull_tendons(model, work):
    """Add the friction of tendons to ten_force; its blocks follow the blocks of equalities."""
    for row in range(model.nfriction):
        t = model.friction_tendon[row]
        if t >= 0:
            work.ten_force[t] = work.ten_force[t] + work.block_force.at(model.ne + row, 0)


def _acts(mjm: mujoco.MjModel) -> bool:
    return not disabled(mjm, _D.mjDSBL_FRICTIONLOSS, _D.mjDSBL_CONSTRAINT)


def friction_dofs(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the dofs with friction loss, ascending."""
    return np.flatnonzero((mjm.dof_frictionloss > 0) & _acts(mjm))


def friction_tendons(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the tendons with friction loss that move, ascending."""
    return np.flatnonzero((mjm.tendon_frictionloss > 0) & (mjm.ten_J_rownnz > 0) & _acts(mjm))


def _values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the dof and tendon of each row: rows of dofs, then rows of tendons."""
    dof, tendon = friction_dofs(mjm), friction_tendons(mjm)
    return {
        "friction_dofadr": np.concatenate((dof, np.zeros(len(tendon), int))),
        "friction_tendon": np.concatenate((np.full(len(dof), -1), tendon)),
    }


def _loss(mjm: mujoco.MjModel, of_dofs: np.ndarray, of_tendons: np.ndarray) -> np.ndarray:
    return joined(of_dofs[:, friction_dofs(mjm)], of_tendons[:, friction_tendons(mjm)])


def _stiffness(mjm: mujoco.MjModel, solimp: np.ndarray, invweight: np.ndarray, *of_tendons: np.ndarray) -> np.ndarray:
    dofs, tendons = friction_dofs(mjm), friction_tendons(mjm)
    own = start_stiffness(mjm, solimp[:, dofs], invweight[:, dofs])
    return joined(own, start_stiffness(mjm, *(x[:, tendons] for x in of_tendons)))


def _damping(mjm: mujoco.MjModel, solref: np.ndarray, solimp: np.ndarray, *of_tendons: np.ndarray) -> np.ndarray:
    dofs, tendons = friction_dofs(mjm), friction_tendons(mjm)
    own = reference_of(1, mjm, solref[:, dofs], solimp[:, dofs])
    return joined(own, reference_of(1, mjm, *(x[:, tendons] for x in of_tendons)))


PART = Part(
    name="friction_loss",
    doc="dofs or tendons have friction loss",
    wanted=lambda model: model.sizes["nfriction"] > 0,
    integers=(
        ids("friction_dofadr", ("nfriction",), "dof with friction loss"),
        Field("friction_tendon", ("nfriction",), 1, "", "tendon with friction loss; -1: a dof has it"),
    ),
    reals=(
        Field("friction_loss", ("nfriction",), 1, "N or N m", "largest force of the friction"),
        Field("friction_D", ("nfriction",), 1, "kg or kg m^2", "stiffness of the row, as block_D"),
        Field("friction_damping", ("nfriction",), 1, "1/s", "B of the reference acceleration -B v"),
    ),
    values=_values,
    rules={
        "friction_loss": (("dof_frictionloss", "tendon_frictionloss"), _loss),
        "friction_D": (("dof_solimp", "dof_invweight0", "tendon_solimp_fri", "tendon_invweight0"), _stiffness),
        "friction_damping": (("dof_solref", "dof_solimp", "tendon_solref_fri", "tendon_solimp_fri"), _damping),
    },
    sizes=lambda mjm, values: {"nfriction": len(values["friction_dofadr"])},
    rows=ConstraintRows(
        kind=FRICTION,
        dofs=lambda values: dofs_of_rows(values["tendon_dofnum"], values["friction_tendon"]),
        types=lambda values: np.where(
            values["friction_tendon"] < 0, int(_TYPES.mjCNSTR_FRICTION_DOF), int(_TYPES.mjCNSTR_FRICTION_TENDON)
        ),
        couples=lambda mjm: [tendon_dofs(mjm, int(t)) for t in friction_tendons(mjm)],
    ),
    hooks={ROWS: friction_blocks, TENDON_FORCES: pull_tendons},
    parameters=(
        Parameter("dof_frictionloss", BRAKE, found=True),
        Parameter("dof_solref", SOLREF),
        Parameter("dof_solimp", SOLIMP),
        Parameter("tendon_frictionloss", BRAKE, found=True),
        Parameter("tendon_solref_fri", SOLREF),
        Parameter("tendon_solimp_fri", SOLIMP),
    ),
)
