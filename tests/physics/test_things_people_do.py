"""Things at rest, in a stack, in a hole, in a gripper: no farther from where they were than MuJoCo's own, and quiet."""

import importlib.util
from typing import NamedTuple

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.benchmarks.scenes import pyramid
from tumble.physics import Model, RigidSolver

from ..models.meshes import mug
from ..models.purpose import FOLDER
from .starts import run_with

# -- Things at rest, in a stack, in a hole, in a gripper: no farther from where they were than MuJoCo's own, and quiet


MORE = 1e-3
"""Metres that a body may drift beyond what MuJoCo's drifts: pyramidal contacts creep, MuJoCo's too."""
QUIET = 0.02
"""m/s and rad/s of what has come to rest; where MuJoCo's still rocks, half as much again."""
SETTLED = 2.0  # seconds
LENGTHS = [4, pytest.param(60, marks=pytest.mark.slow)]  # seconds
STONE = "".join(f"{x:.4f} " for x in np.random.default_rng(5).standard_normal((14, 3)).ravel() * 0.05)
SHAPES = {
    "cube": 'type="box" size=".05 .05 .05"',
    "can": 'type="cylinder" size=".05 .05"',
    "pill": 'type="capsule" size=".04 .06" euler="90 0 0"',
    "egg": 'type="ellipsoid" size=".05 .05 .04"',
    "stone": 'type="mesh" mesh="stone"',
}
GROUNDS = {
    "plane": '<geom type="plane" size=".45 .45 .1" {0}/>',
    "slope": '<geom type="plane" size=".45 .45 .1" euler="5 0 0" {0}/>',
    "table": '<geom type="box" size=".4 .4 .1" pos="0 0 -.1" {0}/>',
    "cube": '<geom type="plane" size=".45 .45 .1" {0}/><body name="under {1}" pos="0 0 .1"><freejoint/>'
    '<geom type="box" size=".1 .1 .1" mass="2" {0}/></body>',
    "can": '<geom type="plane" size=".45 .45 .1" {0}/><body name="under {1}" pos="0 0 .1"><freejoint/>'
    '<geom type="cylinder" size=".12 .1" mass="2" {0}/></body>',
}
ROLLS = {("pill", "slope"), ("egg", "slope"), ("stone", "slope")}  # which need not stay
CASES = [(shape, ground) for shape in SHAPES for ground in GROUNDS if (shape, ground) not in ROLLS]


def world(bodies: str) -> str:
    return (
        '<mujoco><option integrator="implicitfast"/>'
        f'<asset><mesh name="stone" vertex="{STONE}"/></asset>'
        f'<default><geom condim="4" friction="1 .02 .001"/></default><worldbody>{bodies}</worldbody></mujoco>'
    )


def side_by_side() -> str:
    """Each thing on its ground, a metre from its neighbours, which it does not touch."""
    cells = []
    for k, (shape, ground) in enumerate(CASES):
        mask = f'contype="{1 << k}" conaffinity="{1 << k}"'
        height = 0.26 if ground in ("cube", "can") else 0.06
        cells.append(
            f'<frame pos="{k % 5 - 2} {k // 5 - 2} 0">{GROUNDS[ground].format(mask, k)}'
            f'<body name="on {k}" pos="0 0 {height}"><freejoint/><geom {SHAPES[shape]} mass=".5" {mask}/></body>'
            "</frame>"
        )
    return world("".join(cells))


class Run(NamedTuple):
    """Of all bodies after `SETTLED` seconds, and later.

    Attributes:
        drift: metres from then on (nbody,), in Tumble.
        allowed: the same in MuJoCo.
        places: positions at the end (nbody, 3), in Tumble.
        expected: the same in MuJoCo.
        speed: of the dofs of each body at the end, the largest (nbody,), in Tumble.
        bound: the same in MuJoCo.
        rise: joules that the energy grew by from then on, in Tumble.
    """

    drift: np.ndarray
    allowed: np.ndarray
    places: np.ndarray
    expected: np.ndarray
    speed: np.ndarray
    bound: np.ndarray
    rise: float


def run(model: Model, seconds: float, settle: float = SETTLED) -> Run:
    """Tumble beside MuJoCo from the same state."""
    mj = model.mj
    solver, data, twin = RigidSolver(model, 2), mujoco.MjData(mj), mujoco.MjData(mj)
    places, expected, energy = [], [], []
    for duration in (settle, seconds):
        count = round(duration / mj.opt.timestep)
        solver.step(count)
        mujoco.mj_step(mj, data, count)
        twin.qpos[:], twin.qvel[:] = solver.qpos[0].numpy(), solver.qvel[0].numpy()
        for state in (data, twin):
            mujoco.mj_forward(mj, state)
        mujoco.mj_energyPos(mj, twin)
        mujoco.mj_energyVel(mj, twin)
        places.append(twin.xpos.copy())
        expected.append(data.xpos.copy())
        energy.append(twin.energy.sum())
    assert not solver.any_fault
    speed, bound = np.zeros((2, mj.nbody))
    np.maximum.at(speed, mj.dof_bodyid, np.abs(twin.qvel))
    np.maximum.at(bound, mj.dof_bodyid, np.abs(data.qvel))
    drift, allowed = (np.linalg.norm(after - before, axis=1) for before, after in (places, expected))
    return Run(drift, allowed, places[1], expected[1], speed, bound, energy[1] - energy[0])


def stays(found: Run, bodies: list[int]) -> None:
    drift, allowed, speed, bound = (part[bodies] for part in (found.drift, found.allowed, found.speed, found.bound))
    print(f"drift {drift.max() * 1e3:.3f} mm ({allowed.max() * 1e3:.3f}), speed {speed.max():.1e} ({bound.max():.1e})")
    assert (drift <= allowed + MORE).all()
    assert speed.max() < max(QUIET, 1.5 * bound.max())


@pytest.fixture(autouse=True)
def single():
    run_with("32")


@pytest.fixture(scope="module", params=LENGTHS)
def at_rest(request) -> tuple[Model, Run]:
    run_with("32")
    model = Model.from_mjcf(side_by_side())
    return model, run(model, request.param)


@pytest.mark.parametrize("k", range(len(CASES)), ids=[f"{shape}-on-{ground}" for shape, ground in CASES])
def test_things_rest(at_rest, k):
    model, found = at_rest
    stays(found, [b for b in range(model.mj.nbody) if model.mj.body(b).name in (f"on {k}", f"under {k}")])


def test_energy_does_not_grow(at_rest):
    _, found = at_rest
    assert found.rise < 1e-5  # J; rounding of single precision in a millimetre's fall of a kilogram


def plates_and_peg() -> str:
    """A stack of ten plates, and a hole between four boxes with a peg above it, a little turned and off the middle."""
    plates = "".join(
        f'<body pos="{1 + 0.003 * (i % 3)} 0 {0.0105 + 0.0205 * i}"><freejoint/>'
        '<geom type="box" size=".1 .1 .01" mass=".3"/></body>'
        for i in range(10)
    )
    walls = "".join(
        f'<geom type="box" size=".05 .02 .05" pos="{x} {y} .05" euler="0 0 {turn}"/>'
        for x, y, turn in ((0, 0.0405, 0), (0, -0.0405, 0), (0.0405, 0, 90), (-0.0405, 0, 90))
    )
    peg = '<body pos=".0002 -.0001 .18" euler="0.5 -0.3 1"><freejoint/><geom type="box" size=".02 .02 .06" mass=".2"/>'
    return world(GROUNDS["plane"].format("") + plates + walls + peg + "</body>")


@pytest.fixture(scope="module", params=LENGTHS)
def built(request) -> Run:
    run_with("32")
    return run(Model.from_mjcf(plates_and_peg()), request.param)


def test_a_stack_of_plates(built):
    stays(built, list(range(1, 11)))


def test_a_peg_falls_into_a_hole(built):
    """With a millimetre of play."""
    assert abs(built.expected[11, 2] - 0.06) < 1e-3, "MuJoCo's peg is not at the bottom"
    assert abs(built.places[11, 2] - 0.06) < 1e-3
    stays(built, [11])


@pytest.mark.parametrize("seconds", LENGTHS)
def test_a_pyramid_of_boxes(seconds):
    stays(run(Model.from_mjspec(pyramid(10), timestep=0.002), seconds), list(range(1, 56)))


def stacks() -> Model:
    """Ten boxes on each other, and one of 100 kg on one of 1 kg, under elliptic cones of friction.

    On contacts of the usual stiffness the ten buckle, and the hundred kilograms sink into what carries them.
    """
    bodies = "".join(
        f'<body pos="{0.002 * (i % 3)} 0 {0.05 + 0.1 * i}"><freejoint/><geom type="box" size=".05 .05 .05" mass=".5"/>'
        "</body>"
        for i in range(10)
    ) + "".join(
        f'<body pos="1 0 {0.05 + 0.1 * i}"><freejoint/><geom type="box" size=".05 .05 .05" mass="{mass}"/></body>'
        for i, mass in enumerate((1, 100))
    )
    stiff = world(GROUNDS["plane"].format("") + bodies).replace("<geom condim", '<geom solref=".002 1" condim')
    return Model.from_mjcf(stiff.replace("<option", '<option cone="elliptic" timestep="0.001"'))


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["32", "64"])
def test_stacks_under_elliptic_cones(precision):
    run_with(precision)
    stays(run(stacks(), 60), list(range(1, 13)))


PIECES = {
    "threshold": 0.1,
    "preprocess_mode": "off",
    "resolution": 200,
    "mcts_iterations": 20,
    "mcts_nodes": 5,
    "mcts_max_depth": 1,
}
"""Options of coacd with which the mug is some 17 convex pieces, hollow, after a second."""
needs_coacd = pytest.mark.skipif(importlib.util.find_spec("coacd") is None, reason="coacd is not installed")
THINGS = ["cube", "can", pytest.param("mug", marks=needs_coacd)]
CLOSED = 0.045
LIFTING = [(0.5, (0, 0, 0)), (0.5, (0, CLOSED, CLOSED))]
LIFTING += [(0.1, (0.015 * (k + 1), CLOSED, CLOSED)) for k in range(10)] + [(0.5, (0.15, CLOSED, CLOSED))]
"""Seconds and controls: what lies on the table comes to rest, the fingers close, the lift goes up."""


def gripped(thing: str) -> Model:
    """The gripper with a thing between its open fingers."""
    spec = mujoco.MjSpec.from_file(str(FOLDER / "gripper.xml"))
    geom = spec.geom("thing")
    if thing == "can":
        geom.type = mujoco.mjtGeom.mjGEOM_CYLINDER
    if thing != "mug":
        return Model.from_mjspec(spec)
    vertices, faces = mug()
    spec.add_mesh(name="mug", uservert=vertices.ravel(), userface=faces.ravel())
    geom.type, geom.meshname, geom.pos = mujoco.mjtGeom.mjGEOM_MESH, "mug", (0, 0, -0.03)
    return Model.from_mjspec(spec, decompose={"mug": PIECES})


def test_the_mug_is_hollow():
    """A ray from above meets its bottom: what touches are the pieces, not the hull."""
    pytest.importorskip("coacd")
    mjm = gripped("mug").mj
    assert 5 < sum(mjm.geom_type == int(mujoco.mjtGeom.mjGEOM_MESH)) < 60
    data, groups = mujoco.MjData(mjm), np.array([0, 0, 0, 1, 0, 0], np.uint8)
    mujoco.mj_kinematics(mjm, data)
    down = mujoco.mj_ray(mjm, data, [0, 0, 0.09], [0, 0, -1.0], groups, 1, -1, np.zeros(1, np.int32))
    assert 0.002 < 0.09 - down < 0.008  # m above the table: the upper side of the bottom, which is 5 mm thick


@pytest.mark.parametrize("seconds", [2, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("thing", THINGS)
def test_a_gripper_holds(thing, seconds):
    """It slips as far as in MuJoCo: a pyramid of friction creeps under a load."""
    model = gripped(thing)
    solver, data = RigidSolver(model, 2), mujoco.MjData(model.mj)
    places = []
    for duration, ctrl in (*LIFTING, (seconds, None)):
        if ctrl is not None:
            solver.ctrl = torch.tensor(ctrl, dtype=solver.dtype).expand(2, -1)
            data.ctrl[:] = ctrl
        count = round(duration / model.mj.opt.timestep)
        solver.step(count)
        mujoco.mj_step(model.mj, data, count)
        places.append([qpos[-7:-4] - (0, 0, qpos[0]) for qpos in (solver.qpos[0].numpy(), data.qpos)])  # in the grip
    assert not solver.any_fault
    (lifted, lifted_there), (held, held_there) = places[-2:]
    slip, slip_there = np.linalg.norm(held - lifted), np.linalg.norm(held_there - lifted_there)
    print(f"{thing}: slips {slip * 1e3:.3f} mm, MuJoCo's {slip_there * 1e3:.3f} mm")
    assert data.qpos[-5] > 0.1, "MuJoCo's gripper does not lift it"
    assert np.linalg.norm(lifted - lifted_there) < MORE
    assert slip < slip_there + MORE


# -- How fast a body goes through a thin wall: at the speeds at which it does in MuJoCo, as docs/physics.md says


THICKNESS, TIMESTEP, START = 0.02, 0.002, -0.3
RATIOS = np.linspace(0.05, 1.5, 30)
"""Speed times timestep over thickness."""


@pytest.mark.parametrize(("radius", "least", "most"), [(0.005, 0.2, 0.35), (0.02, 0.4, 0.65)])
def test_what_goes_through_a_wall(radius, least, most):
    tumble.init(precision="64")
    model = Model.from_mjcf(
        f'<mujoco><option timestep="{TIMESTEP}" gravity="0 0 0"/><worldbody>'
        f'<geom type="box" size="{THICKNESS / 2} 1 1"/>'
        f'<body><freejoint/><geom type="sphere" size="{radius}" mass="1"/></body></worldbody></mujoco>'
    )
    speed = RATIOS * THICKNESS / TIMESTEP
    qpos, qvel = np.tile(model.mj.qpos0, (len(RATIOS), 1)), np.zeros((len(RATIOS), 6))
    qpos[:, 0], qvel[:, 0] = START, speed
    steps = 400 + int(2 * -START / speed.min() / TIMESTEP)
    solver = RigidSolver(model, len(RATIOS))
    solver.set_state(qpos, qvel)
    solver.step(steps)
    found = solver.qpos[:, 0].numpy() > 0
    data = mujoco.MjData(model.mj)
    for env in range(len(RATIOS)):
        mujoco.mj_resetData(model.mj, data)
        data.qpos[:], data.qvel[:] = qpos[env], qvel[env]
        for _ in range(steps):
            mujoco.mj_step(model.mj, data)
        assert found[env] == (data.qpos[0] > 0), RATIOS[env]
    first = RATIOS[np.argmax(found)]
    assert not found[0] and found[-1] and least < first < most, first
