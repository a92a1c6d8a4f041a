"""Fields in batches: each environment by itself, with its own ground friction and place, on both drivers."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from ...widths import WIDTH
from ..starts import run_in_columns, run_with
from .fields import SOLIDS, add_solid, random_poses, rough, with_field

STEPS, ENVS = 40, 9
READ = ("qpos", "qvel", "qacc")


def scene(**field: object) -> mujoco.MjModel:
    """Return all kinds over two rough fields that meet at x = 0, the second one moved and turned about z."""
    spec = with_field(rough(21, 21, 0.05), 0.05, pos=[-0.5, 0, 0], **field)
    other = rough(11, 11, 1.0, seed=1).astype(np.float32)
    spec.add_hfield(name="other", nrow=11, ncol=11, size=[0.5, 0.5, 0.08, 0.1], userdata=other.ravel())
    turned = spec.worldbody.add_body(name="other", pos=[0.5, 0, 0.01], quat=[0.9, 0, 0, 0.4])
    turned.add_geom(name="other", type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="other")
    for kind in SOLIDS:
        add_solid(spec, kind)
    return spec.compile()


def starts(mjm: mujoco.MjModel, count: int = ENVS) -> torch.Tensor:
    rng = np.random.default_rng(0)
    return torch.from_numpy(np.concatenate([random_poses(rng, count, 0.7, 0.1, 0.2) for _ in SOLIDS], axis=1))


def moved(
    mjm: mujoco.MjModel, qpos: torch.Tensor, steps: int = STEPS, lanes: int | None = None, **numbers: object
) -> RigidSolver:
    solver = RigidSolver(Model.from_mjmodel(mjm), len(qpos), lanes=lanes)
    for name, values in numbers.items():
        solver.set_parameters(name, values)
    solver.set_state(qpos=qpos)
    solver.step(steps)
    return solver


@pytest.mark.parametrize(
    ("precision", "lanes"),
    [("32", WIDTH), *(pytest.param(precision, 1, marks=pytest.mark.slow) for precision in ("32", "64"))],
)
def test_neighbours_do_not_matter(precision, lanes):
    """Each environment alone, or with one that is not a number, has the same bits."""
    run_with(precision)
    mjm = scene()
    qpos = starts(mjm)
    together = moved(mjm, qpos)
    for env in (0, 4, 8):
        alone = moved(mjm, qpos[env : env + 1], lanes=lanes)
        for name in READ:
            assert torch.equal(together.get(name)[env], alone.get(name)[0]), (env, name)
    broken = qpos.clone()
    broken[3, 0], broken[5, 2] = torch.nan, torch.inf
    with_broken = RigidSolver(Model.from_mjmodel(mjm), ENVS)
    sound = [env for env in range(ENVS) if env not in (3, 5)]
    try:
        with_broken.set_state(qpos=broken)
    except ValueError:  # refused before it reaches the solver: then nothing is to be compared
        return
    with_broken.step(STEPS)
    for name in READ:
        assert torch.equal(together.get(name)[sound], with_broken.get(name)[sound])


@pytest.mark.slow
def test_each_environment_may_have_its_own_ground():
    """Friction, and the place of a field, of one environment are those of a model that was compiled with them."""
    run_with("64")
    mjm = scene()
    qpos = starts(mjm, 3)
    land = mjm.body("land").id
    friction = torch.tensor(mjm.geom_friction).repeat(3, 1, 1)
    friction[1, :, 0], friction[2, :, 0] = 0.1, 2.0
    place = torch.tensor(mjm.body_pos).repeat(3, 1, 1)
    place[1, land] += torch.tensor([0.013, -0.021, 0.02])
    own = moved(mjm, qpos, geom_friction=friction, body_pos=place)
    for env in range(3):
        other = scene()
        other.geom_friction[:], other.body_pos[:] = friction[env].numpy(), place[env].numpy()
        alone = moved(other, qpos[env : env + 1])
        for name in READ:
            torch.testing.assert_close(own.get(name)[env], alone.get(name)[0], atol=1e-9, rtol=1e-9)


def test_a_moved_field_moves_its_contacts():
    """A scene as a whole, turned and moved, has the same accelerations in its own frame."""
    run_with("64")
    turn, place = np.array([0.8, 0.3, -0.2, 0.45]), np.array([3.0, -2.0, 1.0])
    turn /= np.linalg.norm(turn)
    accelerations = []
    for moves in (False, True):
        spec = with_field(rough(21, 21, 0.05), 0.05, **({"pos": place, "quat": turn} if moves else {}))
        add_solid(spec, "box")
        spec.option.gravity = [0, 0, 0]
        for geom in spec.geoms:
            geom.condim = 1  # the pyramid of friction stands along the world's axes
        mjm = spec.compile()
        pose = np.array([0.02, 0.03, 0.07, 0.9, 0.2, 0.1, 0.3])
        pose[3:] /= np.linalg.norm(pose[3:])
        if moves:
            at, quat = np.zeros(3), np.zeros(4)
            mujoco.mju_rotVecQuat(at, pose[:3], turn)
            mujoco.mju_mulQuat(quat, turn, pose[3:])
            pose = np.concatenate([place + at, quat])
        solver = RigidSolver(Model.from_mjmodel(mjm), 1, lanes=WIDTH)
        solver.set_state(qpos=torch.from_numpy(pose[None]))
        solver.forward()
        found = solver.get("qacc")[0].numpy()
        back = np.zeros(3)
        mujoco.mju_rotVecQuat(back, found[:3], turn * [1, -1, -1, -1] if moves else np.array([1.0, 0, 0, 0]))
        accelerations.append((back, found[3:], len(solver.inspect(0)["contact_dist"])))
    assert accelerations[0][2] == accelerations[1][2] > 1
    np.testing.assert_allclose(accelerations[0][0], accelerations[1][0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(accelerations[0][1], accelerations[1][1], rtol=1e-6, atol=1e-6)
    assert np.linalg.norm(accelerations[0][0]) > 1


@pytest.mark.slow
def test_the_columns_of_a_gpu_have_the_same_contacts():
    run_with("64", lanes=1)
    mjm = scene()
    qpos = starts(mjm, 3)
    solver = moved(mjm, qpos, steps=4)
    lanes = {name: solver.get(name).clone() for name in READ}
    run_in_columns("64")
    columns = moved(mjm, qpos, steps=4)
    for name in READ:
        torch.testing.assert_close(columns.get(name), lanes[name], atol=1e-9, rtol=1e-9)
    assert sum(len(columns.inspect(env)["contact_dist"]) for env in range(3)) > 6
