"""The solver of a scene answers to calls of entities, with numbers of the whole scene."""

import pytest
import torch

import tumble.scene as gs
from tumble.physics.machine.runtime import init

from .arms import arm_scene, scatter


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    init(precision="64")
    scene = arm_scene(tmp_path_factory.mktemp("arm"), 2)
    scatter(scene)
    return scene


@pytest.mark.parametrize(
    "call", ["get_links_pos", "get_links_vel", "get_links_quat", "get_links_mass", "get_links_COM"]
)
def test_links(scene, call):
    whole = getattr(scene.rigid_solver, call)()
    assert torch.equal(whole, torch.cat([getattr(entity, call)() for entity in scene.entities], 1))
    arm = scene.get_entity("arm")
    some = getattr(scene.rigid_solver, call)(links_idx=[arm.link_start + 2], envs_idx=[1])
    assert torch.equal(some, getattr(arm, call)([2], [1]))


@pytest.mark.parametrize("call", ["get_qpos", "get_dofs_position", "get_dofs_velocity", "get_dofs_armature"])
def test_coordinates(scene, call):
    parts = [getattr(entity, call)() for entity in scene.entities if entity.n_dofs]
    assert torch.equal(getattr(scene.rigid_solver, call)(), torch.cat(parts, 1))


def test_writes(scene):
    box, before = scene.get_entity("box"), scene.rigid_solver.get_qpos()
    scene.rigid_solver.set_dofs_velocity([1.0, 2.0], dofs_idx=[box.dof_start, box.dof_start + 2], envs_idx=[0])
    assert box.get_dofs_velocity([0, 2])[0].tolist() == [1.0, 2.0] and torch.equal(
        scene.rigid_solver.get_qpos(), before
    )
    scene.rigid_solver.set_qpos(before[:, :2] + 0.25, qs_idx=[box.q_start, box.q_start + 1])
    assert torch.equal(box.get_qpos([0, 1]), before[:, :2] + 0.25)


def test_pushes(scene):
    """A force at a centre of mass, and a torque, during one step."""
    ball = scene.get_entity("ball")
    ball.set_pos((0, -2, 3))
    scene.rigid_solver.apply_links_external_force(force=[[[0, 0, 5.0]]] * 2, links_idx=[ball.link_start])
    scene.rigid_solver.apply_links_external_torque(torque=[[0, 0.01, 0]], links_idx=[ball.link_start])
    scene.step()
    speed = scene.dt * (5.0 / ball.get_mass() - 9.81)
    assert torch.allclose(ball.get_vel()[:, 2], speed, rtol=1e-10)
    spin = scene.dt * 0.01 / (0.4 * ball.get_mass() * 0.1**2)
    assert torch.allclose(ball.get_ang()[:, 1], spin, rtol=1e-10)


def test_what_is_a_solvers_stays_so(scene):
    solver = scene.rigid_solver
    assert solver.get("qpos").shape == (2, solver.model.mj.nq) and solver.get_dofs_kp().shape == (2, solver.model.mj.nv)
    for name in ("get_pos", "get_nothing", "links", "attach"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(solver, name)


def test_shifts_are_from_the_models_numbers(scene):
    arm = scene.get_entity("arm")
    masses, centers = arm.get_links_mass(), arm.get_links_COM()
    shifts = torch.tensor([[0.1, 0.2], [0.3, 0.4]], dtype=torch.float64)
    for _ in range(2):  # not added up
        arm.set_mass_shift(shifts, [1, 2])
        arm.set_COM_shift([[0.01, 0, 0]], [3], envs_idx=[1])
    assert torch.allclose(arm.get_links_mass([1, 2]), masses[:, 1:3] + shifts)
    moved = arm.get_links_COM() - centers
    assert moved[1, 3].tolist() == pytest.approx([0.01, 0, 0]) and not moved[0].any() and not moved[1, :3].any()
    arm.set_links_inertial_mass(1.5, [1])
    assert (arm.get_links_inertial_mass([1]) == 1.5).all() and isinstance(gs.np_float(1), float)
