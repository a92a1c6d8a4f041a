"""The GPU driver with its tensors on another device than the processor: none is mixed up, and no step waits."""

import numpy as np
import pytest
import torch

from tumble.benchmarks.scenes import SCENES
from tumble.physics import Model, RigidSolver

from ..physics.starts import run_in_columns
from .far_device import NAME, waits

NUM_ENVS = 5


def life(solver):
    """What users do with a solver, and all that they see of it."""
    rng, on = np.random.default_rng(0), solver.device
    controls = torch.as_tensor(rng.uniform(-1, 1, (4, NUM_ENVS, solver.model.mj.nu)), dtype=torch.float32)
    solver.ctrl = controls[0].numpy()
    solver.step(20)
    seen = [solver.qpos, solver.qvel, solver.get("xpos"), solver.get("cfrc_ext"), solver.get("qM", [1, 3]), solver.time]
    solver.ctrl = torch.as_tensor(controls[1], device=on)
    solver.reset(torch.as_tensor([1, 4], device=on))
    solver.step(5)
    seen += [*solver.rollout(controls.transpose(0, 1)), solver.get("geom_xpos"), solver.coordinates(), solver.faults]
    chosen = torch.zeros(NUM_ENVS, dtype=torch.bool)
    chosen[2] = True
    solver.set_state(
        qpos=seen[0][:1], qvel=np.full((1, solver.model.mj.nv), 0.1), envs_idx=torch.as_tensor(chosen, device=on)
    )
    solver.forward([2])
    contacts = solver.contacts
    seen += [contacts.mask, contacts.force, contacts.geom, solver.get("xpos", torch.as_tensor([2, 2], device=on))]
    fan = torch.as_tensor(rng.normal(0, 1, (NUM_ENVS, 30, 3)), dtype=torch.float32, device=on)
    seen += [*solver.ray([0, 0, 4], fan - torch.as_tensor([0.0, 0.0, 2.0], device=on), normals=True)]
    seen += [*solver.ray(np.ones(3), fan[0], normals=True, envs_idx=torch.as_tensor([4, 1], device=on))]
    solver.set_parameters("body_mass", 2 * solver.model.mj.body_mass, envs_idx=[0])
    solver.step()
    seen += [solver.qvel, solver.solver_niter, torch.as_tensor(solver.inspect(1)["qacc"])]
    solver.load_state_dict(solver.state_dict())
    with pytest.raises(IndexError, match="there is no environment 9"):
        solver.reset(torch.as_tensor([9], device=on))
    with pytest.raises(ValueError, match=r"qpos\[0, 0\] is nan"):
        solver.reset(torch.as_tensor([0], device=on), qpos=torch.full((1, solver.model.mj.nq), torch.nan, device=on))
    return seen


def test_what_users_see_is_the_processors(far):
    found = []
    for device in ("cpu", NAME):
        run_in_columns(device=device)
        model = Model.from_mjspec(SCENES["humanoids-3"].build())
        solver = RigidSolver(model, NUM_ENVS, ("xpos", "cfrc_ext"))
        assert solver.qpos.device.type == device
        found.append(life(solver))
    assert all(one.device.type == NAME for one in found[1][:-1])
    same = [torch.equal(one.cpu(), other.cpu()) for one, other in zip(*found, strict=True)]
    assert all(same), [i for i, equal in enumerate(same) if not equal]


def test_a_step_waits_for_nothing(far):
    """Neither do its controls and its outputs."""
    run_in_columns(device=NAME)
    solver = RigidSolver(Model.from_mjspec(SCENES["humanoids-3"].build()), NUM_ENVS, ("xpos",))
    controls = torch.zeros((NUM_ENVS, solver.model.mj.nu), device=far)
    solver.step(2)
    waits.clear()
    for _ in range(5):
        solver.ctrl = controls
        solver.step(2)
        assert solver.coordinates().shape[0] == solver.get("xpos").shape[0] == NUM_ENVS
    assert not waits


def test_rays_wait_for_nothing(far):
    """Points and vectors that lie there stay there; what may be hit is brought there once."""
    run_in_columns(device=NAME)
    solver = RigidSolver(Model.from_mjspec(SCENES["humanoids-3"].build()), NUM_ENVS)
    pnt, vec = torch.zeros((NUM_ENVS, 5, 3), device=far), torch.ones((5, 3), device=far)
    for _ in range(3):
        waits.clear()
        hits = solver.ray(pnt, vec, flg_static=False, normals=True)
        solver.step()
    assert not waits and all(one.device.type == NAME for one in hits)
