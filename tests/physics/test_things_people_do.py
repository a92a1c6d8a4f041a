"""Things at rest, in a stack, in a hole, in a gripper: no farther from where they were than MuJoCo's own, and quiet."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.benchmarks.scenes import pyramid
from tumble.physics import Model, RigidSolver

from ..models.purpose import FOLDER

MORE = 1e-3
"""Metres that a body may drift beyond what MuJoCo's drifts from the same state: pyramidal contacts creep."""
QUIET = 0.02
"""m/s and rad/s of what has come to rest."""
STONE = "".join(f"{x:.4f} " for x in np.random.default_rng(5).standard_normal((14, 3)).ravel() * 0.05)
SHAPES = {
    "cube": 'type="box" size=".05 .05 .05"',
    "can": 'type="cylinder" size=".05 .05"',
    "pill": 'type="capsule" size=".04 .06" euler="90 0 0"',
    "egg": 'type="ellipsoid" size=".05 .05 .04"',
    "stone": 'type="mesh" mesh="stone"',
}
GROUNDS = {
    "plane": '<geom type="plane" size="5 5 1"/>',
    "slope": '<geom type="plane" size="5 5 1" euler="5 0 0"/>',
    "table": '<geom type="box" size="1 1 .1" pos="0 0 -.1"/>',
    "cube": '<geom type="plane" size="5 5 1"/><body pos="0 0 .1"><freejoint/>'
    '<geom type="box" size=".1 .1 .1" mass="2"/>'
    "</body>",
}
ROLLS = {("pill", "slope"), ("egg", "slope"), ("stone", "slope")}  # which need not stay


def world(bodies: str, timestep: float = 0.002) -> str:
    return (
        f'<mujoco><option timestep="{timestep}" integrator="implicitfast"/><asset><mesh name="stone" vertex="{STONE}"/>'
        f'</asset><default><geom condim="4" friction="1 .02 .001"/></default><worldbody>{bodies}</worldbody></mujoco>'
    )


def thing(shape: str, height: float) -> str:
    return f'<body pos="0 0 {height}"><freejoint/><geom {SHAPES[shape]} mass=".5"/></body>'


def both(model: Model, seconds: float, settle: float, ctrl: tuple[float, ...] = ()) -> tuple[np.ndarray, ...]:
    """Positions of all bodies (nbody, 3) after `settle`, and after `seconds` more: Tumble's, MuJoCo's; velocities."""
    mj = model.mj
    solver, data = RigidSolver(model, 4), mujoco.MjData(mj)
    if ctrl:
        solver.ctrl = torch.tensor(ctrl).expand(4, -1)
        data.ctrl[:] = ctrl
    places = []
    for duration in (settle, seconds):
        count = round(duration / mj.opt.timestep)
        solver.step(count)
        for _ in range(count):
            mujoco.mj_step(mj, data)
        mujoco.mj_kinematics(mj, data)
        solver.forward()
        places += [solver.get("xpos")[0].double().numpy().copy(), data.xpos.copy()]
    assert not solver.any_fault
    return (*places, solver.qvel[0].double().numpy())


def stays(model: Model, seconds: float, settle: float = 1.0) -> None:
    ours0, theirs0, ours, theirs, qvel = both(model, seconds, settle)
    drift, allowed = (np.linalg.norm(b - a, axis=1) for a, b in ((ours0, ours), (theirs0, theirs)))
    print(f"drift {drift.max() * 1e3:.3f} mm, MuJoCo {allowed.max() * 1e3:.3f} mm, speed {np.abs(qvel).max():.1e}")
    assert (drift <= allowed + MORE).all()
    assert np.abs(qvel).max() < QUIET


@pytest.fixture(autouse=True)
def single():
    tumble.init(precision="32")


CASES = [(shape, ground) for shape in SHAPES for ground in GROUNDS if (shape, ground) not in ROLLS]


@pytest.mark.parametrize(("shape", "ground"), CASES)
@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_things_rest(shape, ground, seconds):
    height = 0.26 if ground == "cube" else 0.06
    stays(Model.from_mjcf(world(GROUNDS[ground] + thing(shape, height))), seconds, 2.0)


@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_a_stack_of_plates(seconds):
    plates = "".join(
        f'<body pos="{0.003 * (i % 3)} 0 {0.0105 + 0.0205 * i}"><freejoint/>'
        '<geom type="box" size=".1 .1 .01" mass=".3"/></body>'
        for i in range(10)
    )
    stays(Model.from_mjcf(world(GROUNDS["plane"] + plates)), seconds)


@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_a_pyramid_of_boxes(seconds):
    stays(Model.from_mjspec(pyramid(10), timestep=0.002), seconds)


def test_a_peg_falls_into_a_hole():
    """With a millimetre of play, a little turned and off the middle."""
    walls = "".join(
        f'<geom type="box" size=".05 .02 .05" pos="{x} {y} .05" euler="0 0 {turn}"/>'
        for x, y, turn in ((0, 0.0405, 0), (0, -0.0405, 0), (0.0405, 0, 90), (-0.0405, 0, 90))
    )
    peg = '<body pos=".0002 -.0001 .18" euler="0.5 -0.3 1"><freejoint/><geom type="box" size=".02 .02 .06" mass=".2"/>'
    model = Model.from_mjcf(world(GROUNDS["plane"] + walls + peg + "</body>"))
    _, _, ours, theirs, qvel = both(model, 2.0, 0.1)
    assert abs(theirs[-1, 2] - 0.06) < 1e-3, "MuJoCo's peg is not at the bottom"
    assert abs(ours[-1, 2] - 0.06) < 1e-3
    assert np.abs(qvel).max() < QUIET


@pytest.mark.parametrize("seconds", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_a_gripper_holds_a_cube(seconds):
    """It slips as far as in MuJoCo: a pyramid of friction creeps under a load."""
    model = Model.from_mjcf(FOLDER / "gripper.xml")
    solver, data = RigidSolver(model, 4), mujoco.MjData(model.mj)
    heights = []
    for duration, ctrl in ((0.5, (0, 0, 0)), (0.5, (0, 0.045, 0.045)), (1, (0.15, 0.045, 0.045)), (seconds, None)):
        if ctrl is not None:
            solver.ctrl = torch.tensor(ctrl, dtype=solver.dtype).expand(4, -1)
            data.ctrl[:] = ctrl
        count = round(duration / model.mj.opt.timestep)
        solver.step(count)
        for _ in range(count):
            mujoco.mj_step(model.mj, data)
        heights.append((float(solver.qpos[0, -5]), float(data.qpos[-5])))
    (lifted, lifted_there), (held, held_there) = heights[2:]
    assert lifted > 0.1
    assert abs(lifted - lifted_there) < MORE
    assert lifted - held < lifted_there - held_there + MORE
