"""Derivatives of a step by fourth-order central differences of MuJoCo, and how far they can be trusted.

A difference quotient is wrong by its curvature where its step is long and by rounding where it is short, so it is taken
with several lengths. A column of the Jacobian is *settled* if two lengths next to each other agree and nothing switches
nearby; then the mean of both quotients is the oracle. Otherwise `Differences.reasons` says why it is not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import mujoco
import numpy as np

from ..parity.reference import States, put
from ..parity.subjects import Tumble

LENGTHS = 1e-4, 2e-5, 5e-6, 1e-6, 3e-7
"""Lengths of the quotients' steps: m, rad and their rates, and units of controls and activations. Sliding in stiff
contacts asks for the short ones."""
SETTLED = 1e-8
"""Two quotients agree if they differ by at most this part of the largest entry of the Jacobian."""
BENT = 1e-6
"""Beyond this part of the largest entry the derivatives on both sides of a state differ: the state is at a kink. They
are of second order, so they err by more than central ones."""
CLOSE = slice(2, 4)
"""The lengths with which both sides are compared: between curvature and rounding."""
SWITCHES = "contacts come or go", "limits come or go", "rows change their law", "tendons begin to wrap"
KINK, CURVED, NOISE = "kink", "curved", "noise"
"""Reasons why a column is not settled, in the order in which they are looked for: first what switches in MuJoCo within
the shortest step, then other kinks, what switches within longer steps, and quotients that still change with the length
as it becomes shorter (curvature) or that change more the shorter it is (rounding, and searches that end too soon)."""
_SIDES = np.array([1.0, -1.0, 2.0, -2.0])
_FIRST_CONTACT = int(mujoco.mjtConstraint.mjCNSTR_CONTACT_FRICTIONLESS)

Step = Callable[[mujoco.MjModel, States], States]
"""A function that takes one step from each of some states; of the results it sets qpos, qvel and act."""


@dataclass
class Differences:
    """The derivative of a step in one state.

    Attributes:
        jacobian: (2 nv + na, 2 nv + na + nu): tangents of qpos, qvel and act after the step by those before, and ctrl.
        reasons: why each column is not settled; empty where it is.
        scale: the largest entry.
    """

    jacobian: np.ndarray
    reasons: list[str]
    scale: float

    @property
    def settled(self) -> np.ndarray:
        """Whether each column may be trusted."""
        return np.array([not reason for reason in self.reasons], dtype=bool)


def derivative(mjm: mujoco.MjModel, state: States, step: Step | None = None) -> Differences:
    """Return the derivative of a step in a state, with what MuJoCo switches nearby.

    Args:
        mjm: the model, with a tolerance at which its solver ends at the optimum.
        state: one state.
        step: takes steps; MuJoCo's by default.
    """
    step = step or mujoco_step
    count = 2 * mjm.nv + mjm.na + mjm.nu
    moves = [(j, side * length) for length in LENGTHS for j in range(count) for side in _SIDES]
    states = moved(mjm, state, [(0, 0.0), *moves])
    ends = step(mjm, states)
    ways = _changes(mjm, ends)
    nstate = ways.shape[1]
    ways = ways[1:].reshape(len(LENGTHS), count, len(_SIDES), nstate)
    lengths = np.array(LENGTHS)[:, None, None]
    near, far = ways[:, :, 0] - ways[:, :, 1], ways[:, :, 2] - ways[:, :, 3]
    quotients = (8 * near - far) / (12 * lengths)  # (lengths, columns, nstate)
    sides = (4 * ways[:, :, :2] - ways[:, :, 2:]) / (2 * lengths[..., None] * _SIDES[:2, None])
    scale = max(float(np.abs(quotients[2]).max(initial=0.0)), np.finfo(float).tiny)
    gaps = np.abs(sides[CLOSE, :, 0] - sides[CLOSE, :, 1]).max(axis=2, initial=0.0).min(axis=0) / scale
    apart = np.array([np.abs(a - b).max(axis=1, initial=0.0) for a, b in pairwise(quotients)]) / scale
    means = np.array([(a + b) / 2 for a, b in pairwise(quotients)])
    jacobian = np.array([means[best, j] for j, best in enumerate(apart.argmin(axis=0))]).reshape(count, nstate).T
    reasons = [_reason(mjm, state, j, gaps[j], apart[:, j]) for j in range(count)]
    return Differences(jacobian, reasons, scale)


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


def mujoco_step(mjm: mujoco.MjModel, states: States) -> States:
    """Take steps by MuJoCo, all from the acceleration of the first state."""
    data = mujoco.MjData(mjm)
    put(mjm, data, states, 0)
    mujoco.mj_forward(mjm, data)
    start, ends = np.array(data.qacc), States(*(np.array(part) for part in states.parts))
    for i in range(len(states)):
        put(mjm, data, states, i)
        data.qacc_warmstart[:] = start
        mujoco.mj_step(mjm, data)
        ends.qpos[i], ends.qvel[i], ends.act[i] = data.qpos, data.qvel, data.act
    return ends


def own_step(mjm: mujoco.MjModel, states: States) -> States:
    """Take steps by Tumble's plain solver, in its present precision."""
    subject = Tumble(mjm, len(states))
    subject.load(states)
    subject.step()
    parts = (getattr(subject.solver, name).cpu().double().numpy() for name in ("qpos", "qvel"))
    act = subject.get("act") if mjm.na else states.act
    return States(*parts, states.ctrl, act)


def _changes(mjm: mujoco.MjModel, ends: States) -> np.ndarray:
    """Return the changes of states from the first one, (n, 2 nv + na)."""
    turned = np.zeros((len(ends), mjm.nv))
    for i in range(len(ends)):
        mujoco.mj_differentiatePos(mjm, turned[i], 1.0, ends.qpos[0], ends.qpos[i])
    return np.concatenate((turned, ends.qvel - ends.qvel[0], ends.act - ends.act[0]), axis=1)


def _reason(mjm: mujoco.MjModel, state: States, j: int, gap: float, apart: np.ndarray) -> str:
    """Return why column j is not settled, given the gap between both sides and the differences of quotients."""
    reason = _switch(mjm, state, j, LENGTHS[-1])
    if not reason and gap > BENT:
        reason = KINK
    if not reason and apart.min() > SETTLED:
        longer = [_switch(mjm, state, j, length) for length in LENGTHS[-2::-1]]
        reason = next((found for found in longer if found), NOISE if apart[-1] > apart[0] else CURVED)
    return reason


def _switch(mjm: mujoco.MjModel, state: States, j: int, length: float) -> str:
    """Return what changes its law within a step of this length along column j."""
    kinds = _laws(mjm, moved(mjm, state, [(j, 0.0), *((j, length * side) for side in _SIDES)]))
    for k, what in enumerate(SWITCHES):
        if any(kind[k] != kinds[0][k] for kind in kinds):
            return what
    return ""


def _laws(mjm: mujoco.MjModel, states: States) -> list[tuple]:
    """Return what decides the laws of steps: contacts, other rows, zones of rows' costs, and links of tendons."""
    data, found = mujoco.MjData(mjm), []
    for i in range(len(states)):
        put(mjm, data, states, i)
        mujoco.mj_forward(mjm, data)
        near, others = data.contact, data.efc_type < _FIRST_CONTACT
        contacts = [np.ravel(part).tolist() for part in (near.geom, near.dim, near.exclude, near.efc_address)]
        rows = data.efc_type[others].tolist(), data.efc_id[others].tolist()
        links = data.ten_wrapnum.tolist(), data.wrap_obj.ravel().tolist()
        found.append((contacts, rows, data.efc_state.tolist(), links))
    return found
