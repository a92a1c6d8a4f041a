"""The comparison sees: MuJoCo equals itself to the last bit, and any quantity made wrong fails at its own stage."""

from dataclasses import replace

import numpy as np
import pytest

from ...cases import cases
from ...models.purpose import MODELS
from .catalogue import load, names, shows
from .compare import stage_of
from .reference import AFTER_STEP, BATCHED, INSPECTED, STAGES, evaluate, reference_model, step
from .run import SETTINGS, begin, run_parity
from .states import sample
from .subjects import StandIn

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


@cases("name", [*names("purpose"), *names("packaged")])
def test_states_are_constrained_and_show_what_the_model_is_for(name):
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
