"""The comparison sees: MuJoCo equals itself to the last bit, and any quantity made wrong fails at its own stage."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from ...cases import cases
from ...models.purpose import MODELS
from ..starts import run_with
from .catalogue import load, names, shows
from .compare import stage_of
from .far import SCENES, measure
from .reference import AFTER_STEP, BATCHED, INSPECTED, STAGES, Contact, contacts_of, evaluate, reference_model, step
from .run import SETTINGS, begin, run_parity
from .states import sample
from .subjects import StandIn
from .wild import smaller_overlap

# -- The comparison sees: MuJoCo equals itself to the last bit, and any quantity made wrong fails at its own stage


SPOILT = [*BATCHED, *INSPECTED, *STAGES["contacts"], *STAGES["rows"], "efc_force", "next_qpos", "next_qvel"]


@cases("precision", ["64", "32"])
def test_mujoco_equals_itself(precision):
    report = run_parity("everything", load("everything"), StandIn, precision, count=60)
    assert report.failures == {}, report.describe()
    assert max(np.nanmax(e) for e in report.tally.errors.values()) == 0
    elsewhere = {"site_xpos", "site_xmat", "cam_xpos", "cam_xmat", "sensordata", "act", "act_dot", "plastic"}
    elsewhere |= {"ten_length", "ten_velocity", "ten_J"}
    assert set(SPOILT) - {"next_qpos", "next_qvel"} <= set(report.tally.errors) | elsewhere


@cases("field", SPOILT)
@pytest.mark.parametrize("precision, wrong", [("64", 1e-5), pytest.param("32", 1e-2, marks=pytest.mark.slow)])
def test_a_wrong_value_fails_at_its_stage(field, precision, wrong):
    name = "fixed_and_frames" if field.startswith(("site", "cam")) else "everything"
    if field == "sensordata":
        name = "sensors"
    if field.startswith("ten_"):
        name = "tendons"
    if field == "plastic":
        name = "plastic"
    if field in ("act", "act_dot"):
        name = "activations"
    if field == "efc_frictionloss":
        name = "frictionloss"

    def make(mjm, count):
        return StandIn(mjm, count, {field: wrong})

    report = run_parity(name, load(name), make, precision, count=60)
    failed = list(report.failures)
    if field.startswith("next_"):
        assert failed == [f"step {i}:{field.removeprefix('next_')}" for i in ("Euler", "implicitfast", "RK4")]
    else:
        assert failed and failed[0] == field
        assert {stage_of(f) for f in failed} <= {stage_of(field), "step Euler", "step implicitfast", "step RK4"}


@cases("name", [name for name in (*names("purpose"), *names("packaged")) if ", " not in name])
def test_states_are_constrained_and_show_what_the_model_is_for(name):
    """With other options of the file they are as well: `test_every_model_agrees`, which is slow, looks at all."""
    mjm, count = load(name), 100
    report, states, _ = begin(name, mjm, "64", count)
    assert states.qpos.shape == (count, mjm.nq) and np.all(np.isfinite(states.qpos))
    absent = [what for what in shows(name) if report.seen[what] < count / 10]
    assert not absent, dict(report.seen)
    possible = any(k.startswith(("contact ", "limit ")) and count for k, count in report.seen.items())
    assert report.active >= count / 2 or not possible


@cases("purpose", [p for p in MODELS if p.changes], label=lambda p: p.name)
def test_each_option_matters(purpose):
    with_option, without = load(purpose.name), load(purpose.name)
    without.opt.disableflags = without.opt.noslip_iterations = 0
    if "disableactuator" in purpose.options:
        without.opt.disableactuator = load(purpose.file).opt.disableactuator
    states = sample(reference_model(without, **SETTINGS), 50)
    for change in purpose.changes:
        values = []
        for mjm in (with_option, without):
            model = reference_model(mjm, **SETTINGS)
            if change.startswith("step"):
                values.append(step(model, states).qvel)
            else:
                values.append(evaluate(model, states).fields[change])
        assert np.abs(values[0] - values[1]).max() > 1e-3 * np.abs(values[1]).max()


def test_equal_seeds_give_equal_states():
    mjm = load("everything")
    first, second = sample(mjm, 20, seed=3), sample(mjm, 20, seed=3)
    assert np.array_equal(first.qpos, second.qpos) and np.array_equal(first.ctrl, second.ctrl)


class Inventive(StandIn):
    """MuJoCo with one more row than it has: a limit of the first limited hinge, or a contact in the gap constrained."""

    def __init__(self, mjm, count, what):
        super().__init__(mjm, count)
        self.what = what

    def inspect(self, i):
        found = super().inspect(i)
        rows, nv = found["rows"], self.mjm.nv
        extra = np.zeros((1, nv))
        if self.what == "limit":
            joint = np.flatnonzero(self.mjm.jnt_limited & (self.mjm.jnt_type == 3))[0]
            extra[0, self.mjm.jnt_dofadr[joint]] = 1.0
            found["rows"] = {k: np.append(v, 3 if k == "efc_type" else 0.0) for k, v in rows.items() if k != "efc_J"}
            found["rows"]["efc_J"] = np.vstack([rows["efc_J"], extra])
        else:
            found["contacts"] = [
                replace(c, rows=slice(0, 1)) if c.rows.stop == c.rows.start else c for c in found["contacts"]
            ]
        return found


@cases("what, name", [("limit", "everything"), ("contact", "margin_and_gap")])
@cases("precision", ["64", "32"])
def test_invented_rows_fail(what, name, precision):
    report = run_parity(name, load(name), lambda m, n: Inventive(m, n, what), precision, count=60)
    assert "contact_set" in report.failures


def test_fields_after_a_step_are_compared():
    assert set(AFTER_STEP) <= set(BATCHED)


# -- The smallest claims of docs/reference/far.md


STEPS, ENVS = 100, 4
CLAIMED = {
    ("box, level floor", 1000.0): (1e-6, 1e-7),
    ("box, slope of 20 degrees", 10.0): (1e-6, 2e-6),
    ("box on a fixed box", 10.0): (1e-6, 2e-6),
}
"""Scene and distance from the origin, m: largest errors of angles (rad) and of depths (m), three times the page's."""


@pytest.mark.parametrize("scene, distance", CLAIMED)
def test_single_precision_holds_as_far_as_the_page_says(scene, distance):
    run_with("32")
    angle, depth = CLAIMED[scene, distance]
    far = measure(SCENES[scene], distance, STEPS, ENVS)
    assert far.other == 0
    assert far.angle < angle and far.depth < depth


def test_what_is_too_far_is_seen():
    """The measure would tell if single precision were worse: on a slope 5 km away it is, by hundreds of times."""
    run_with("32")
    assert measure(SCENES["box, slope of 20 degrees"], 5000.0, STEPS, ENVS).angle > 1e-4


# -- What decides who is right about a contact


TWO_BOXES = """<mujoco><worldbody><geom type="box" size=".5 .5 .1"/>
<body pos="0 0 .19"><freejoint/><geom type="ellipsoid" size=".2 .15 .1"/></body></worldbody></mujoco>"""


def turned(contact: Contact, angle: float) -> Contact:
    """The contact with its normal turned about the y axis."""
    normal = np.array([np.sin(angle), 0, np.cos(angle)]) * np.sign(contact.frame[2])
    frame = np.concatenate([normal, contact.frame[3:]])
    return Contact(contact.geom, contact.pos, frame, contact.dist, contact.friction, contact.margin, contact.rows)


def test_the_normal_with_the_smaller_overlap_is_right():
    mjm = mujoco.MjModel.from_xml_string(TWO_BOXES)
    data = mujoco.MjData(mjm)
    mujoco.mj_forward(mjm, data)
    (exact,) = contacts_of(data, elliptic=False)
    off, farther = turned(exact, 0.01), turned(exact, 0.02)
    assert smaller_overlap(mjm, data, [exact], [off])
    assert smaller_overlap(mjm, data, [off], [farther])
    assert not smaller_overlap(mjm, data, [off], [exact])
    assert not smaller_overlap(mjm, data, [off], [off])  # nothing tells
    assert not smaller_overlap(mjm, data, [exact], [])  # a contact that only one has
