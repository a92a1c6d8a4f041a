"""Stages one by one: the tangents of what each writes, against differences of its plain unit (`stage_units`).

So a wrong derivative is found by the names of its stage and field. Where difference quotients differ, or a stage
chooses otherwise, as at a kink, there is no oracle; these lanes are counted.
"""

from functools import cache

import mujoco
import pytest

from tumble.physics import Model
from tumble.physics.gradients.levels import COMPLETED, POSITION, level_of
from tumble.physics.gradients.steps import REFUSED, with_newton
from tumble.physics.model.features import Features

from ...test_architecture import ROOT
from ...widths import WIDTH
from ..parity.catalogue import load, names
from ..parity.states import sample
from ..starts import run_with
from .stage_units import BOUND, Bench, Found, Key

STATES = 5 * WIDTH
UNSETTLED = 0.05
"""The largest share of lanes without an oracle: a tenth of the states of `sample` are at kinks in some field."""
QUICK = ("everything",)
MODELS = (
    *QUICK,
    *("everything, elliptic", "everything, implicit", "everything, implicitfast", "everything, RK4"),
    *("condim_6", "condim_6, elliptic", "boxes", "plane_shapes", "spheres_and_capsules", "mixing", "repeated_pairs"),
    *("impedance", "limits_ball", "equalities", "frictionloss", "tendons", "tendon_paths", "springs_and_dampers"),
    *("activations", "pid", "delays", "dc_motor", "orientation", "transmissions", "polynomials", "plastic", "lifted"),
    *("fluid", "fluid_ellipsoids", "adhesion", "adhesive_bodies", "surface_velocity", "drag", "terrain"),
)
NEVER = {
    Key("actuation", level, field)
    for level in range(POSITION + 1)
    for field in ("acting_ctrl", "actuator_force", "qfrc_actuator")
}
"""With delayed controls a sample's age may be the delay exactly, at every step: the control jumps there."""
SEARCHED = {"acceleration_tangent"}
"""Stages whose values are those of a search, which ends within its tolerance."""
TOLERANCE = 1e-12
UNCAUGHT = {
    "qpos_rest qvel_rest": "rounding errors, which are kept in single precision only",
    "eval_qvel eval_warm qacc_warmstart": "stored in place of an evaluation that is not finite; no start of a search",
}
"""Fields whose tangents matter in no stage, and why."""

TERRAIN = """
<mujoco><option timestep=".004"/>
  <asset><hfield name="land" size="2 2 .3 .1" nrow="4" ncol="4" elevation="0 1 0 2  1 3 1 0  2 0 1 1  0 2 3 1"/></asset>
  <worldbody>
    <geom type="hfield" hfield="land"/>
    <body pos=".3 .2 .5"><freejoint/><geom size=".15"/></body>
    <body pos="-.6 .3 .5"><freejoint/><geom type="capsule" size=".1 .2"/></body>
    <body pos=".6 -.6 .5"><freejoint/><geom type="box" size=".1 .15 .1"/></body>
  </worldbody>
</mujoco>
"""


def compiled(name: str) -> mujoco.MjModel:
    """The model of that name, whose solver ends at the optimum."""
    file, _, integrator = name.partition(", ")
    if name == "terrain":
        mjm = mujoco.MjModel.from_xml_string(TERRAIN)
    elif name == "drag":
        mjm = mujoco.MjModel.from_xml_path(str(ROOT / "tests/models/drag.xml"))
    elif integrator in ("implicit", "implicitfast", "RK4"):
        mjm = load(file)
        mjm.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    else:
        mjm = load(name)
    mjm.opt.tolerance, mjm.opt.iterations, mjm.opt.ls_iterations = 1e-15, 100, 50
    return mjm


@cache
def found_in(name: str) -> Found:
    """What a comparison of all stages of a model finds, in states of which half touch or reach a limit."""
    run_with("64")
    mjm = compiled(name)
    bench, states = Bench(mjm), sample(mjm, STATES)
    for first in range(0, STATES, WIDTH):
        bench.compare(states[first : first + WIDTH])
    return bench.found


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]
)
def test_every_stage(name):
    found = found_in(name)
    assert {key: error for key, error in found.errors.items() if not error <= BOUND} == {}
    assert {key for key, count in found.compared.items() if not count} <= NEVER
    assert sum(found.unsettled.values()) <= UNSETTLED * sum(found.compared.values())
    near = {key: key.stage in SEARCHED or key.field in COMPLETED for key in found.values}
    other = {key for key, apart in found.values.items() if apart > (TOLERANCE if near[key] else 0.0)}
    assert other == set(), "tangents change values"


@pytest.mark.slow
def test_all_stages_are_compared_and_all_tangents_matter():
    """A stage that no model has is not compared; a field whose tangent is never missed may have a wrong one."""
    has = [Features.of(with_newton(Model.from_mjmodel(load(name))), single=False) for name in names("purpose")]
    wanted = {
        name for one in has if not any(getattr(one, f) for f in REFUSED) for name in level_of(POSITION, one).stages
    }
    every = [found_in(name) for name in MODELS]
    assert wanted - {key.stage for found in every for key in found.compared} == set()
    caught, read = (set().union(*sets) for sets in zip(*((found.caught, found.read) for found in every), strict=True))
    assert read - caught == {name for names_ in UNCAUGHT for name in names_.split()}
