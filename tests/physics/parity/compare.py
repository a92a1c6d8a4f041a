"""Comparing what Tumble computes with MuJoCo's values: scales, matching of contacts and rows, tolerances.

Every error is relative to the scale of its quantity. The scale of a field in a state is its largest entry there, but
at least its median over all states: near-zero values are differences of larger ones and carry their rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np
from scipy.optimize import linear_sum_assignment

from .reference import EQUALITY, FREE_OF_CONTACT, FRICTION, FRICTION_TENDON, LIMIT, LIMIT_TENDON, STAGES, Contact


@dataclass(frozen=True)
class Tolerance:
    """ORACLES 2: relative to the scale of the quantity.

    Attributes:
        smooth: rounding through a chain of bodies.
        rows: as smooth in float64; in float32 the impedance multiplies the rounding of a distance by its scale over
            the impedance's width, which is a thousandth of it by default.
        constrained: both solvers stop at their own tolerance; in float32 stiff rows multiply the rounding of positions.
        margin: distance in metres from the margin within which a contact or limit may exist on one side only.
        missing: the greatest part of the contacts that may do so, and of the states that may be excused.
        epsilon: relative rounding that comes together on the way through a step.
    """

    smooth: float
    rows: float
    constrained: float
    margin: float
    missing: float
    epsilon: float


TOLERANCES = {
    "64": Tolerance(smooth=1e-9, rows=1e-9, constrained=1e-6, margin=1e-12, missing=0.0, epsilon=1e-14),
    "32": Tolerance(smooth=5e-5, rows=1e-3, constrained=1e-3, margin=1e-5, missing=0.02, epsilon=1e-6),
}


def stage_of(name: str) -> str:
    """Return the stage that a compared quantity belongs to; outcomes of steps are named "step <integrator>:<field>"."""
    for stage, names in STAGES.items():
        if name in names:
            return stage
    return name.rsplit(":", 1)[0]


def tolerance_of(name: str, precision: str) -> float:
    """Return the tolerance of a compared quantity."""
    tolerance = TOLERANCES[precision]
    if name == "contact_set":
        return tolerance.missing
    stage = stage_of(name)
    return (
        tolerance.rows if stage == "rows" else tolerance.smooth if stage in FREE_OF_CONTACT else tolerance.constrained
    )


@dataclass
class Tally:
    """Errors by quantity: name -> the largest relative error in each state; NaN in states that were not compared."""

    states: int
    errors: dict[str, np.ndarray] = field(default_factory=dict)
    excused: dict[str, int] = field(default_factory=dict)
    """Name -> number of states in which MuJoCo itself cannot reproduce the quantity; see `run._excuse`."""

    def take(self, name: str, error: float, state: int) -> None:
        """Take in an error of one state; an error that is not a number counts as infinite."""
        errors = self.errors.setdefault(name, np.full(self.states, np.nan))
        errors[state] = np.fmax(errors[state], error if not np.isnan(error) else np.inf)

    def take_all(self, name: str, errors: np.ndarray, keep: np.ndarray | None = None) -> None:
        """Take in the errors of all states, or of those in the mask ``keep``."""
        self.errors[name] = np.where(keep, errors, np.nan) if keep is not None else np.array(errors)

    def worst(self, name: str) -> tuple[float, int]:
        """Return the largest error of a quantity, and its state."""
        errors = self.errors[name]
        if np.all(np.isnan(errors)):
            return 0.0, -1
        state = int(np.nanargmax(errors))
        return float(errors[state]), state

    def failures(self, precision: str) -> dict[str, tuple[float, int]]:
        """Return name -> (error, state) of the quantities beyond their tolerance, in the order of the stages."""
        found = {name: self.worst(name) for name in sorted(self.errors, key=_position)}
        return {name: worst for name, worst in found.items() if not worst[0] <= tolerance_of(name, precision)}


def _position(name: str) -> tuple[int, int]:
    stage = stage_of(name)
    stages = list(STAGES)
    if stage in stages:
        return stages.index(stage), STAGES[stage].index(name)
    return len(stages), 0


def scales(reference: np.ndarray, least: np.ndarray | float = 0.0) -> np.ndarray:
    """Return the scale of a field in each of its n states; (n,).

    Args:
        reference: the field's values (n, ...).
        least: scale of what the field is a difference of, in each state: the acceleration of a resting body is the
            difference of gravity and support, and carries their rounding.
    """
    flat = np.maximum(np.abs(reference.reshape(len(reference), -1)).max(axis=1, initial=0.0), least)
    typical = np.median(flat)
    return np.maximum(flat, typical if typical > 0 else flat.max(initial=0.0)) + 1e-300


def relative_errors(name: str, ours: np.ndarray, reference: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the error of a field in each state relative to its scale; (n,). xquat may differ in sign."""
    if ours.size != reference.size:
        raise AssertionError(f"{name}: shape {ours.shape}, MuJoCo has {reference.shape}")
    ours = np.asarray(ours, dtype=np.float64).reshape(reference.shape)
    if name == "xquat":
        ours = ours * np.where(np.sum(ours * reference, axis=-1, keepdims=True) < 0, -1.0, 1.0)
    flat = np.abs(ours - reference).reshape(len(reference), -1)
    return np.where(np.isnan(flat), np.inf, flat).max(axis=1, initial=0.0) / scale


def match_contacts(ours: Sequence[Contact], theirs: Sequence[Contact]) -> list[tuple[int, int]]:
    """Pair contacts of equal geoms so that the sum of the distances between their points is least."""
    pairs = []
    for geoms in {c.geom for c in theirs} & {c.geom for c in ours}:
        a = [i for i, c in enumerate(ours) if c.geom == geoms]
        b = [i for i, c in enumerate(theirs) if c.geom == geoms]
        cost = np.array([[np.linalg.norm(ours[i].pos - theirs[j].pos) for j in b] for i in a])
        # several pairs of the same geoms have contacts at one place: those of a kind belong together
        cost += 1e-6 * np.array([[_unlike(ours[i], theirs[j]) for j in b] for i in a])
        cost = np.where(np.isfinite(cost), cost, 1e30)
        pairs += [(a[i], b[j]) for i, j in zip(*linear_sum_assignment(cost), strict=True)]
    return pairs


def _unlike(one: Contact, other: Contact) -> float:
    """Return how much the kinds of two contacts differ: their friction and numbers of rows."""
    return float(abs(one.friction - other.friction).sum()) + (_count(one) != _count(other))


def _count(contact: Contact) -> int:
    return contact.rows.stop - contact.rows.start


@dataclass
class Lengths:
    """Scales that belong to the model and not to one state: metres, and the friction coefficients."""

    length: float
    friction: float


def compare_contacts(
    tally: Tally, state: int, ours: list[Contact], theirs: list[Contact], lengths: Lengths, margin: float
) -> tuple[list[tuple[int, int]], int, int]:
    """Compare the contacts of one state.

    Contacts that MuJoCo reports within the gap (they have no rows) need not be reported; if they are, they must agree.

    Returns:
        (matched pairs, contacts that are on one side only although they are far from the margin, those near it).
    """
    pairs = match_contacts(ours, theirs)
    for i, j in pairs:
        a, b = ours[i], theirs[j]
        tally.take("contact_dist", abs(a.dist - b.dist) / lengths.length, state)
        tally.take("contact_pos", np.abs(a.pos - b.pos).max() / lengths.length, state)
        tally.take("contact_frame", np.abs(a.frame - b.frame).max(), state)
        tally.take("contact_friction", np.abs(a.friction - b.friction).max() / lengths.friction, state)
    lonely = [c for j, c in enumerate(theirs) if j not in {j for _, j in pairs} and c.rows.stop > c.rows.start]
    lonely += [c for i, c in enumerate(ours) if i not in {i for i, _ in pairs}]
    near = sum(abs(c.dist - c.margin) <= margin for c in lonely)
    return pairs, len(lonely) - near, near


def limit_rows(rows: dict[str, np.ndarray]) -> dict[tuple[int, int], int]:
    """Return the limit rows of a state: (first dof, sign of its entry) -> row."""
    found = {}
    for row in np.flatnonzero(rows["efc_type"] == LIMIT):
        nonzero = np.flatnonzero(rows["efc_J"][row])
        if len(nonzero):
            dof = int(nonzero[0])
            sign = 0 if len(nonzero) > 1 else int(np.sign(rows["efc_J"][row, dof]))
            found[(dof, sign)] = int(row)
    return found


def friction_rows(rows: dict[str, np.ndarray]) -> dict[int, int]:
    """Return the rows of friction losses of a state: dof -> row."""
    return {
        int(np.flatnonzero(rows["efc_J"][row])[0]): int(row) for row in np.flatnonzero(rows["efc_type"] == FRICTION)
    }


def tendon_rows(rows: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of friction losses of tendons, and those of their limits, each in their order."""
    return np.flatnonzero(rows["efc_type"] == FRICTION_TENDON), np.flatnonzero(rows["efc_type"] == LIMIT_TENDON)


def equality_rows(rows: dict[str, np.ndarray]) -> np.ndarray:
    """Return the rows of equalities of a state, in their order."""
    return np.flatnonzero(rows["efc_type"] == EQUALITY)


def limit_distance(mjm: mujoco.MjModel, qpos: np.ndarray, dof: int, sign: int) -> float:
    """Return the distance of a joint from the margin of its limit, named as by `limit_rows`; negative within."""
    joint = mjm.dof_jntid[dof]
    value, (low, high) = qpos[mjm.jnt_qposadr[joint]], mjm.jnt_range[joint]
    if sign == 0:  # a ball joint: its angle
        turn = np.zeros(3)
        mujoco.mju_quat2Vel(turn, qpos[mjm.jnt_qposadr[joint] :][:4], 1.0)
        return float(max(low, high) - np.linalg.norm(turn) - mjm.jnt_margin[joint])
    return float((value - low if sign > 0 else high - value) - mjm.jnt_margin[joint])


def compare_rows(
    tally: Tally,
    state: int,
    ours: dict[str, np.ndarray],
    theirs: dict[str, np.ndarray],
    matched: list[tuple[slice, slice]],
    typical: dict[str, float],
) -> None:
    """Compare constraint rows that belong together.

    Args:
        tally: takes the errors.
        state: index of the state.
        ours: rows of Tumble's.
        theirs: MuJoCo's.
        matched: slices of rows (ours, MuJoCo's) of matched contacts and limits.
        typical: median scale of efc_J, efc_aref, efc_force and efc_frictionloss over all states.
    """
    for name in ("efc_J", "efc_aref", "efc_force", "efc_frictionloss"):
        scale = max(np.abs(theirs[name]).max(initial=0.0), typical[name]) + 1e-300
        for a, b in matched:
            x, y = ours[name][a], theirs[name][b]
            error = np.abs(x - y).max(initial=0.0) / scale if x.shape == y.shape else np.inf
            tally.take(name, error, state)
    for a, b in matched:
        x, y = ours["efc_D"][a], theirs["efc_D"][b]
        tally.take("efc_D", np.max(np.abs(x - y) / y, initial=0.0) if x.shape == y.shape else np.inf, state)
