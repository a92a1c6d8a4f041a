"""The objects of a solver: its other names are theirs, they work without it, and end with it."""

import gc
import weakref

import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.machine.runtime import StaleRuntimeError
from tumble.physics.model.state.memory import FORCES, INPUTS, STATE
from tumble.physics.solver.solver import ClosedSolverError
from tumble.physics.solver.user.memory import HISTORIES, KEPT, STATE_PARTS
from tumble.physics.solver.user.mj_state import BITS
from tumble.physics.solver.user.solver_names import SolverNames

XML = """<mujoco><worldbody><body><joint name="x" type="slide"/><geom name="g" size=".1"/></body></worldbody>
<actuator><motor joint="x"/></actuator></mujoco>"""
OBJECTS = dict(SolverNames.__annotations__)

EARLIER = """act any_fault asleep close contacts contacts_needed control_dofs_force control_dofs_position
control_dofs_velocity coordinates ctrl distance edits eq_active faults forward geom_aabb geom_verts get
get_dofs_force_range get_dofs_kp get_dofs_kv get_many get_parameters inspect load load_state_dict mj_state mocap_pos
mocap_quat overlap plastic qacc_warmstart qfrc_applied qpos qvel ray refresh release_dofs reset reset_to_keyframe
rollout save sensor sensordata set_dofs_force_range set_dofs_kp set_dofs_kv set_inputs set_mj_state set_parameters
set_state solver_niter state_dict step time update_parameters view wake xfrc_applied"""
"""Names that a solver had before it had objects; programs use them."""


@pytest.fixture(scope="module")
def model():
    tumble.init(precision="32")
    return Model.from_mjcf(XML)


def members(kind):
    """Public methods and properties of a class."""
    return [name for name in dir(kind) if not name.startswith("_")]


def test_names_stay():
    assert set(EARLIER.split()) <= set(members(RigidSolver))


def refuses(solver, error, why):
    """Assert that each member of each object raises, with its name."""
    for part, kind in OBJECTS.items():
        for member in members(kind):
            with pytest.raises(error, match=rf"^{kind.__name__}\.{member}: this solver .*{why}"):
                getattr(getattr(solver, part), member)()


def test_objects_end_with_their_solver(model):
    closed, stale = RigidSolver(model, 2), RigidSolver(model, 2)
    closed.close()
    refuses(closed, ClosedSolverError, "was closed")
    tumble.init(precision="32")
    refuses(stale, StaleRuntimeError, r"earlier tumble\.init")
    stale.close()
    refuses(stale, ClosedSolverError, "was closed")


def test_objects_hold_no_solver(model):
    """The objects go on after their solver is gone, as they hold its driver alone."""
    solver = RigidSolver(model, 3)
    state, inputs, quantities, gone = solver.state, solver.inputs, solver.quantities, weakref.ref(solver)
    del solver
    gc.collect()
    assert gone() is None
    state.set([1], qpos=[[0.5]])
    inputs.set([2], ctrl=[[2.0]])
    assert state.qpos[:, 0].tolist() == [0.0, 0.5, 0.0] and inputs.ctrl[:, 0].tolist() == [0.0, 0.0, 2.0]
    assert quantities.get("qpos", [1]).tolist() == [[0.5]] and state.edits == 2


def test_an_unknown_part_of_the_state_is_refused(model):
    solver = RigidSolver(model, 2)
    with pytest.raises(TypeError, match="no part of the state is named 'qacc'; there are qpos, qvel, plastic, act"):
        solver.state.set(qpos=np.ones((2, 1)), qacc=np.ones((2, 1)))
    assert not torch.any(solver.qpos) and solver.edits == 1


def test_every_field_of_memory_is_declared():
    """A field that a step moves or a user writes is in MuJoCo's state vectors, or lasts, or is excused here."""
    # those vectors have none of them, and a reset clears them
    excused = {"tree_asleep", "dof_mode", "dof_target", "dof_target_vel"}
    histories = {field for history in HISTORIES for field in history[1:] if field}
    assert {kept.name for kept in KEPT} | histories | excused == {f.name for f in (*STATE, *INPUTS, *FORCES)}
    assert {*STATE_PARTS} <= {*BITS}
