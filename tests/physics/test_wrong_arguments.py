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
META_INDICES = torch.zeros(1, dtype=torch.int64, device="meta")
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


def ray(s, **options):
    s.ray([0, 0, 1], [0, 0, 1], **options)


def picture(m, *shape, **options):
    return BatchRenderer(m, *(shape or (8, 8)), **options)


WRONG = [
    ("num_envs", lambda m, s, x: RigidSolver(m, x), True, 2.0, "2"),
    ("model", lambda m, s, x: RigidSolver(x, 1), "ant.xml"),
    ("model", lambda m, s, x: BatchRenderer(x), "ant.xml"),
    ("outputs", lambda m, s, x: RigidSolver(m, 1, x), "xpos", [1]),
    ("lanes", lambda m, s, x: RigidSolver(m, 2, lanes=x), True, 4.0, np.array([4, 4])),
    ("lanes", lambda m, s, x: tumble.init(lanes=x), True),
    ("threads", lambda m, s, x: tumble.init(threads=x), True, 1.5),
    ("device", lambda m, s, x: tumble.init(x), "meta", ["cpu"]),
    ("precision", lambda m, s, x: tumble.init(precision=x), "16", None),
    ("n=", lambda m, s, x: s.step(x), True, 1.0, "1", 2**40),
    ("envs_idx", lambda m, s, x: s.forward(x), "0", [0.5], [None], [[0], [1, 2]], 1j, META_INDICES, [True, False]),
    ("envs_idx", lambda m, s, x: s.reset(x), {"a": 1}),
    ("envs_idx", lambda m, s, x: s.get("xpos", x), [3]),
    ("envs_idx", lambda m, s, x: s.mj_state(envs_idx=x), [-1]),
    ("envs_idx", lambda m, s, x: picture(m).render(s, x), "0", [0.5], 1j),
    ("env=", lambda m, s, x: s.inspect(x), 1.5, "0", True),
    ("geom", lambda m, s, x: s.distance(x, 0), 1.5, True, None, "bal", 9),
    ("geom", lambda m, s, x: s.distance(x, 1), [0, 1.5]),
    ("geom", lambda m, s, x: s.overlap(x, 0), 1j),
    ("geom", lambda m, s, x: s.geom_aabb(x), 1.5, [0, None]),
    ("geom", lambda m, s, x: s.geom_verts(x), 1.5, [1, 2]),
    ("visual", lambda m, s, x: s.geom_verts("box", visual=x), "no"),
    ("name", lambda m, s, x: s.get(x), 1, ["xpos"]),
    ("name", lambda m, s, x: s.get_many(x), "xpos", [1]),
    ("name", lambda m, s, x: s.sensor(x), 0.5, None),
    ("name", lambda m, s, x: s.get_parameters(x), 1),
    ("name", lambda m, s, x: s.set_parameters(x, 1.0), ["body_mass"]),
    ("parameters", lambda m, s, x: s.update_parameters(x), [("body_mass", 1.0)]),
    ("parameters", lambda m, s, x: s.reset(parameters=x), "mass"),
    ("spec", lambda m, s, x: s.mj_state(x), "1", 1.0, True),
    ("key", lambda m, s, x: s.reset_to_keyframe(x), 0.0, None, False, 7),
    ("dofs_idx", lambda m, s, x: s.set_dofs_kp(1.0, x), [0.5], "0", [True, False], [2]),
    ("geomgroup", lambda m, s, x: ray(s, geomgroup=x), "111111", 1, [1, 0, 1], [1, 0, 1, 0, 1, "0"]),
    ("bodyexclude", lambda m, s, x: ray(s, bodyexclude=x), 1.5, "1", 9),
    ("flg_static", lambda m, s, x: ray(s, flg_static=x), "no"),
    ("normals", lambda m, s, x: ray(s, normals=x), None),
    ("state", lambda m, s, x: s.load_state_dict(x), [1, 2], None),
    ("width", lambda m, s, x: picture(m, x, 8), 0, 8.5, "8"),
    ("width", lambda m, s, x: picture(m, x, x), 10**6),
    ("samples", lambda m, s, x: picture(m, samples=x), 1.5, 10**6),
    ("camera", lambda m, s, x: picture(m, camera=x), "ear", 7, 0.5, True, {"distanc": 1.0}),
    ("camera", lambda m, s, x: picture(m, camera=Camera(distance=x)), -1.0, "far"),
    ("camera", lambda m, s, x: picture(m, camera=Camera(azimuth=x)), np.nan),
    ("camera", lambda m, s, x: picture(m, camera=Camera(fovy=x)), 0),
    ("camera", lambda m, s, x: picture(m, camera=Camera(lookat=x)), [0, np.inf, 0], "here"),
    ("trackbodyid", lambda m, s, x: picture(m, camera={"trackbodyid": x}), 1.5, "leg"),
    ("look", lambda m, s, x: picture(m, look=x), "bright"),
    ("solver", lambda m, s, x: picture(m).render(x), "ant"),
    ("max_contacts", lambda m, s, x: Model.from_mjcf(XML, max_contacts=x), 1.5),
    ("maxhullvert", lambda m, s, x: Model.from_mjcf(XML, maxhullvert=x), "8", 8.5),
    ("decompose", lambda m, s, x: Model.from_mjcf(XML, decompose=x), 5, [1]),
    ("strict", lambda m, s, x: Model.from_mjcf(XML, strict=x), "no"),
    ("path", lambda m, s, x: Model.from_mjcf(x), 5, None),
    ("MjSpec", lambda m, s, x: Model.from_mjspec(x), XML),
    ("MjModel", lambda m, s, x: Model.from_mjmodel(x), XML),
]


@cases("row", WRONG, label=lambda row: f"{row[0]} {row[2]}")
def test_wrong_arguments_are_named(model, solver, row):
    name, call, *values = row
    for value in values:
        with pytest.raises((ValueError, TypeError, KeyError, IndexError)) as caught:
            call(model, solver, value)
        said = str(caught.value)
        assert name in said, (value, said)
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
