"""Room for contacts: when an environment has more, its deepest stay, it is marked, and no other is touched."""

import numpy as np
import pytest
import torch

from tumble.benchmarks.scenes import SPHERE, pile, robots
from tumble.physics import Model, RigidSolver
from tumble.physics.model.solver_choice import default_max_contacts
from tumble.physics.solver.solver import CONTACTS_FULL

from .starts import run_with

ROOM = 6


def depths(solver, env):
    """Distances of an environment's contacts, in the order of the list, by geoms."""
    found = solver.contacts
    mask = found.mask[env]
    return {tuple(g): d for g, d in zip(found.geom[env][mask].tolist(), found.dist[env][mask].tolist(), strict=True)}


def crowded(num_envs, solver, room=ROOM):
    """Spheres on a plane: in environment e, so many as e can touch it, each at a depth of its own."""
    model = Model.from_mjspec(pile(SPHERE, [0.08, 0, 0], 12), solver=solver, max_contacts=room)
    assert model.max_contacts == room
    batch = RigidSolver(model, num_envs)
    qpos = np.tile(model.mj.qpos0, (num_envs, 1)).reshape(num_envs, 12, 7)
    rng = np.random.default_rng(0)
    qpos[:, :, 2] = 0.3  # in the air
    for env in range(num_envs):
        for ball in rng.permutation(12)[: env % 13]:
            qpos[env, ball, 2] = 0.08 - 0.001 * rng.integers(1, 4)  # several are as deep as each other
    batch.set_state(qpos.reshape(num_envs, -1))
    return batch


@pytest.mark.parametrize("solver", ["newton", "cg"])
@pytest.mark.parametrize("num_envs", [1, 7, 40])
def test_the_deepest_stay(solver, num_envs):
    run_with("32")
    full, roomy = crowded(num_envs, solver), crowded(num_envs, solver, 200)
    for one in (full, roomy):
        one.step()
    assert not roomy.any_fault and not roomy.contacts_needed.any()
    for env in range(num_envs):
        kept, every = depths(full, env), depths(roomy, env)
        order = sorted(every, key=lambda geoms: every[geoms])  # stable: of those as deep as each other, the first
        assert kept == {geoms: every[geoms] for geoms in order[:ROOM]}
        over = len(every) > ROOM
        assert (int(full.faults[env]) == CONTACTS_FULL) == over
        assert int(full.contacts_needed[env]) == (len(every) if over else 0)
    spared = [env for env in range(num_envs) if env % 13 <= ROOM]
    assert torch.equal(full.qvel[spared], roomy.qvel[spared])
    assert num_envs == 1 or (full.faults != 0).any() == (num_envs > 7)


def test_a_full_list_of_the_tile_makes_room():
    """More pairs touch in a tile than all lanes together may keep: what stays is what a longer list would keep."""
    run_with("32")
    rng = np.random.default_rng(1)
    model = {
        room: Model.from_mjspec(pile(SPHERE, [0.08, 0, 0], 12), solver="cg", max_contacts=room) for room in (2, 200)
    }
    qpos = np.tile(model[2].mj.qpos0, (32, 1)).reshape(32, 12, 7)
    qpos[:, :, :3] = rng.uniform(0.1, 0.4, (32, 12, 3))  # anywhere, through each other
    solvers = {}
    for room, one in model.items():
        solvers[room] = RigidSolver(one, 32)
        solvers[room].set_state(qpos.reshape(32, -1))
        solvers[room].step()
    pairs = {geoms for env in range(16) for geoms in depths(solvers[200], env)}
    assert len(pairs) > 16 * 2 + 1
    for env in range(32):
        every = depths(solvers[200], env)
        assert depths(solvers[2], env) == {geoms: every[geoms] for geoms in sorted(every, key=every.get)[:2]}
        assert int(solvers[2].contacts_needed[env]) == len(every)


def test_it_goes_on_and_a_reset_forgets():
    run_with("32")
    full = crowded(13, "cg")
    full.step(30)
    assert int(full.faults[12]) == CONTACTS_FULL
    assert float(full.time[12]) == pytest.approx(30 * full.model.mj.opt.timestep)
    state = full.state_dict()
    full.reset([12])
    assert not full.faults[12] and not full.contacts_needed[12]
    full.load_state_dict(state)
    assert int(full.faults[12]) == CONTACTS_FULL


def test_neighbours_do_not_decide_what_stays():
    """Bitwise, while lists are full in some environments and not in others."""
    run_with("32")
    together = crowded(40, "cg")
    together.step(20)
    alone = crowded(13, "cg")
    alone.step(20)
    assert torch.equal(alone.qpos, together.qpos[:13])


def test_room_is_an_option_with_a_rule():
    model = Model.from_mjspec(robots("humanoid.xml", 2))
    assert model.max_contacts == default_max_contacts(model.mj) > 200
    for wrong in (0, -3, 2.5, True, "many"):
        with pytest.raises(ValueError, match=r"option max_contacts: .* is not a whole number above zero"):
            Model.from_mjspec(robots("humanoid.xml", 1), max_contacts=wrong)
