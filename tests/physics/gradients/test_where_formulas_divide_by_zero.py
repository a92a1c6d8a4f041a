"""Derivatives where a formula divides by a guarded length that is exactly zero: the usual case in a state at rest.

A rotation by no angle, a spring at its rest length, a cylinder that stands upright. Every case is a body of its own, so
the columns of its dofs are those of the case. The oracle are differences of MuJoCo (`differences`).
"""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver

from ..parity.reference import States
from ..starts import run_with
from .differences import derivative

BOUND = 1e-7
"""Relative to the largest entry of the model's Jacobian; quotients agree to 1e-8 (`differences.SETTLED`)."""
KINKED = 1e-5
"""Where derivatives on both sides differ, as that of a cylinder that tilts: central quotients, and our derivatives, are
their mean; the quotients have an error of the second order."""
UNSETTLED = {"an upright cylinder": {3, 4}, "an ellipsoid above the middle of an end": set(range(12))}
"""Columns of bodies in which differences are no oracle to BOUND: those of a kink, and those of MuJoCo's search for the
distance of curved shapes, whose error is above the quotients' steps."""
LARGEST = 100.0
"""Entries without an oracle are less: the derivative of a direction of length zero would be 1e15."""
OPTION = "<option timestep='0.004' tolerance='1e-15' iterations='100' ls_iterations='50' {}/>"
SOLID = "<geom type='{}' size='.1 .2 .3'/>"
BOX, ELLIPSOID = SOLID.format("box"), SOLID.format("ellipsoid")

JOINTS = {
    "a ball's spring at its rest": f"<joint type='ball' stiffness='3' damping='.1'/>{BOX}",
    "a ball far from its limit": f"<joint type='ball' range='0 .5' limited='true'/>{BOX}",
    "a free body at rest": f"<freejoint/>{BOX}",
    "a weld that holds": f"<freejoint/>{BOX}",
    "a connection that holds": f"<freejoint/>{BOX}",
    "a tendon at its length": "<joint name='drawn'/><geom size='.1' pos='.1 0 0'/><site name='end' pos='.2 0 0'/>",
    "a crank in line": "<joint axis='0 1 0'/><geom size='.1' pos='.1 0 0'/><site name='crank' pos='.3 0 0'/>",
    "a servo at no turn": f"<joint name='servo' type='ball'/>{ELLIPSOID}",
}
JOINTS_BESIDE = """
<equality><weld body1="a weld that holds"/><connect body1="a connection that holds" anchor="0 0 0"/></equality>
<tendon>
  <spatial stiffness="10" damping=".2"><site site="far"/><site site="end"/></spatial>
  <fixed stiffness="4" springlength="0"><joint joint="drawn" coef="1"/></fixed>
</tendon>
<actuator>
  <general cranksite="crank" slidersite="slider" cranklength=".5" gainprm="2"/>
  <orientation joint="servo" kp="9" kv="0.7"/>
</actuator>
"""
FLUID = {
    "an ellipsoid in still air": "<freejoint/><geom type='ellipsoid' size='.1 .2 .3' fluidshape='ellipsoid'/>",
    "a box in still air": f"<freejoint/>{BOX}",
}
CONTACTS = {  # depths of 0.7 mm, where the impedance of the usual width of 1 mm has no kink
    "a sphere that rests": (0.0993, "<geom size='.1'/>", ""),
    "an upright cylinder": (0.1993, "<geom type='cylinder' size='.1 .2'/>", ""),
    "a box that lies": (0.0993, "<geom type='box' size='.1 .1 .1'/>", ""),
    "an ellipsoid that lies": (0.0993, "<geom type='ellipsoid' size='.2 .15 .1'/>", ""),
    "a sphere with its centre on a face": (1.2, "<geom size='.1'/>", "<geom type='box' size='.2 .2 .2' pos='{} 0 1'/>"),
    "a sphere above the middle of an end": (
        1.2993,
        "<geom size='.1'/>",
        "<geom type='cylinder' size='.2 .2' pos='{} 0 1'/>",
    ),
    "an ellipsoid above the middle of an end": (
        1.2993,
        "<geom type='ellipsoid' size='.15 .12 .1'/>",
        "<geom type='cylinder' size='.2 .2' pos='{} 0 1'/>",
    ),
}


def bodies(declared: dict[str, str]) -> str:
    """Bodies side by side, two metres apart."""
    return "".join(
        f'<body name="{name}" pos="{2 * k} 0 1">{xml}</body>' for k, (name, xml) in enumerate(declared.items())
    )


def contacts() -> str:
    """Bodies on a plane, or on geoms of the world."""
    world = "<geom type='plane' size='30 3 1'/>"
    for k, (name, (height, geom, beneath)) in enumerate(CONTACTS.items()):
        world += beneath.format(2 * k) + f'<body name="{name}" pos="{2 * k} 0 {height}"><freejoint/>{geom}</body>'
    return world


SITES = '<site name="far" pos="10 0 2"/><site name="slider" pos="12 0 1" euler="0 90 0"/>'
WORLDS = {
    "joints": ("", bodies(JOINTS) + SITES, JOINTS_BESIDE),
    "fluid": ("density='1.2' viscosity='0.01' gravity='0 0 0' integrator='implicitfast'", bodies(FLUID), ""),
    "contacts": ("", contacts(), ""),
    "contacts, elliptic": ("cone='elliptic' impratio='2'", contacts(), ""),
}


def compared(name):
    """The Jacobian of a model's step in its reference state, MuJoCo's, and the model."""
    run_with("64")
    options, world, beside = WORLDS[name]
    xml = f"<mujoco>{OPTION.format(options)}<worldbody>{world}</worldbody>{beside}</mujoco>"
    mjm = mujoco.MjModel.from_xml_string(xml)
    state = States(*(np.array(part)[None] for part in (mjm.qpos0, np.zeros(mjm.nv), np.zeros(mjm.nu))))
    found = RigidSolver(Model.from_mjmodel(mjm), 1).gradients.transition()
    expected = derivative(mjm, state)
    return np.concatenate([part[0].numpy() for part in found], axis=1), expected, mjm


@pytest.mark.parametrize(
    "name", ["joints", "fluid", "contacts", pytest.param("contacts, elliptic", marks=pytest.mark.slow)]
)
def test_a_state_in_which_lengths_are_zero(name):
    found, expected, mjm = compared(name)
    errors = np.abs(found - expected.jacobian) / expected.scale
    settled = expected.settled | (errors <= BOUND).all(axis=0)  # differences that are equal need not agree by length
    wrong = {}
    for b in range(1, mjm.nbody):
        body, dofs = mjm.body(b), np.flatnonzero(mjm.dof_bodyid == b)
        columns = np.concatenate((dofs, mjm.nv + dofs))
        allowed = UNSETTLED.get(body.name, set())
        assert set(np.flatnonzero(~settled[columns])) <= allowed, body.name
        bounds = np.where(settled[columns], BOUND, KINKED if len(allowed) < len(dofs) else np.inf)
        if not (errors[:, columns] <= bounds).all():
            wrong[body.name] = errors[:, columns].max(axis=0)
    assert not wrong
    assert np.abs(found).max() < LARGEST
    assert (errors[:, 2 * mjm.nv :] <= BOUND).all() and settled[2 * mjm.nv :].all()
