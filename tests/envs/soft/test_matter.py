"""Tasks with matter do what others do: seeds, places in a batch, snapshots, saved states, faults, pictures."""

import copy
import gc
import warnings

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

import tumble
from tumble.envs import Start
from tumble.envs.gym.differentiable import DifferentiableEnvs
from tumble.physics.run.interface import ClosedSolverError

from .own_matter import Paddle, PaddleScene

N = 4


def made(num_envs=N, task=Paddle, **options):
    """Vector environments of a small task with matter."""
    return tumble.make_vec(task, num_envs, **{"max_episode_steps": 12} | options)


def actions_of(steps, num_envs, seed=0):
    """Random actions, (steps, num_envs, 1), those of an environment whatever their number."""
    rng = [np.random.default_rng((seed, env)) for env in range(num_envs)]
    return np.stack([each.uniform(-1, 1, (steps, 1)).astype(np.float32) for each in rng], axis=1)


def go(envs, actions):
    """Observations, rewards, particles after each of some actions."""
    found = []
    for action in actions:
        observation, reward, *_ = envs.step(action)
        found.append((observation.clone(), reward.clone(), envs.solver.get("particles_pos")))
    return found


def assert_same(one, other, mine=slice(None), theirs=slice(None)):
    """Equal to the last bit."""
    assert len(one) == len(other)
    for here, there in zip(one, other, strict=True):
        for a, b in zip(here, there, strict=True):
            assert torch.equal(a[mine], b[theirs])


def test_alone():
    """Gymnasium's checker, and the environment of a batch by its seed."""
    env = gymnasium.wrappers.TimeLimit(tumble.make(Paddle, render_mode="rgb_array", width=32, height=24), 12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*A Box observation space m.*imum value is.*infinity")
        warnings.filterwarnings("ignore", message=".*alternative render modes")
        check_env(env.unwrapped)
    assert env.render().shape == (24, 32, 3)
    envs, actions = made(3), actions_of(8, 3)
    first, _ = envs.reset(seed=7)
    alone, _ = env.reset(seed=9)
    np.testing.assert_array_equal(first[2], alone)
    for action in actions:
        batched, alone = envs.step(action), env.step(action[2])
        np.testing.assert_array_equal(batched[0][2], alone[0])
        assert float(batched[1][2]) == alone[1]


def test_any_place_in_a_batch():
    """Environment 3 of 5 and of 64 has the bits of one that is alone, through episodes' ends."""
    actions, found = actions_of(16, 64), []
    for size, own in ((1, 0), (5, 3), (64, 3)):
        envs = made(size)
        envs.reset(seed=100 - own)
        mine = actions[:, 3:4] if size == 1 else actions[:, :size]
        found.append([tuple(part[own : own + 1] for part in step) for step in go(envs, mine)])
    for other in found[1:]:
        assert_same(found[0], other)


@pytest.mark.slow
def test_conforms():
    """Every check of Gymnasium's documentation."""
    tumble.check_vector_env(lambda **options: made(**{"num_envs": 3} | options), steps=40)


def test_snapshots_and_copies():
    """States are taken, put back, branched, copied and pickled with their particles and materials."""
    envs, actions = made(), actions_of(6, N)
    envs.reset(seed=1)
    go(envs, actions[:3])
    snapshot, one, twin = envs.snapshot(), envs.snapshot([2]), copy.deepcopy(envs)
    after = go(envs, actions[3:])
    assert_same(go(twin, actions[3:]), after)
    envs.restore(snapshot)
    assert_same(go(envs, actions[3:]), after)
    envs.restore(snapshot)
    envs.restore(one, [0])
    alike = actions.copy()
    alike[:, 0] = alike[:, 2]
    again = go(envs, alike[3:])
    assert_same(again, after, mine=[0, 1, 2, 3], theirs=[2, 1, 2, 3])
    envs.branch(1)
    places = envs.solver.get("particles_pos")
    assert torch.equal(places, places[1:2].expand_as(places))
    thick = envs.solver.get_parameters("water.viscosity")
    assert torch.equal(thick, thick[:1].expand(N)) and float(thick[0]) > 0


def test_saved_states():
    """A checkpoint goes on to the bit in other environments; one of other matter is refused as a whole."""
    envs, actions = made(), actions_of(6, N)
    envs.reset(seed=1)
    go(envs, actions[:3])
    state = copy.deepcopy(envs.state_dict())
    after = go(envs, actions[3:])
    other = made()
    other.load_state_dict(state)
    assert_same(go(other, actions[3:]), after)
    before = other.solver.get("particles_pos")
    for name, part in (("matter.memory", None), ("matter.digest", state["batch"]["solver"]["matter.digest"] + 1)):
        broken = copy.deepcopy(state)
        broken["batch"]["solver"][name] = part
        with pytest.raises(ValueError, match="matter"):
            other.load_state_dict(broken)
    assert torch.equal(other.solver.get("particles_pos"), before)


def test_solver_saves_and_loads(tmp_path):
    """The solver's own files have matter too."""
    envs, actions = made(), actions_of(4, N)
    envs.reset(seed=1)
    go(envs, actions[:2])
    envs.solver.save(tmp_path / "state")
    places = envs.solver.get("particles_pos")
    go(envs, actions[2:])
    envs.solver.load(tmp_path / "state")
    assert torch.equal(envs.solver.get("particles_pos"), places)


def test_a_fault_is_one_environments():
    """An environment whose matter fails is terminated and begins anew; the others keep their bits."""
    actions, found = actions_of(6, N), []
    for fails in (False, True):
        envs = made()
        envs.reset(seed=1)
        go(envs, actions[:2])
        if fails:
            envs.solver.set_particles([1], vel=1e4)
            with pytest.warns(RuntimeWarning, match="environment 1"):
                _, _, terminated, _, info = envs.step(actions[2])
            assert terminated.tolist() == [False, True, False, False]
            assert info["fault"].tolist() == [0, 1, 0, 0]
        else:
            envs.step(actions[2])
        found.append(go(envs, actions[3:]))
        assert not envs.solver.faults.any() and not envs.solver.matter.faults.any()
    assert_same(*found, mine=[0, 2, 3], theirs=[0, 2, 3])


def test_a_fault_of_bodies_stops_matter():
    """A body that fails takes its matter with it, and a reset lets both go on."""
    envs = made(autoreset_mode="DISABLED")
    envs.reset(seed=1)
    speed = np.zeros((1, 1), np.float32)
    envs.solver.set_state(qvel=speed + np.inf, envs_idx=[2])
    with pytest.warns(RuntimeWarning, match="environment 2"):
        envs.step(np.zeros((N, 1), np.float32))
    held = envs.solver.get("particles_pos")
    envs.solver.step(2)
    assert torch.equal(held[2], envs.solver.get("particles_pos")[2])
    assert not torch.equal(held[1], envs.solver.get("particles_pos")[1])
    envs.solver.set_state(qvel=speed, envs_idx=[2])
    envs.solver.step(2)
    assert not torch.equal(held[2], envs.solver.get("particles_pos")[2])


def test_starts_and_edits():
    """Episodes begin where the task says; particles that a user writes are seen by `begin`."""
    envs = made()
    envs.reset(seed=1)
    places = envs.solver.get("particles_pos")
    assert len({tuple(row) for row in places[:, 0].tolist()}) == N
    assert torch.equal(places[0, 64:], places[1, 64:])
    envs.solver.set_particles([1], pos=places[1] + torch.tensor([0.0, 0.0, 0.02]), active=[1.0] * 83 + [0.0])
    envs.step(np.zeros((N, 1), np.float32))
    moved = envs.batch._memory.arrays["moved"]
    np.testing.assert_allclose(moved[1], float(places[1, :64, 0].mean()), atol=1e-6)
    assert envs.solver.get("particles_active").sum(1).tolist() == [84, 83, 84, 84]
    envs.reset(seed=1)
    assert torch.equal(envs.solver.get("particles_pos"), places)
    with pytest.raises(TypeError, match="'speed'; there are pos, vel, active"):
        envs.solver.set_particles(speed=0)


def test_parameters():
    """Numbers of materials are each environment's own, and a wrong one changes nothing."""
    envs = made()
    envs.reset(seed=1)
    solver = envs.solver
    thick = solver.get_parameters("water.viscosity")
    assert len(set(thick.tolist())) == N and float(solver.get_parameters("sand.friction_angle")[0]) == 45.0
    solver.update_parameters({"water.rho": [900.0], "gravity": np.zeros((1, 3))}, [1])
    assert torch.equal(solver.get_parameters("water.viscosity"), thick)
    masses = solver.matter.masses[:, 0]
    assert float(masses[1]) == pytest.approx(0.9 * float(masses[0]))
    assert solver.matter._batch.gravity[1].tolist() == [0, 0, 0] != solver.matter._batch.gravity[0].tolist()
    with pytest.raises(ValueError, match="water"):
        solver.set_parameters("water.E", 1e9)
    with pytest.raises(KeyError, match=r"water\.viscosity"):
        solver.set_parameters("water.viscous_", 1.0)
    assert torch.equal(solver.get_parameters("water.viscosity"), thick)


def test_pictures():
    """Particles are drawn, and go where they go."""
    envs = made(render_mode="rgb_array", width=48, height=36, camera_name="side")
    envs.reset(seed=1)
    picture = np.stack(envs.render())
    assert picture.shape == (N, 36, 48, 3)
    blue = (picture[..., 2] > picture[..., 0].astype(int) + 60).sum((1, 2))
    assert (blue > 5).all()
    envs.solver.set_particles([0], active=0)
    again = np.stack(envs.render())
    assert (again[0, ..., 2] > again[0, ..., 0].astype(int) + 60).sum() < blue[0] / 4
    np.testing.assert_array_equal(again[1], picture[1])


def test_scene():
    """A scene with entities of particles is a task's matter, with their looks; it falls as in the scene itself."""
    envs = made(2, PaddleScene, render_mode="rgb_array", width=32, height=24)
    envs.reset(seed=0)
    assert envs.task.particles["sand"] == slice(0, 64)
    assert envs.solver.particle_groups[0].rgba[:3] == (0.9, 0.7, 0.3)
    for _ in range(10):
        envs.step(np.zeros((2, 2), np.float32))
    scene = PaddleScene().build_scene()
    scene.build(n_envs=2)
    for _ in range(20):
        scene.step()
    sand = scene.get_entity("sand")
    torch.testing.assert_close(envs.solver.get("particles_pos"), sand.get_particles_pos(), rtol=0, atol=1e-5)
    assert envs.render()[0].shape == (24, 32, 3)


class Wrong(Paddle):
    """Wrong in one way or another."""

    wrong: str = ""

    def reset(self, noise):
        start = super().reset(noise)
        given = {
            "name": {"position": start.particles["pos"]},
            "shape": {"pos": start.particles["pos"][:, :7]},
            "mapping": 7,
            "outside": {"pos": start.particles["pos"] + 5},
        }
        return start._replace(particles=given.get(self.wrong, {})) if self.wrong else start


class Dry(Paddle):
    """No matter."""

    reads = ("xpos",)

    def matter(self):
        return None

    def reset(self, noise):
        return Start(np.zeros(1), np.zeros(1), particles={"pos": 0})


@pytest.mark.parametrize(
    ("task", "error", "words"),
    [
        (Wrong(wrong="name"), KeyError, "'position'; there are pos, vel, active"),
        (Wrong(wrong="shape"), ValueError, r"'pos' has shape \(1, 7, 3\); needed is \(1, 84, 3\)"),
        (Wrong(wrong="mapping"), TypeError, "needed is a mapping"),
        (Wrong(wrong="outside"), ValueError, "outside of the bounds"),
        (Dry(), ValueError, "the task has no matter"),
        (type("Reads", (Dry,), {"reads": ("particles_pos",)})(), KeyError, "the task has no matter"),
        (type("Reads", (Paddle,), {"reads": ("particles_colour",)})(), KeyError, "particles_colour"),
        (type("Returns", (Paddle,), {"matter": lambda self: 7})(), TypeError, "needed is a tumble.envs.TaskMatter"),
    ],
)
def test_refusals(task, error, words):
    """Errors name the task and what would do."""
    with pytest.raises(error, match=words):
        made(1, task)


def test_other_simulators():
    """MuJoCo has no such matter, and steps of matter have no derivatives."""
    with pytest.raises(NotImplementedError, match="MuJoCo has no liquid, sand or dough"):
        made(1, simulator="mujoco")
    with pytest.raises(NotImplementedError, match="steps of matter have no derivatives"):
        DifferentiableEnvs(Paddle, 1)


def test_options():
    """An option that matter depends on is read at the start; others change at any time."""
    envs = made(2)
    envs.set_attr("line", 0.01)
    assert envs.get_attr("line") == (0.01, 0.01) and envs.task.particles["sand"] == slice(64, 84)
    with pytest.raises(ValueError, match="stiffness"):
        envs.set_attr("stiffness", 1e4)
    solver = envs.solver
    envs.close()
    with pytest.raises(ClosedSolverError):
        solver.get("particles_pos")
    gc.collect()
