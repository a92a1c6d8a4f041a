"""Derivatives of a step by fourth-order central differences of MuJoCo, and how far they can be trusted.

A difference quotient is wrong by its curvature where its step is long and by rounding where it is short, so it is taken
with several lengths. A column of the Jacobian is *settled* if three lengths next to each other agree and nothing
switches nearby; the middle of the longest three that agree is the oracle: two may agree by chance. Otherwise
`Differences.reasons` says why it is not.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import mujoco
import numpy as np
import torch

from tumble.physics import RigidSolver
from tumble.physics.mechanics.collision.pair_table import PAIR_TABLE

from ..parity.reference import States, put, reference_model

OPTIMUM = {"tolerance": 1e-24, "iterations": 100, "ls_iterations": 50}
"""Options with which a solver ends at the optimum, as exactly as rounding lets it."""
LENGTHS = 5e-4, 1e-4, 2e-5, 5e-6, 1e-6, 3e-7
"""Lengths of the quotients' steps: m, rad and their rates, and units of controls and activations. Sliding in stiff
contacts asks for the short ones."""
SETTLED = 1e-8
"""Three quotients agree if they lie within this part of the largest entry of the Jacobian, and nothing switches within
their steps."""
BENT = 1e-6
"""Beyond this part of the largest entry the derivatives on both sides of a state differ: the state is at a kink. They
are of second order, so they err by more than central ones; of all lengths that with the smallest difference counts."""
SWITCHES = "contacts come or go", "limits come or go", "rows change their law", "tendons begin to wrap"
KINK, CURVED, NOISE = "kink", "curved", "noise"
"""Reasons why a column is not settled, in the order in which they are looked for: first what switches in MuJoCo within
the shortest step, then other kinks, what switches within longer steps, and quotients that still change with the length
as it becomes shorter (curvature) or that change more the shorter it is (rounding, and searches that end too soon)."""
_SIDES = np.array([1.0, -1.0, 2.0, -2.0])
_NO_LAWS = (b"",) * len(SWITCHES)
_FIRST_CONTACT = int(mujoco.mjtConstraint.mjCNSTR_CONTACT_FRICTIONLESS)
_SEARCHED = {row.types for row in PAIR_TABLE if row.group == "convex"}
_CURVES = {int(mujoco.mjtGeom.mjGEOM_ELLIPSOID), int(mujoco.mjtGeom.mjGEOM_CYLINDER)}

Laws = tuple[bytes, bytes, bytes, bytes]
"""What decides the laws of a step: contacts, other rows, zones of the rows' costs, and links of tendons."""


@dataclass
class Differences:
    """The derivative of a step in one state.

    Attributes:
        jacobian: (2 nv + na, 2 nv + na + nu): tangents of qpos, qvel and act after the step by those before, and ctrl.
        reasons: why each column is not settled; empty where it is.
        scale: the largest entry.
        spread: (columns,), by how much the two quotients of each that decide differ.
        searched: whether contacts of ellipsoids or cylinders are searched for in a step from the state.
    """

    jacobian: np.ndarray
    reasons: list[str]
    scale: float
    spread: np.ndarray
    searched: bool

    @property
    def settled(self) -> np.ndarray:
        """Whether each column may be trusted."""
        return np.array([not reason for reason in self.reasons], dtype=bool)


def exact(mjm: mujoco.MjModel, integrator: str) -> mujoco.MjModel:
    """Return a copy with an integrator, by MJCF's name, whose solver ends at the optimum."""
    members = mujoco.mjtIntegrator.__members__.items()
    number = next(int(value) for name, value in members if name.removeprefix("mjINT_").lower() == integrator.lower())
    return reference_model(mjm, integrator=number, **OPTIMUM)


def derivative(mjm: mujoco.MjModel, state: States, n: int = 1, solver: RigidSolver | None = None) -> Differences:
    """Return the derivative of steps from a state.

    Args:
        mjm: the model, as of `exact`.
        state: one state.
        n: number of steps under the same controls.
        solver: steps are those of this plain solver, and what switches in MuJoCo is not looked at; else MuJoCo's.
    """
    count = 2 * mjm.nv + mjm.na + mjm.nu
    moves = [(j, side * length) for length in LENGTHS for j in range(count) for side in _SIDES]
    states = moved(mjm, state, [(0, 0.0), *moves])
    if solver is None:
        ends, laws, searched = _mujoco(mjm, states, n)
    else:
        ends, laws, searched = _own(solver, states, n), [_NO_LAWS] * len(states), False
    ways = _changes(mjm, ends)
    nstate = ways.shape[1]
    ways = ways[1:].reshape(len(LENGTHS), count, len(_SIDES), nstate)
    lengths = np.array(LENGTHS)[:, None, None]
    near, far = ways[:, :, 0] - ways[:, :, 1], ways[:, :, 2] - ways[:, :, 3]
    quotients = (8 * near - far) / (12 * lengths)  # (lengths, columns, nstate)
    sides = (4 * ways[:, :, :2] - ways[:, :, 2:]) / (2 * lengths[..., None] * _SIDES[:2, None])
    scale = max(float(np.abs(quotients[3]).max(initial=0.0)), np.finfo(float).tiny)
    gaps = np.abs(sides[:, :, 0] - sides[:, :, 1]).max(axis=2, initial=0.0).min(axis=0) / scale
    apart = np.array([np.abs(a - b).max(axis=1, initial=0.0) for a, b in pairwise(quotients)]) / scale
    tried = np.arange(1, len(laws)).reshape(len(LENGTHS), count, len(_SIDES))
    switches = [[_switch(laws[0], [laws[t] for t in tried[k, j]]) for k in range(len(LENGTHS))] for j in range(count)]
    calm = np.array([[not switch for switch in along] for along in switches], dtype=bool).reshape(count, -1).T
    three = (apart[:-1] + apart[1:] <= SETTLED) & calm[:-2] & calm[1:-1] & calm[2:]
    best = np.where(three.any(axis=0), three.argmax(axis=0), apart.argmin(axis=0))
    jacobian = quotients[best + 1, np.arange(count)].reshape(count, nstate).T
    reasons = [_reason(switches[j], gaps[j], apart[:, j], three[:, j].any()) for j in range(count)]
    return Differences(jacobian, reasons, scale, apart[best, np.arange(count)] * scale, searched)


def moved(mjm: mujoco.MjModel, state: States, moves: list[tuple[int, float]]) -> States:
    """Return a state once for each move: of one coordinate of the tangent space, velocity, activation or control."""
    many = States(*(np.repeat(part, len(moves), axis=0) for part in state.parts))
    nv, na = mjm.nv, mjm.na
    for k, (j, by) in enumerate(moves):
        if j < nv:
            along = np.zeros(nv)
            along[j] = 1.0
            mujoco.mj_integratePos(mjm, many.qpos[k], along, by)
        elif j < 2 * nv:
            many.qvel[k, j - nv] += by
        elif j < 2 * nv + na:
            many.act[k, j - 2 * nv] += by
        else:
            many.ctrl[k, j - 2 * nv - na] += by
    return many


def _mujoco(mjm: mujoco.MjModel, states: States, n: int) -> tuple[States, list[Laws], bool]:
    """Take steps by MuJoCo, all from the acceleration of the first state.

    Returned are the ends, the laws of each step, and whether a step from the first state searches for contacts of
    curved shapes.

    The laws are those of the evaluation at the start and, by Runge-Kutta, of all stages.
    """
    data, laws, searched = mujoco.MjData(mjm), list[Laws](), False
    stages = int(mjm.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4)
    put(mjm, data, states, 0)
    mujoco.mj_forward(mjm, data)
    start, ends = np.array(data.qacc), States(*(np.array(part) for part in states.parts))
    for i in range(len(states)):
        put(mjm, data, states, i)
        data.qacc_warmstart[:] = start
        found = [_NO_LAWS]
        for _ in range(n):
            for at in _stages(mjm, data) if stages else ():
                found.append(_laws(at))
                searched |= i == 0 and _searches(at)
            mujoco.mj_step(mjm, data)
            found.append(_laws(data))
            searched |= i == 0 and _searches(data)
        laws.append(tuple(b"".join(parts) for parts in zip(*found, strict=True)))
        ends.qpos[i], ends.qvel[i], ends.act[i] = data.qpos, data.qvel, data.act
    return ends, laws, searched


def _stages(mjm: mujoco.MjModel, data: mujoco.MjData) -> Iterator[mujoco.MjData]:
    """Yield the four evaluations of a Runge-Kutta step, which is not taken."""
    at = copy.copy(data)
    for part in (0.5, 0.5, 1.0, 0.0):
        mujoco.mj_forward(mjm, at)
        yield at
        qvel, qacc, act_dot = (np.array(rate) for rate in (at.qvel, at.qacc, at.act_dot))
        length = part * mjm.opt.timestep
        at.qpos, at.qvel, at.act = data.qpos, data.qvel + length * qacc, data.act + length * act_dot
        mujoco.mj_integratePos(mjm, at.qpos, qvel, length)


def _searches(data: mujoco.MjData) -> bool:
    """Return True if a contact of an ellipsoid or a cylinder was found by a search."""
    types = data.model.geom_type[data.contact.geom].reshape(-1, 2)
    return any(tuple(sorted(pair)) in _SEARCHED and not _CURVES.isdisjoint(pair) for pair in types.tolist())


def load(solver: RigidSolver, states: States) -> None:
    """Put state i into environment i of a solver; spare environments have the last state."""
    mj, spare = solver.model.mj, solver.num_envs - len(states)
    parts = [torch.as_tensor(np.concatenate((part, part[-1:].repeat(spare, axis=0)))) for part in states.parts]
    qpos, qvel, ctrl, act, plastic, history = parts
    solver.reset()
    solver.set_state(qpos=qpos, qvel=qvel, act=act, plastic=plastic)
    if mj.nhistory:
        solver.set_mj_state(history.numpy(), int(mujoco.mjtState.mjSTATE_HISTORY))
    solver.ctrl = ctrl


def _own(solver: RigidSolver, states: States, n: int) -> States:
    """Take steps by a plain solver of double precision, as many states at once as it has environments."""
    ends = []
    for first in range(0, len(states), solver.num_envs):
        some = states[first : first + solver.num_envs]
        load(solver, some)
        solver.step(n)
        act = solver.get("act") if solver.model.mj.na else torch.as_tensor(some.act)
        ends.append([part.cpu().numpy()[: len(some)] for part in (solver.qpos, solver.qvel, act)])
    qpos, qvel, act = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    return States(qpos, qvel, states.ctrl, act)


def _changes(mjm: mujoco.MjModel, ends: States) -> np.ndarray:
    """Return the changes of states from the first one, (n, 2 nv + na)."""
    turned = np.zeros((len(ends), mjm.nv))
    for i in range(len(ends)):
        mujoco.mj_differentiatePos(mjm, turned[i], 1.0, ends.qpos[0], ends.qpos[i])
    return np.concatenate((turned, ends.qvel - ends.qvel[0], ends.act - ends.act[0]), axis=1)


def _reason(switches: list[str], gap: float, apart: np.ndarray, agree: bool) -> str:
    """Return why a column is not settled.

    Args:
        switches: what switches within a step of each length.
        gap: difference of the derivatives on both sides.
        apart: differences of the quotients with neighbouring lengths.
        agree: whether three of them agree.
    """
    reason = switches[-1] or (KINK if gap > BENT else "")
    if not reason and not agree:
        reason = next((found for found in switches[::-1] if found), NOISE if apart[-1] > apart[0] else CURVED)
    return reason


def _switch(still: Laws, others: list[Laws]) -> str:
    """Return what has another law than at the state in one of the states beside it."""
    for k, what in enumerate(SWITCHES):
        if any(laws[k] != still[k] for laws in others):
            return what
    return ""


def _laws(data: mujoco.MjData) -> Laws:
    """Return the laws of the last evaluation."""
    near, others = data.contact, data.efc_type < _FIRST_CONTACT
    return (
        b"".join(part.tobytes() for part in (near.geom, near.dim, near.exclude, near.efc_address)),
        data.efc_type[others].tobytes() + data.efc_id[others].tobytes(),
        data.efc_state.tobytes(),
        data.ten_wrapnum.tobytes() + data.wrap_obj.tobytes(),
    )
