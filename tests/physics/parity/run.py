"""Run one model through the comparison and say what came out."""

import copy
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np

from tumble.physics.files.geometry.names import type_name

from .compare import (
    TOLERANCES,
    Lengths,
    Tally,
    compare_contacts,
    compare_rows,
    equality_rows,
    friction_rows,
    limit_distance,
    limit_rows,
    relative_errors,
    scales,
    tendon_rows,
    tolerance_of,
)
from .reference import (
    AFTER_STEP,
    BATCHED,
    ELLIPTIC,
    EQUALITY,
    FRICTION,
    FRICTION_TENDON,
    INSPECTED,
    LIMIT,
    LIMIT_TENDON,
    PYRAMIDAL,
    Reference,
    States,
    evaluate,
    is_elliptic,
    reference_model,
    step,
    touches,
)
from .states import sample
from .subjects import Subject

INTEGRATORS = ("Euler", "implicitfast", "RK4")
OWN_KERNEL = ("implicit",)
"""Integrators that need a kernel of their own for every set of features (`catalogue.integrators_of`)."""
SETTINGS = {"tolerance": 1e-15, "iterations": 100, "ls_iterations": 50}
"""On both sides; in float32 Tumble takes a tolerance below 1e-6 as 1e-6. With 1e-12 MuJoCo may end 1e-6 from its own
solution with 1e-18, and its runs with and without a warm start differ by a hundred times the rounding."""
CONES = 1e-24
"""Tolerance with elliptic cones."""
_CONE = int(mujoco.mjtConstraintState.mjCNSTRSTATE_CONE)
_CONSTRAINED = ("qacc", "qfrc_constraint", "cfrc_ext", "cacc", "cfrc_int", "sensordata")


@dataclass
class Report:
    """What came out for one model.

    Attributes:
        model: its name.
        precision: "32" or "64".
        states: number of states; `active` of them had constraint rows.
        seen: what occurred in MuJoCo, e.g. {"contact plane-sphere": 812, "condim 3": 812, "limit hinge": 40}.
        tally: errors.
        near_margin: part of the contacts and limits that only one side had, within the tolerance of the margin.
        apart: part of the states in which that was so; nothing that constraints decide is compared there.
        settings: options as set on both sides.
    """

    model: str
    precision: str
    states: int
    tally: Tally
    active: int = 0
    seen: Counter = field(default_factory=Counter)
    near_margin: float = 0.0
    apart: float = 0.0
    settings: str = ""

    @property
    def failures(self) -> dict[str, tuple[float, int]]:
        """Quantities beyond their tolerance; the first one names the guilty stage."""
        return self.tally.failures(self.precision)

    def describe(self) -> str:
        """Return the failures in readable form."""
        lines = [f"{self.model}, float{self.precision}, {self.states} states ({self.active} constrained)"]
        for name, (error, state) in self.failures.items():
            beyond = int(np.sum(self.tally.errors[name] > tolerance_of(name, self.precision)))
            lines.append(f"  {name}: {error:.2e} in state {state}; beyond the tolerance in {beyond} states")
        return "\n".join([*lines, f"  settings: {self.settings}"])


def run_parity(
    name: str,
    mjm: mujoco.MjModel,
    make: Callable[[mujoco.MjModel, int], Subject],
    precision: str,
    count: int = 1000,
    inspected: int | None = None,
    integrators: Sequence[str] = INTEGRATORS,
    seed: int = 0,
    wild: bool = False,
) -> Report:
    """Compare a subject with MuJoCo in ``count`` states of a model, and after one step by each integrator.

    Args:
        name: for the report.
        mjm: the model.
        make: (model, number of environments) -> the subject to compare.
        precision: of the subject, "32" or "64"; chooses the tolerances.
        count: number of states.
        inspected: number of states whose contacts and rows are compared; None: all.
        integrators: by MJCF's names.
        seed: of the states.
        wild: as of `sample`.
    """
    report, states, theirs = begin(name, mjm, precision, count, seed, wild)
    for k, integrator in enumerate(integrators):
        model = reference_model(mjm, integrator=_number_of(integrator), **settings_of(mjm))
        subject = make(model, count)
        if k == 0:
            subject.load(states)
            subject.forward()
            agree = _compare_forward(report, model, subject, states, theirs, inspected or count)
            report.apart = float(np.mean(~agree))
        _compare_step(report, model, subject, states, theirs, integrator, agree)
    return report


def begin(
    name: str, mjm: mujoco.MjModel, precision: str, count: int, seed: int = 0, wild: bool = False
) -> tuple[Report, States, Reference]:
    """Return a report that says what occurs in ``count`` states, the states, and MuJoCo's values there."""
    options = settings_of(mjm)
    model = reference_model(mjm, **options)
    states = sample(model, count, seed, wild)
    if precision == "32":  # the state on both sides is one that the subject can represent
        states = States(*(np.float64(np.float32(a)) for a in states.parts))
    settings = ", ".join(f"{k} {v}" for k, v in options.items())
    report = Report(name, precision, count, Tally(count), settings=settings)
    theirs = evaluate(model, states)
    _note_what_occurred(report, mjm, theirs)
    if mjm.actuator_delay.any():
        report.seen["delayed control"] = _delayed(mjm, states, theirs)
    if states.plastic.size:
        yielding = step(model, states).fields["plastic"] != states.plastic
        report.seen["yielding spring"] = int(np.any(yielding, axis=1).sum())
    return report, states, theirs


def settings_of(mjm: mujoco.MjModel) -> dict[str, object]:
    """Return SETTINGS, with the tolerance that the model's cones need.

    The cost of an elliptic cone is not made of quadratic pieces: its minimum is found as exactly as the square root of
    the tolerance, not to the last digit, on both sides.
    """
    return SETTINGS | ({"tolerance": CONES} if is_elliptic(mjm) else {})


def _number_of(integrator: str) -> int:
    members = mujoco.mjtIntegrator.__members__.items()
    return {n.removeprefix("mjINT_").lower(): int(v) for n, v in members}[integrator.lower()]


def _compare_forward(
    report: Report, mjm: mujoco.MjModel, subject: Subject, states: States, theirs: Reference, inspected: int
) -> np.ndarray:
    """Compare one evaluation; return in which states both sides have the same constraints (n,)."""
    agree = _compare_inspected(report, mjm, subject, states, theirs, inspected)
    smooth, weight, pushed = (
        np.abs(theirs.fields[n]).reshape(report.states, -1).max(axis=1, initial=0.0)
        for n in ("qacc_smooth", "qfrc_bias", "cfrc_ext")
    )
    # a free joint passes nothing on: its force is the difference of all that acts on the body; and an angular momentum
    # is one of places
    pace, reach = (np.abs(theirs.fields[n]).max(axis=(1, 2), initial=0.0) for n in ("subtree_linvel", "xpos"))
    turning = pace * reach * mjm.body_subtreemass[0]
    least = {"qacc": smooth, "cfrc_int": np.maximum(weight, pushed), "subtree_angmom": turning}
    for name in BATCHED:
        reference = theirs.fields[name]
        if reference.size:
            scale = scales(reference, least.get(name, 0.0))
            keep = agree if name in _CONSTRAINED else None
            report.tally.take_all(name, relative_errors(name, subject.get(name), reference, scale), keep)
            _excuse(report, name, reference, scale, lambda twins, name=name: evaluate(mjm, twins).fields[name], states)
    return agree


def _compare_step(
    report: Report,
    mjm: mujoco.MjModel,
    subject: Subject,
    states: States,
    theirs: Reference,
    integrator: str,
    agree: np.ndarray,
) -> None:
    """Compare the outcome of a step where it begins with the same constraints on both sides."""
    subject.load(states)
    qpos, qvel = subject.step()
    stepped = step(mjm, states)
    smooth = np.abs(theirs.fields["qacc_smooth"]).max(axis=1, initial=0.0)
    # what a step adds to a velocity: a body that comes to rest is a difference of it
    added = smooth * mjm.opt.timestep
    values = {"qpos": (qpos, stepped.qpos, 0.0), "qvel": (qvel, stepped.qvel, added)}
    for name in AFTER_STEP:
        least = {"qacc": smooth, "cvel": added}.get(name, 0.0)
        values[name] = (subject.get(name), stepped.fields[name], least)
    for name, (ours, reference, least) in values.items():
        if not reference.size:
            continue
        title = f"step {integrator}:{name}"
        scale = scales(reference, least)
        report.tally.take_all(title, relative_errors(name, ours, reference, scale), agree)

        def again(twins: States, name: str = name) -> np.ndarray:
            stepped = step(mjm, twins)
            return getattr(stepped, name) if name in ("qpos", "qvel") else stepped.fields[name]

        _excuse(report, title, reference, scale, again, states)


def _excuse(
    report: Report,
    title: str,
    reference: np.ndarray,
    scale: np.ndarray,
    again: Callable[[States], np.ndarray],
    states: States,
) -> None:
    """Excuse states in which MuJoCo itself does not reproduce a quantity.

    In a state at the edge of a contact the outcome jumps: MuJoCo's own value moves beyond a tenth of the tolerance
    when the state is perturbed by the rounding of the precision. Such states cannot judge; at most as many as
    contacts at the margin may be (2 % in float32, none in float64) are excused.
    """
    tolerance, limits = tolerance_of(title, report.precision), TOLERANCES[report.precision]
    beyond = np.flatnonzero(report.tally.errors[title] > tolerance)  # not where constraints differ: NaN
    if not 0 < len(beyond) <= limits.missing * report.states:
        return
    unstable = np.zeros(len(beyond), dtype=bool)
    for seed in range(3):
        twins = perturbed(states[beyond], limits.epsilon, seed)
        field_name = title.rsplit(":", 1)[-1]
        unstable |= relative_errors(field_name, again(twins), reference[beyond], scale[beyond]) > 0.1 * tolerance
    report.tally.errors[title][beyond[unstable]] = np.nan
    report.tally.excused[title] = int(unstable.sum())


def perturbed(states: States, epsilon: float, seed: int) -> States:
    """Return ``states`` with every number of qpos and qvel moved by the relative ``epsilon``."""
    rng = np.random.default_rng(seed)

    def moved(array: np.ndarray) -> np.ndarray:
        return array * (1 + epsilon * rng.choice([-1.0, 1.0], array.shape))

    return replace(states, qpos=moved(states.qpos), qvel=moved(states.qvel))


def _compare_inspected(
    report: Report, mjm: mujoco.MjModel, subject: Subject, states: States, theirs: Reference, inspected: int
) -> np.ndarray:
    """Compare what `inspect` gives; return in which states both sides have the same constraints."""
    margin = TOLERANCES[report.precision].margin
    lengths = Lengths(_length(mjm, theirs), max(1.0, float(np.max(mjm.geom_friction, initial=0.0))))
    typical = {n: _typical([r[n] for r in theirs.rows]) for n in ("efc_J", "efc_aref", "efc_force", "efc_frictionloss")}
    scale = {n: scales(theirs.fields[n]) for n in INSPECTED}
    agree = np.ones(report.states, dtype=bool)
    near = total = 0
    for i in range(inspected):
        ours = subject.inspect(i)
        for name in INSPECTED:
            error = np.abs(ours[name] - theirs.fields[name][i]).max(initial=0.0) / scale[name][i]
            report.tally.take(name, error, i)
        contacts = theirs.contacts[i]
        pairs, n_far, n_near = compare_contacts(report.tally, i, ours["contacts"], contacts, lengths, margin)
        both = [(ours["contacts"][a], contacts[b]) for a, b in pairs]
        matched = [(a.rows, b.rows) for a, b in both if _has_rows(a) and _has_rows(b)]
        gap = [abs(b.dist - b.margin) <= margin for a, b in both if _has_rows(a) != _has_rows(b)]
        n_far, n_near = n_far + gap.count(False), n_near + gap.count(True)
        mine, yours = limit_rows(ours["rows"]), limit_rows(theirs.rows[i])
        matched += [(slice(mine[k], mine[k] + 1), slice(yours[k], yours[k] + 1)) for k in mine.keys() & yours.keys()]
        held, holds = friction_rows(ours["rows"]), friction_rows(theirs.rows[i])
        matched += [(slice(held[k], held[k] + 1), slice(holds[k], holds[k] + 1)) for k in held.keys() & holds.keys()]
        n_far += len(held.keys() ^ holds.keys())
        tied, ties = equality_rows(ours["rows"]), equality_rows(theirs.rows[i])
        matched += [(slice(a, a + 1), slice(b, b + 1)) for a, b in zip(tied, ties, strict=False)]
        n_far += abs(len(tied) - len(ties))
        strung, strings = tendon_rows(ours["rows"]), tendon_rows(theirs.rows[i])
        for few, others in zip(strung, strings, strict=True):
            matched += [(slice(a, a + 1), slice(b, b + 1)) for a, b in zip(few, others, strict=False)]
        n_far += abs(len(strung[0]) - len(strings[0]))
        n_near += abs(len(strung[1]) - len(strings[1]))  # a length may be as near its margin as rounding is
        lonely = [abs(limit_distance(mjm, states.qpos[i], *key)) <= margin for key in yours.keys() ^ mine.keys()]
        n_far, n_near = n_far + lonely.count(False), n_near + lonely.count(True)
        agree[i] = not n_far and not n_near
        compare_rows(report.tally, i, ours["rows"], theirs.rows[i], matched if agree[i] else [], typical)
        near, total = near + n_near, total + sum(map(_has_rows, contacts)) + len(yours)
        report.tally.take("contact_set", np.inf if n_far else 0.0, i)
    report.near_margin = near / max(total, 1)
    report.tally.take("contact_set", report.near_margin, 0)
    return agree


def _has_rows(contact: object) -> bool:
    return contact.rows.stop > contact.rows.start  # type: ignore[attr-defined]


def _length(mjm: mujoco.MjModel, theirs: Reference) -> float:
    """Return the length that positions are relative to: the farthest body in a typical state, at least a metre."""
    return max(1.0, float(np.median(np.abs(theirs.fields["xpos"]).max(axis=(1, 2), initial=0.0))))


def _typical(arrays: list[np.ndarray]) -> float:
    largest = [np.abs(a).max() for a in arrays if a.size]
    return float(np.median(largest)) if largest else 0.0


def _delayed(mjm: mujoco.MjModel, states: States, theirs: Reference) -> int:
    """Return in how many states every actuator with a delay has another force than without it."""
    prompt = copy.copy(mjm)
    prompt.actuator_delay[:] = 0
    forces, of = (
        evaluate(prompt, states).fields["actuator_force"],
        np.repeat(np.arange(mjm.nactuator), mjm.actuator_outnum),
    )
    differ = forces != theirs.fields["actuator_force"]
    late = [
        differ[:, of == a].any(axis=1) for a in np.flatnonzero((mjm.actuator_delay > 0) & (mjm.actuator_dyntype == 0))
    ]
    return int(np.all(late, axis=0).sum())


def _note_what_occurred(report: Report, mjm: mujoco.MjModel, theirs: Reference) -> None:
    seen = report.seen
    for contacts, rows in zip(theirs.contacts, theirs.rows, strict=True):
        report.active += touches(rows["efc_type"])
        seen["several contacts at one place"] += len({(c.geom, tuple(c.pos)) for c in contacts}) < len(contacts)
        seen["moving surface"] += bool(np.any(np.abs(rows["moved"]) > 1e-3))
        for c in contacts:
            seen["adhesive contact"] += c.adhesion != 0
            seen["tether"] += c.adhesion != 0 and c.dist >= c.margin
            seen["friction with a reference of its own"] += c.own_reference
            count = c.rows.stop - c.rows.start
            if count:
                seen["contact " + "-".join(type_name(t) for t in mjm.geom_type[list(c.geom)])] += 1
                kind = rows["efc_type"][c.rows.start]
                seen[f"condim {count // 2 + 1 if kind == PYRAMIDAL else count}"] += 1
            else:
                seen["contact within the gap"] += 1
        friction = rows["efc_state"][(rows["efc_type"] == FRICTION) & (rows["efc_force"] != 0)]
        held = int(np.sum(friction == int(mujoco.mjtConstraintState.mjCNSTRSTATE_QUADRATIC)))
        seen["friction loss, holding"] += held
        seen["friction loss, overcome"] += len(friction) - held
        for equality in rows["efc_id"][(rows["efc_type"] == EQUALITY) & (rows["efc_force"] != 0)]:
            seen["equality " + mujoco.mjtEq(int(mjm.eq_type[equality])).name.removeprefix("mjEQ_").lower()] += 1
        for name, kind in (("friction loss", FRICTION_TENDON), ("limit", LIMIT_TENDON)):
            seen[f"{name} tendon"] += int(np.sum((rows["efc_type"] == kind) & (rows["efc_force"] != 0)))
        slides = (rows["efc_type"] == ELLIPTIC) & (rows["efc_state"] == _CONE)
        seen["sliding in a cone"] += int(np.sum(slides))
        limits = np.flatnonzero(rows["efc_type"] == LIMIT)
        for joint in rows["efc_id"][limits]:
            seen["limit " + mujoco.mjtJoint(int(mjm.jnt_type[joint])).name.removeprefix("mjJNT_").lower()] += 1
    for name in (
        "qfrc_passive",
        "qfrc_actuator",
        "act_dot",
        "actuator_force",
        "qfrc_bias",
        "qfrc_constraint",
        "cfrc_ext",
    ):
        seen[name] = int(np.any(theirs.fields[name] != 0, axis=tuple(range(1, theirs.fields[name].ndim))).sum())
    for a in range(mjm.nactuator):
        kind = mujoco.mjtTrn(int(mjm.actuator_trntype[a])).name.removeprefix("mjTRN_").lower()
        moment = theirs.fields["actuator_moment"][:, mjm.actuator_outadr[a] :][:, : mjm.actuator_outnum[a]]
        seen[f"moment {kind}"] += int(np.any(moment != 0, axis=(1, 2)).sum())
    for i in range(mjm.nsensor):
        readings = theirs.fields["sensordata"][:, mjm.sensor_adr[i] : mjm.sensor_adr[i] + mjm.sensor_dim[i]]
        kind = mujoco.mjtSensor(int(mjm.sensor_type[i])).name.removeprefix("mjSENS_").lower()
        seen[f"sensor {kind}"] += int(readings.any(axis=1).sum())
    seen["fluid"] = int(np.any(theirs.qfrc_fluid != 0, axis=1).sum())
    seen["spring"] = int(np.any(theirs.qfrc_spring != 0, axis=1).sum())
    seen["tendon around a geom"], seen["tendon inside a geom"] = (int(n) for n in (theirs.wrapped > 0).sum(axis=0))
    seen["damper"] = int(np.any(theirs.qfrc_damper != 0, axis=1).sum())
