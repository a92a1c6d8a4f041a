"""What writes to a solver checks all that it is given first: an argument that is wrong at its end changes no bit."""

import copy
import os

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.base.flat_names import FlatName
from tumble.physics.solver.user.solver_names import SolverNames
from tumble.physics.solver.user.state_file import model_digest

from ..cases import cases
from .starts import run_in_columns

XML = """<mujoco>
<option timestep="0.004"/>
<worldbody>
  <body name="hand" mocap="true"><geom size=".1" contype="0" conaffinity="0"/></body>
  <body name="ball"><freejoint/><geom size=".1"/></body>
  <body name="arm" pos="1 0 1"><joint name="hip" axis="0 1 0" stiffness="3" springyield="0.4" range="-1 1"
    limited="true" frictionloss="0.1"/><geom size=".1"/></body>
</worldbody>
<equality><joint joint1="hip"/></equality>
<actuator><general joint="hip" dyntype="filter" nsample="3" delay="0.006"/><motor joint="hip"/></actuator>
<keyframe><key name="home" qpos="1 0 0 1 0 0 0 0.2"/><key name="past" time="-5"/><key name="far" time="1e300"/>
  <key name="away" qpos="1e11 0 0 1 0 0 0 0"/></keyframe>
</mujoco>"""
COUNT = 5
EVERYTHING = int(mujoco.mjtState.mjSTATE_INTEGRATION)


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["lanes", "columns"])
def solver(request):
    """A solver in whose state nothing is zero by chance; nothing here makes it step."""
    if request.param:
        run_in_columns(precision="64")
    else:
        tumble.init(precision="64")
    solver = RigidSolver(Model.from_mjcf(XML), COUNT)
    rng, mj = np.random.default_rng(0), solver.model.mj
    solver.set_parameters("body_mass", rng.uniform(1, 2, (COUNT, mj.nbody)))
    solver.set_state(
        rng.normal(size=(COUNT, mj.nq)), rng.normal(size=(COUNT, mj.nv)), None, rng.normal(size=(COUNT, mj.na))
    )
    solver.set_mj_state(np.arange(1.0, COUNT + 1)[:, None], int(mujoco.mjtState.mjSTATE_TIME))
    solver.set_inputs(
        ctrl=rng.normal(size=(COUNT, mj.nu)),
        mocap_pos=rng.normal(size=(COUNT, 1, 3)),
        qfrc_applied=rng.normal(size=(COUNT, mj.nv)),
        xfrc_applied=rng.normal(size=(COUNT, mj.nbody, 6)),
    )
    solver.set_dofs_kp(2.0)
    solver.control_dofs_position(0.3, [mj.nv - 1])
    return solver


def rows(width, *, wrong=None):
    """Numbers (COUNT, width), the last of which is wrong."""
    numbers = np.full((COUNT, width), 0.5)
    if wrong is not None:
        numbers[-1, -1] = wrong
    return numbers


def vector(solver, part, number):
    """A state vector of all parts with one number of one of them replaced, in the last environment."""
    values, end = solver.mj_state(EVERYTHING).numpy(), 0
    for name in ("time", "qpos", "qvel", "act", "history"):
        size = mujoco.mj_stateSize(solver.model.mj, int(getattr(mujoco.mjtState, f"mjSTATE_{name.upper()}")))
        end += size
        if name == part:
            values[-1, end - size + int(part == "history")] = number
    return values + 1e-3 * (np.arange(values.shape[1]) == 3)  # what precedes the mistake would change something


WRITERS = {
    "set_state, qvel too wide": lambda s: s.set_state(qpos=rows(8), qvel=rows(8)),
    "set_state, act too wide": lambda s: s.set_state(qpos=rows(8), qvel=rows(7), act=rows(3)),
    "set_state, plastic too wide": lambda s: s.set_state(qpos=rows(8), act=rows(1), plastic=rows(4)),
    "set_state, no numbers": lambda s: s.set_state(qpos=rows(8), qvel=np.full((COUNT, 7), None)),
    "set_state, complex": lambda s: s.set_state(qpos=rows(8), qvel=rows(7) + 1j),
    "set_state, no such environment": lambda s: s.set_state(qpos=rows(8)[:2], envs_idx=[0, COUNT]),
    "reset, qvel not finite": lambda s: s.reset(qpos=rows(8), qvel=rows(7, wrong=np.nan)),
    "reset, qvel too large": lambda s: s.reset([1, 0], rows(8)[:2], rows(7, wrong=1e11)[-2:]),
    "reset, last parameter": lambda s: s.reset(parameters={"gravity": [0, 0, -1], "body_mass": rows(4, wrong=-1)}),
    "reset, reference too far": lambda s: s.reset(parameters={"gravity": [0, 0, -1], "qpos0": rows(8, wrong=1e11)}),
    "reset, unknown parameter": lambda s: s.reset(parameters={"gravity": [0, 0, -1], "body_mas": 1.0}),
    "reset, parameters no dict": lambda s: s.reset(qpos=rows(8), parameters=[("gravity", 1.0)]),
    "reset, no such environment": lambda s: s.reset([0, -1]),
    "set_inputs, last shape": lambda s: s.set_inputs(ctrl=rows(2), qfrc_applied=rows(9)),
    "set_inputs, unknown": lambda s: s.set_inputs(ctrl=rows(2), qfrc=rows(7)),
    "set_inputs, no numbers": lambda s: s.set_inputs(ctrl=rows(2), mocap_pos=[[None] * 3]),
    "ctrl": lambda s: setattr(s, "ctrl", rows(3)),
    "mocap_pos": lambda s: setattr(s, "mocap_pos", rows(3)),
    "mocap_quat": lambda s: setattr(s, "mocap_quat", "up"),
    "eq_active": lambda s: setattr(s, "eq_active", [[True], [None]]),
    "qfrc_applied": lambda s: setattr(s, "qfrc_applied", rows(7).astype("datetime64[s]")),
    "xfrc_applied": lambda s: setattr(s, "xfrc_applied", torch.zeros(COUNT, 4, 6, device="meta")),
    "set_parameters, last number": lambda s: s.set_parameters("body_mass", rows(4, wrong=np.nan)),
    "set_parameters, of a new name": lambda s: s.set_parameters("dof_damping", rows(7, wrong=-1)),
    "update_parameters, last name": lambda s: s.update_parameters({"dof_armature": 0.5, "body_mass": -1.0}),
    "set_mj_state, width": lambda s: s.set_mj_state(rows(3)),
    "set_mj_state, time": lambda s: s.set_mj_state(vector(s, "time", np.nan)),
    "set_mj_state, time beyond counting": lambda s: s.set_mj_state(vector(s, "time", 1e30)),
    "set_mj_state, history": lambda s: s.set_mj_state(vector(s, "history", 7.5)),
    "set_mj_state, spec": lambda s: s.set_mj_state(rows(8), "2"),
    "reset_to_keyframe, unknown": lambda s: s.reset_to_keyframe("work"),
    "reset_to_keyframe, fraction": lambda s: s.reset_to_keyframe(0.5),
    "reset_to_keyframe, no such environment": lambda s: s.reset_to_keyframe("home", [0, 9]),
    "reset_to_keyframe, before delayed controls": lambda s: s.reset_to_keyframe("past"),
    "reset_to_keyframe, time beyond counting": lambda s: s.reset_to_keyframe("far"),
    "reset_to_keyframe, too far": lambda s: s.reset_to_keyframe("away"),
    "control_dofs_force": lambda s: s.control_dofs_force(rows(7), [0, 1]),
    "control_dofs_velocity": lambda s: s.control_dofs_velocity(rows(7) + 1j),
    "control_dofs_position_velocity": lambda s: s.control_dofs_position_velocity(0.5, rows(1) + 1j, [6]),
    "control_dofs_position": lambda s: s.control_dofs_position(0.5, [6, 0]),
    "release_dofs": lambda s: s.release_dofs([6, 7]),
    "set_dofs_kp": lambda s: s.set_dofs_kp(rows(7, wrong=np.nan)),
    "set_dofs_kv": lambda s: s.set_dofs_kv(rows(7, wrong=np.inf)),
    "set_dofs_force_range": lambda s: s.set_dofs_force_range(rows(7), rows(7, wrong=0.0)),
    "wake": lambda s: s.wake([0, COUNT]),
    "rollout": lambda s: s.rollout(np.zeros((COUNT, 3, 5))),
    "step": lambda s: s.step(1.5),
    "forward": lambda s: s.forward([0, COUNT]),
}
NOT_WRITERS = {"close", "forward_changed", "refresh", "save", "load", "load_state_dict"}
"""Public methods that have nothing to check, or a test of their own below."""


def assert_same(before, after):
    assert before.keys() == after.keys()
    for name, numbers in before.items():
        assert torch.equal(numbers, after[name]), name


def raised_by(traceback):
    """The file in which an error was raised."""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_filename


@cases("writer", WRITERS)
def test_a_wrong_argument_changes_no_bit(solver, writer):
    before, edits = copy.deepcopy(solver.state_dict()), solver.edits
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)) as caught:
        WRITERS[writer](solver)
    assert raised_by(caught.tb).startswith(os.path.dirname(tumble.__file__)), caught.value  # by no library underneath
    assert_same(before, solver.state_dict())
    assert solver.edits == edits


def test_every_writer_is_here():
    """Public methods of a solver that return nothing, and its properties that can be set."""
    members = {name: getattr(RigidSolver, name) for name in dir(RigidSolver) if not name.startswith("_")}
    for name, member in members.items():
        if isinstance(member, FlatName):
            members[name] = getattr(SolverNames.__annotations__[member.part], member.member, None)
    writers = {
        name
        for name, member in members.items()
        if getattr(member, "fset", None) or getattr(member, "__annotations__", {}).get("return", 1) is None
    }
    assert writers - NOT_WRITERS <= {name.partition(",")[0] for name in WRITERS}


def wrong_states(state):
    """What is wrong, and the state with that at its end."""
    for name in list(state):
        yield f"{name} is missing", {key: value for key, value in state.items() if key != name}
        cut = state[name][:-1]
        yield f"{name} of fewer environments", state | {name: cut}
        yield f"{name} is None", state | {name: None}
        yield f"{name} has no numbers", state | {name: state[name].to("meta")}
        yield f"{name} is complex", state | {name: state[name] + 1j}
    yield "of another model", state | {"counters": torch.zeros(COUNT, 99, dtype=torch.int32)}
    yield "of another timestep", state | {"timestep": 2 * state["timestep"]}
    yield "an unknown part", state | {"mass": torch.zeros(COUNT, 4)}
    yield "an unknown parameter", state | {"parameters.body_mas": torch.zeros(COUNT, 4)}
    broken = state["parameters.body_mass"].clone()
    broken[-1, -1] = torch.nan
    yield "a parameter that is nan", state | {"parameters.body_mass": broken}
    yield "nothing at all", None


def test_a_saved_state_is_taken_as_a_whole_or_not_at_all(solver, tmp_path):
    """Missing parts, wrong shapes, other models; what comes before the mistake in the state is not written."""
    before, edits = copy.deepcopy(solver.state_dict()), solver.edits
    other = {name: numbers if name == "timestep" else numbers * 2 for name, numbers in before.items()}
    optional = [name for name in before if name.startswith("parameters.") or name == "timestep"]
    for what, state in wrong_states(other):
        if any(what == f"{name} is missing" for name in optional):
            continue  # then the environments have the model's; old states say nothing of the timestep
        with pytest.raises((ValueError, TypeError)):
            solver.load_state_dict(state)
        assert_same(before, solver.state_dict())
        assert solver.edits == edits, what
    torch.save({"model": model_digest(solver.model), "state": {"memory": other["memory"]}}, tmp_path / "state.pt")
    with pytest.raises(ValueError, match=r"state\.pt: counters: this part of the state is missing"):
        solver.load(tmp_path / "state.pt")
    assert_same(before, solver.state_dict())
    solver.load_state_dict(before)
    assert_same(before, solver.state_dict())


def test_states_of_some_environments(solver):
    """They are rows of the whole state; they go into any as many, and that of one into all; others stay."""
    whole, some = solver.state_dict(), solver.state_dict([3, 1])
    assert whole.keys() == some.keys() and "parameters.body_mass" in some
    for name, part in whole.items():
        assert torch.equal(some[name], part[[3, 1]])
    solver.reset()
    solver.set_parameters("body_mass", np.ones(solver.model.mj.nbody))
    before = solver.state_dict()
    solver.load_state_dict(some, [0, 2])
    for name, part in solver.state_dict().items():
        assert torch.equal(part[[0, 2]], whole[name][[3, 1]]) and torch.equal(part[[1, 3, 4]], before[name][[1, 3, 4]])
    for given in ({**some, "memory": some["memory"][:, 1:]}, {**some, "parameters.body_mass": whole["memory"]}):
        with pytest.raises(ValueError, match="saved as"):
            solver.load_state_dict(given, [0, 2])
    with pytest.raises(ValueError, match=r"saved as \(2, "):
        solver.load_state_dict(some, [0, 2, 4])
    solver.load_state_dict(solver.state_dict(4), [1, 3])
    solver.load_state_dict(solver.state_dict(0))
    for name, part in solver.state_dict().items():
        assert torch.equal(part, whole[name][[3]].expand_as(part))
    solver.load_state_dict(whole)
    for name, part in solver.state_dict().items():
        assert torch.equal(part, whole[name])


def test_gains_of_a_loaded_state_outlast_a_reset():
    """Those of one environment that had some, and in a solver that never had any."""
    tumble.init(precision="64")
    model = Model.from_mjcf(XML)
    one, other = RigidSolver(model, 2), RigidSolver(model, 3)
    one.set_dofs_kp(2.0, envs_idx=[1])
    other.load_state_dict(one.state_dict(0), [0])
    other.load_state_dict(one.state_dict(1), [2])
    other.reset()
    kp = other._driver.read("dof_kp")
    assert (kp[2] == 2.0).all() and not (kp[:2] == 2.0).any()
    tumble.init(precision="32")
