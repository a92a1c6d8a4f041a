"""Pour, Scoop and Knead: what they pay in states that are known, where their tools are, and that they can be made."""

import gymnasium
import numpy as np
import pytest
import torch

import tumble
from tumble.envs.arrays import host
from tumble.envs.manipulation import knead, pour, scoop
from tumble.envs.manipulation.knead import Knead
from tumble.envs.manipulation.pour import Pour
from tumble.envs.manipulation.scoop import Scoop
from tumble.envs.manipulation.vessels import lathe, vessel
from tumble.envs.task.particles import centroid, height_map, in_cup, share, spread
from tumble.soft.mpm import readings

N = 3


@pytest.fixture(scope="module")
def envs_of():
    """Vector environments of a task, made once."""
    made = {}

    def of(kind):
        if kind not in made:
            pictures = {"render_mode": "rgb_array", "width": 40, "height": 30}
            made[kind] = tumble.make_vec(kind, N, max_episode_steps=20, **pictures)
        return made[kind]

    yield of
    for envs in made.values():
        envs.close()


@pytest.fixture(params=[Pour, Scoop, Knead])
def envs(envs_of, request):
    """Vector environments of each task."""
    return envs_of(request.param)


def rest(envs):
    """Take a step without an action; return reward, info and particles."""
    _, reward, *_, info = envs.step(np.zeros((N, 4), np.float32))
    return reward, info, envs.solver.get("particles_pos")


def test_made():
    """By Gymnasium's calls, with the limits of the table."""
    env = gymnasium.make("tumble/Pour-v0")
    assert env.spec.max_episode_steps == 80 and env.reset(seed=0)[0].shape == env.observation_space.shape
    env.close()
    vector = gymnasium.make_vec("tumble/Scoop-v0", num_envs=2)
    assert vector.reset(seed=0)[0].shape == vector.observation_space.shape
    vector.close()


def test_nothing_done(envs):
    """The tool stays where it is, upright or as it began, and no matter leaves its place; pictures show it."""
    task = envs.task
    envs.reset(seed=0)
    state = {name: host(tensor) for name, tensor in envs.solver.get_many(("xpos", "xquat")).items()}
    start = state["xpos"][:, task.tool]
    for _ in range(10):
        _, info, places = rest(envs)
    after = host(envs.solver.get("xpos"))[:, task.tool]
    np.testing.assert_allclose(after, start, atol=3e-3)
    assert not info["success"].any() and not envs.solver.faults.any()
    assert (places >= torch.tensor(envs.solver.matter.domain.lower)).all()
    if isinstance(task, Pour):
        np.testing.assert_allclose(start, np.broadcast_to(pour.START, (N, 3)), atol=1e-4)
        assert (info["held"] == 1).all() and (info["spilled"] == 0).all()
    if isinstance(task, Knead):
        assert (info["shaped"] > 0).all() and (info["shaped"] < 0.3).all()
    assert np.stack(envs.render()).shape == (N, 30, 40, 3)


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_actions(envs, axis):
    """An action moves the tool along its axis alone, no faster than it says; the last one turns it."""
    task, action = envs.task, np.zeros((N, 4), np.float32)
    first, _ = envs.reset(seed=0)
    action[:, axis] = -0.5 if axis == 3 else 0.5
    for _ in range(8):
        observation, *_ = envs.step(action)
    way = host(observation - first)[:, 14:18]
    most = 8 * task.dt * 0.5 * (task.max_turn if axis == 3 else task.max_speed)
    moved = way[:, axis] * np.sign(action[0, axis])
    assert (moved > 0.5 * most).all() and (moved < 1.02 * most).all()
    np.testing.assert_allclose(np.delete(way, axis, 1), 0, atol=0.02)


def moved_to(envs, places):
    """Put particles somewhere and take a step; return reward, info."""
    envs.solver.set_particles(pos=places, vel=0)
    return rest(envs)[:2]


def test_all_is_poured(envs_of):
    """All liquid in the cup on the table: share 1, success, 4 a step; beside it: spilled 1."""
    envs = envs_of(Pour)
    envs.reset(seed=0)
    places = envs.solver.get("particles_pos")
    goal = torch.as_tensor(envs.batch._memory.arrays["goal"])
    held = torch.tensor(pour.START) + torch.tensor([0, 0, pour.BOTTOM])
    there = places - held + goal[:, None] + torch.tensor([0, 0, pour.CUP_BOTTOM])
    _, info = moved_to(envs, there)
    assert (info["poured"] == 1).all() and info["success"].all() and (info["held"] == 0).all()
    np.testing.assert_array_equal(info["reward_poured"], 4)
    _, info = moved_to(envs, torch.stack((there[..., 0], there[..., 1] * 0 - 0.25, there[..., 2]), dim=-1))
    assert (info["spilled"] == 1).all() and not info["success"].any()
    np.testing.assert_array_equal(info["reward_spilled"], -2)


def test_all_is_scooped(envs_of):
    """Sand in the upright scoop is weighed, sand beside the tray is penalized."""
    envs = envs_of(Scoop)
    envs.reset(seed=0)
    places, task = envs.solver.get("particles_pos"), envs.task
    tool = envs.solver.get("xpos")[:, task.tool]
    places[:, :64] = tool[:, None] + 0.01 * (torch.rand(64, 3, generator=torch.Generator().manual_seed(0)) - 0.5)
    _, info = moved_to(envs, places)
    np.testing.assert_allclose(info["held"], 64 * scoop.RHO * scoop.SPACING**3, rtol=1e-5)
    level = (1 + np.cos(1.6)) / 2
    np.testing.assert_allclose(info["reward_filled"], 2 * level, atol=0.01)
    places[:, :20] = torch.tensor([0.25, 0.2, 0.05]) + 0.0 * places[:, :20]
    _, info = moved_to(envs, places)
    np.testing.assert_allclose(info["spilled"], 20 * scoop.RHO * scoop.SPACING**3, rtol=1e-5)


def test_dough_of_the_wished_shape(envs_of):
    """A dough whose highest particles are the wished heights has no error."""
    envs = envs_of(Knead)
    envs.reset(seed=0)
    state = envs.batch._view.look(envs.batch._memory.arrays, None)
    task, places = envs.task, host(envs.solver.get("particles_pos")).copy()
    columns, goal = task.columns, state.memory["goal"]
    depth = np.clip(1 - np.linalg.norm(columns - goal[:, None, :2], axis=-1) / knead.RIM, 0, 1)
    wished = knead.DOUGH[2] - depth * (knead.DOUGH[2] - goal[:, 2:])
    places[..., 2] = 0.005
    places[:, : len(columns), :2] = columns
    places[:, : len(columns), 2] = wished - knead.SPACING / 2
    state = state.with_fields(particles_pos=places)
    assert float(task.error(state).max()) < 1e-6 and float(task.shaped(state).min()) > 0.999


def test_readings():
    """What tasks see of particles equals what the room of matter reads of tensors."""
    places = np.random.default_rng(0).uniform(-1, 1, (4, 37, 3)).astype(np.float32)
    tensor, all_of_them = torch.from_numpy(places), torch.ones(4, 37, dtype=torch.bool)
    np.testing.assert_allclose(centroid(places), readings.centroid(tensor, all_of_them), atol=1e-6)
    np.testing.assert_allclose(spread(places), readings.spread(tensor, all_of_them), atol=1e-6)
    heights = readings.height_map(tensor, all_of_them, (-1, -0.5), (1, 0.5), (3, 4)).clamp(min=-2)
    np.testing.assert_array_equal(height_map(places, (-1, -0.5), (1, 0.5), (3, 4), empty=-2.0), heights)
    inside = in_cup(places, 0.5, -0.2, 0.6)
    counted = [sum(bool(x * x + y * y <= 0.25 and -0.2 <= z <= 0.4) for x, y, z in row) / 37 for row in places]
    np.testing.assert_allclose(share(inside, places), counted, rtol=1e-6)


def test_vessels():
    """A vessel's mesh is closed, turned outwards, and has the volume of its profile (Pappus)."""
    profile = vessel(0.045, 0.08, lip=0.01, wall=0.03, floor=0.03)
    vertices, faces = lathe(profile, 512)
    edges = np.sort(np.concatenate((faces[:, :2], faces[:, 1:], faces[:, ::2])), axis=1)
    _, uses = np.unique(edges, axis=0, return_counts=True)
    assert (uses == 2).all()
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    volume = float((a * np.cross(b, c)).sum() / 6)
    r, z = np.array(profile).T
    rings = np.pi / 3 * ((r[:-1] ** 2 + r[:-1] * r[1:] + r[1:] ** 2) * np.diff(z))
    assert volume == pytest.approx(float(rings.sum()), rel=1e-3)
