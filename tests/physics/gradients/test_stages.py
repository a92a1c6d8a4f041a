"""Stages one by one: the tangents of what each writes, against differences of its plain unit (`stage_units`).

So a wrong derivative is found by the names of its stage and field. Where difference quotients differ, or a stage
chooses otherwise, as at a kink, there is no oracle; these lanes are counted.
"""

from functools import cache

import mujoco
import pytest

from tumble.physics import Model
from tumble.physics.gradients.levels import COMPLETED, POSITION, level_of
from tumble.physics.gradients.optimum import stage_named
from tumble.physics.gradients.steps import REFUSED, with_newton
from tumble.physics.model.features import Features
from tumble.physics.model.state.declared import read_by, written_by

from ...test_architecture import ROOT
from ...widths import WIDTH
from ..parity.catalogue import load, names
from ..parity.reference import is_elliptic
from ..parity.run import CONES
from ..parity.states import sample
from ..starts import run_with
from .stage_units import BOUND, Bench, Found

STATES = 5 * WIDTH
UNSETTLED = 0.05
"""The largest share of lanes without an oracle: a tenth of the states of `sample` are at kinks in some field."""
QUICK = ("everything",)
MODELS = (
    *QUICK,
    *("everything, elliptic", "everything, implicit", "everything, implicitfast", "everything, RK4"),
    *("condim_6", "condim_6, elliptic", "boxes", "plane_shapes", "spheres_and_capsules", "mixing", "repeated_pairs"),
    *("impedance", "limits_ball", "equalities", "frictionloss", "tendons", "tendon_paths", "springs_and_dampers"),
    *(
        "activations",
        "pid",
        "delays",
        "dc_motor",
        "orientation",
        "transmissions",
        "polynomials",
        "plastic",
        "plastic, RK4",
        "lifted",
    ),
    *("fluid", "fluid_ellipsoids", "adhesion", "adhesive_bodies", "surface_velocity", "drag"),
    *("terrain", "terrain, surface", "servo_on_ball, implicitfast", "heavy tendon"),
)
WHOLE = {"clear_blocks"}
"""Stages that store whole numbers only."""
SEARCHED = {"acceleration_tangent"}
"""Stages whose values are those of a search, which ends within its tolerance."""
TOLERANCE = 1e-12
UNCAUGHT = {
    "qpos_rest eval_rest": "rounding errors, which only single and mixed precision keep",
    "qacc_warmstart": "where a search starts, of which its result is independent",
    "act_length": "tells by how many whole turns an activation is too large",
    "piece_corner": "of height fields' prisms, which are no geoms of other pairs",
}
"""Fields whose tangents matter in no stage but those that store them first, and why."""

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
HEAVY_TENDON = """
<mujoco><option timestep=".004"/>
  <worldbody>
    <site name="hook" pos="0 0 2"/>
    <body pos="0 0 1"><joint axis="0 1 0"/><geom size=".05" pos=".3 0 0"/><site name="near" pos=".3 0 .1"/>
      <body pos=".5 0 0"><joint axis="0 1 .3"/><geom size=".06" pos=".2 .1 0"/><site name="far" pos=".2 0 0"/></body>
    </body>
  </worldbody>
  <tendon>
    <spatial armature=".4" damping=".1"><site site="hook"/><site site="near"/><site site="far"/></spatial>
  </tendon>
</mujoco>
"""
OWN = {"terrain": TERRAIN, "terrain, surface": TERRAIN, "heavy tendon": HEAVY_TENDON}


def compiled(name: str) -> mujoco.MjModel:
    """The model of that name, whose solver ends at the optimum."""
    file, _, integrator = name.partition(", ")
    if name in OWN:
        mjm = mujoco.MjModel.from_xml_string(OWN[name])
    elif name == "drag":
        mjm = mujoco.MjModel.from_xml_path(str(ROOT / "tests/models/drag.xml"))
    elif integrator in ("implicit", "implicitfast", "RK4"):
        mjm = load(file)
        mjm.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    else:
        mjm = load(name)
    mjm.opt.tolerance, mjm.opt.iterations, mjm.opt.ls_iterations = CONES if is_elliptic(mjm) else 1e-15, 100, 50
    mjm.opt.ccd_tolerance, mjm.opt.ccd_iterations = 1e-12, 100
    return mjm


@cache
def found_in(name: str) -> Found:
    """What a comparison of all stages of a model finds, in states of which half touch or reach a limit."""
    run_with("64")
    mjm = compiled(name)
    bench, states = Bench(mjm, "surface" if name.endswith("surface") else "mujoco"), sample(mjm, STATES)
    for first in range(0, STATES, WIDTH):
        bench.compare(states[first : first + WIDTH])
    return bench.found


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]
)
def test_every_stage(name):
    found = found_in(name)
    assert {key: error for key, error in found.errors.items() if not error <= BOUND} == {}
    assert {key for key, count in found.compared.items() if not count} == set()
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
    assert wanted - {key.stage for found in every for key in found.compared} == WHOLE
    caught, read = (set().union(*sets) for sets in zip(*((found.caught, found.read) for found in every), strict=True))
    stages = [stage_named(name) for name in {key.stage for found in every for key in found.compared}]
    for name in read - caught:
        if all(name in written_by(stage) for stage in stages if name in read_by(stage)):
            caught.add(name)  # loaded after it was stored in the same unit, whose results prove its tangents
    assert read - caught == set(" ".join(UNCAUGHT).split())
