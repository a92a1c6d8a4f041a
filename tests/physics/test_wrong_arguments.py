"""Arguments of a wrong kind are refused in one sentence that has the argument's name, before anything is computed."""

import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.rendering import BatchRenderer, Camera

from ..cases import cases
from .starts import run_with

XML = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><camera name="eye" pos="0 -2 1"/>
<body name="b" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom name="ball" size=".1"/></body>
<body name="c" pos="1 0 1"><joint name="k"/><geom name="box" type="box" size=".1 .1 .1"/></body></worldbody>
<actuator><motor joint="j"/></actuator><sensor><jointpos name="angle" joint="j"/></sensor>
<keyframe><key name="home"/></keyframe></mujoco>"""
DATES = np.zeros((3, 1), "datetime64[s]")
META = torch.zeros(3, 1, device="meta")
NO_NUMBERS = {
    "complex": np.full((3, 1), 1 + 1j),
    "a complex tensor": torch.full((3, 1), 1 + 1j),
    "dates": DATES,
    "None": None,
    "Nones": [[None], [1.0], [2.0]],
    "a string": "1.5",
    "strings": np.full((3, 1), "1.5"),
    "unequal rows": [[1.0], [1.0, 2.0], [3.0]],
    "objects": [[object()], [1.0], [2.0]],
    "a tensor without numbers": META,
    "a sparse tensor": torch.zeros(3, 1).to_sparse(),
    "a dict": {"x": 1.0},
}


@pytest.fixture(scope="module")
def model():
    return Model.from_mjcf(XML)


@pytest.fixture(scope="module")
def solver(model):
    run_with("32")
    return RigidSolver(model, 3)


TAKES_NUMBERS = {
    "ctrl": lambda s, x: setattr(s, "ctrl", x),
    "qfrc_applied": lambda s, x: s.set_inputs(qfrc_applied=x),
    "xfrc_applied": lambda s, x: setattr(s, "xfrc_applied", x),
    "qpos": lambda s, x: s.reset(qpos=x) if x is not None else s.set_inputs(ctrl=x),
    "qvel": lambda s, x: s.set_state(qvel=x) if x is not None else s.set_inputs(ctrl=x),
    "controls": lambda s, x: s.rollout(x),
    "values": lambda s, x: s.set_mj_state(x),
    "body_mass": lambda s, x: s.set_parameters("body_mass", x),
    "force": lambda s, x: s.control_dofs_force(x),
    "position": lambda s, x: s.control_dofs_position(x),
    "kp": lambda s, x: s.set_dofs_kp(x),
    "upper": lambda s, x: s.set_dofs_force_range(0.0, x),
    "pnt": lambda s, x: s.ray(x, [0, 0, 1.0]),
    "vec": lambda s, x: s.ray([0, 0, 1.0], x),
    "distmax": lambda s, x: s.distance("ball", "box", distmax=x),
    "margin": lambda s, x: s.overlap("ball", "box", margin=x),
}


@cases("what", NO_NUMBERS)
def test_what_is_no_array_of_real_numbers(solver, what):
    """It was cast in silence, or the error was that of a library underneath."""
    for name, call in TAKES_NUMBERS.items():
        with pytest.raises((ValueError, TypeError)) as caught:
            call(solver, NO_NUMBERS[what])
        said = str(caught.value)
        assert name in said or (NO_NUMBERS[what] is None and "ctrl" in said), (name, said)
        assert "\n" not in said and len(said) < 250, said


WRONG = {
    "num_envs": (lambda m, s: RigidSolver(m, True), lambda m, s: RigidSolver(m, 2.0), lambda m, s: RigidSolver(m, "2")),
    "model": (lambda m, s: RigidSolver("ant.xml", 1), lambda m, s: BatchRenderer("ant.xml")),
    "outputs": (lambda m, s: RigidSolver(m, 1, "xpos"), lambda m, s: RigidSolver(m, 1, [1])),
    "lanes": (
        lambda m, s: RigidSolver(m, 2, lanes=True),
        lambda m, s: RigidSolver(m, 2, lanes=4.0),
        lambda m, s: RigidSolver(m, 2, lanes=np.array([4, 4])),
        lambda m, s: tumble.init(lanes=True),
    ),
    "threads": (lambda m, s: tumble.init(threads=True), lambda m, s: tumble.init(threads=1.5)),
    "device": (lambda m, s: tumble.init("meta"), lambda m, s: tumble.init(["cpu"])),
    "precision": (lambda m, s: tumble.init(precision="16"), lambda m, s: tumble.init(precision=None)),
    "n=": (lambda m, s: s.step(True), lambda m, s: s.step(1.0), lambda m, s: s.step("1"), lambda m, s: s.step(2**40)),
    "envs_idx": (
        lambda m, s: s.forward("0"),
        lambda m, s: s.forward([0.5]),
        lambda m, s: s.forward([None]),
        lambda m, s: s.forward([[0], [1, 2]]),
        lambda m, s: s.forward(1j),
        lambda m, s: s.forward(torch.zeros(1, dtype=torch.int64, device="meta")),
        lambda m, s: s.forward([True, False]),
        lambda m, s: s.reset({"a": 1}),
        lambda m, s: s.get("xpos", [3]),
        lambda m, s: s.mj_state(envs_idx=[-1]),
        lambda m, s: BatchRenderer(m, 8, 8).render(s, "0"),
        lambda m, s: BatchRenderer(m, 8, 8).render(s, [0.5]),
        lambda m, s: BatchRenderer(m, 8, 8).render(s, 1j),
    ),
    "env=": (lambda m, s: s.inspect(1.5), lambda m, s: s.inspect("0"), lambda m, s: s.inspect(True)),
    "geom": (
        lambda m, s: s.distance(1.5, 0),
        lambda m, s: s.distance(True, 0),
        lambda m, s: s.distance(None, 0),
        lambda m, s: s.distance([0, 1.5], 1),
        lambda m, s: s.overlap(1j, 0),
        lambda m, s: s.geom_aabb(1.5),
        lambda m, s: s.geom_aabb([0, None]),
        lambda m, s: s.geom_verts(1.5),
        lambda m, s: s.geom_verts([1, 2]),
        lambda m, s: s.distance("bal", 0),
        lambda m, s: s.distance(9, 0),
    ),
    "visual": (lambda m, s: s.geom_verts("box", visual="no"),),
    "name": (
        lambda m, s: s.get(1),
        lambda m, s: s.get(["xpos"]),
        lambda m, s: s.get_many("xpos"),
        lambda m, s: s.get_many([1]),
        lambda m, s: s.sensor(0.5),
        lambda m, s: s.sensor(None),
        lambda m, s: s.get_parameters(1),
        lambda m, s: s.set_parameters(["body_mass"], 1.0),
    ),
    "parameters": (lambda m, s: s.update_parameters([("body_mass", 1.0)]), lambda m, s: s.reset(parameters="mass")),
    "spec": (lambda m, s: s.mj_state("1"), lambda m, s: s.mj_state(1.0), lambda m, s: s.mj_state(True)),
    "key": (
        lambda m, s: s.reset_to_keyframe(0.0),
        lambda m, s: s.reset_to_keyframe(None),
        lambda m, s: s.reset_to_keyframe(False),
        lambda m, s: s.reset_to_keyframe(7),
    ),
    "dofs_idx": (
        lambda m, s: s.set_dofs_kp(1.0, [0.5]),
        lambda m, s: s.set_dofs_kp(1.0, "0"),
        lambda m, s: s.set_dofs_kp(1.0, [True, False]),
        lambda m, s: s.set_dofs_kp(1.0, [2]),
    ),
    "geomgroup": (
        lambda m, s: s.ray([0, 0, 1], [0, 0, 1], geomgroup="111111"),
        lambda m, s: s.ray([0, 0, 1], [0, 0, 1], geomgroup=1),
        lambda m, s: s.ray([0, 0, 1], [0, 0, 1], geomgroup=[1, 0, 1]),
        lambda m, s: s.ray([0, 0, 1], [0, 0, 1], geomgroup=[1, 0, 1, 0, 1, "0"]),
    ),
    "bodyexclude": (
        lambda m, s: s.ray([0, 0, 1], [0, 0, 1], bodyexclude=1.5),
        lambda m, s: s.ray([0, 0, 1], [0, 0, 1], bodyexclude="1"),
        lambda m, s: s.ray([0, 0, 1], [0, 0, 1], bodyexclude=9),
    ),
    "flg_static": (lambda m, s: s.ray([0, 0, 1], [0, 0, 1], flg_static="no"),),
    "normals": (lambda m, s: s.ray([0, 0, 1], [0, 0, 1], normals=None),),
    "state": (lambda m, s: s.load_state_dict([1, 2]), lambda m, s: s.load_state_dict(None)),
    "width": (
        lambda m, s: BatchRenderer(m, 0, 8),
        lambda m, s: BatchRenderer(m, 8.5, 8),
        lambda m, s: BatchRenderer(m, "8", 8),
        lambda m, s: BatchRenderer(m, 10**6, 10**6),
    ),
    "samples": (lambda m, s: BatchRenderer(m, 8, 8, samples=1.5), lambda m, s: BatchRenderer(m, 8, 8, samples=10**6)),
    "camera": (
        lambda m, s: BatchRenderer(m, 8, 8, camera="ear"),
        lambda m, s: BatchRenderer(m, 8, 8, camera=7),
        lambda m, s: BatchRenderer(m, 8, 8, camera=0.5),
        lambda m, s: BatchRenderer(m, 8, 8, camera=True),
        lambda m, s: BatchRenderer(m, 8, 8, camera={"distanc": 1.0}),
        lambda m, s: BatchRenderer(m, 8, 8, camera=Camera(distance=-1.0)),
        lambda m, s: BatchRenderer(m, 8, 8, camera=Camera(distance="far")),
        lambda m, s: BatchRenderer(m, 8, 8, camera=Camera(azimuth=np.nan)),
        lambda m, s: BatchRenderer(m, 8, 8, camera=Camera(fovy=0)),
        lambda m, s: BatchRenderer(m, 8, 8, camera=Camera(lookat=[0, np.inf, 0])),
        lambda m, s: BatchRenderer(m, 8, 8, camera=Camera(lookat="here")),
    ),
    "trackbodyid": (
        lambda m, s: BatchRenderer(m, 8, 8, camera={"trackbodyid": 1.5}),
        lambda m, s: BatchRenderer(m, 8, 8, camera={"trackbodyid": "leg"}),
    ),
    "look": (lambda m, s: BatchRenderer(m, 8, 8, look="bright"),),
    "solver": (lambda m, s: BatchRenderer(m, 8, 8).render("ant"),),
    "max_contacts": (lambda m, s: Model.from_mjcf(XML, max_contacts=1.5),),
    "maxhullvert": (
        lambda m, s: Model.from_mjcf(XML, maxhullvert="8"),
        lambda m, s: Model.from_mjcf(XML, maxhullvert=8.5),
    ),
    "decompose": (lambda m, s: Model.from_mjcf(XML, decompose=5), lambda m, s: Model.from_mjcf(XML, decompose=[1])),
    "strict": (lambda m, s: Model.from_mjcf(XML, strict="no"),),
    "path": (lambda m, s: Model.from_mjcf(5), lambda m, s: Model.from_mjcf(None)),
    "MjSpec": (lambda m, s: Model.from_mjspec(XML),),
    "MjModel": (lambda m, s: Model.from_mjmodel(XML),),
}


@cases("name", WRONG)
def test_wrong_arguments_are_named(model, solver, name):
    for number, call in enumerate(WRONG[name]):
        with pytest.raises((ValueError, TypeError, KeyError, IndexError)) as caught:
            call(model, solver)
        said = str(caught.value)
        assert name in said, (number, said)
        assert "\n" not in said and len(said) < 400, said


def test_a_picture_of_another_model(model, solver):
    other = Model.from_mjcf("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    with pytest.raises(ValueError, match="solver: it is of another model"):
        BatchRenderer(other, 8, 8).render(solver)


def test_what_is_still_taken(solver):
    """Lists, tuples, integers, bools, half precision, numbers of numpy and torch, and nothing for nobody."""
    for value in (
        [[1.0], [2.0], [3.0]],
        ((1,), (2,), (3,)),
        np.ones((3, 1), np.float16),
        np.ones((3, 1), np.int8),
        np.ones((3, 1), bool),
        torch.ones(3, 1, dtype=torch.bfloat16),
        torch.ones(3, 1, requires_grad=True),
        [np.float32(1.0)],
        [torch.tensor(1.0)],
    ):
        solver.ctrl = value
        assert float(solver.ctrl[0, 0]) == 1.0
    solver.forward([])
    solver.forward(np.int8(1))
    solver.set_dofs_kp(1.0, [])
    assert solver.distance(np.int64(0), torch.tensor(1)).dist.shape == (3, 1)
    assert solver.sensor(np.int32(0)).shape == (3, 1)
