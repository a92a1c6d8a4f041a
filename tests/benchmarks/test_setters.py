"""The calls that are timed write what their names say, all of them the same numbers."""

import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.benchmarks.setters import calls, run
from tumble.physics.machine.runtime import init


def test_the_calls_write_what_they_say_and_nothing_else():
    init(precision="32")
    scene = gs.Scene()
    ant = scene.add_entity(gs.morphs.MJCF(file="ant.xml"), name="ant")
    scene.build(n_envs=6)
    values, envs, dofs = torch.tensor([[0.1, 0.2, 0.3]] * 2), np.array([1, 4]), [6, 8, 10]
    for name, call in calls(ant, dofs).items():
        scene.reset()
        before = scene.rigid_solver.qpos, scene.rigid_solver.qvel, ant.get_dofs_kp()
        call(values, envs)
        after = scene.rigid_solver.qpos, scene.rigid_solver.qvel, ant.get_dofs_kp()
        changed = [(new != old).nonzero().tolist() for new, old in zip(after, before, strict=True)]
        own = {
            "set_dofs_position": (0, 1),
            "set_dofs_velocity": (1, 0),
            "set_dofs_kp": (2, 0),
            "state.set of whole rows": (0, 0),
        }
        for which, places in enumerate(changed):
            part, shift = own.get(name, (None, 0))
            assert places == ([[env, dof + shift] for env in envs for dof in dofs] if which == part else []), name
        if name == "control_dofs_position":
            found = scene.rigid_solver.joints.get_targets(dofs, envs)
            assert torch.equal(found["target"], values) and (found["mode"] == 3).all()


@pytest.mark.slow
def test_a_run_has_a_row_for_every_call():
    (table,) = run(64, 1).tables
    assert len(table.rows) == 6 and all(row["some us"] > 0 for row in table.rows)
