"""What is made, stepped or saved under `torch.inference_mode` goes on outside of it as if it had never been there."""

import contextlib

import numpy as np
import pytest
import torch

import tumble
import tumble.scene as gs
from tumble.physics import Model, RigidSolver
from tumble.training.sb3_bridge import TumbleVecEnv
from tumble.wrappers import FrameStackObservation, NormalizeObservation, NormalizeReward, RecordEpisodeStatistics

from ..widths import WIDTH
from .own_tasks import Pointer

COUNT = 4
MODES = contextlib.nullcontext, torch.inference_mode
ARM = """<mujoco><worldbody><body pos="0 0 1"><joint name="j" axis="0 1 0" range="-1 1" limited="true"/>
<geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/></body></worldbody><actuator><motor joint="j"/></actuator>
</mujoco>"""


class InTorch(Pointer):
    """Pointer, with arrays of torch on a processor, too."""

    array_library = "torch"


def flat(found):
    """Copy every array in what was returned; those of a dict in the order of their names."""
    if isinstance(found, dict):
        return [array for name in sorted(found) for array in flat(found[name])]
    if isinstance(found, tuple | list):
        return [array for part in found for array in flat(part)]
    return [found.numpy().copy() if isinstance(found, torch.Tensor) else np.array(found)]


def require_same(runs):
    """Compare what two programs returned, to the last bit."""
    (plain, under), seen = runs, [flat(run) for run in runs]
    assert len(plain) == len(under) and len(seen[0]) == len(seen[1])
    for ours, theirs in zip(*seen, strict=True):
        assert np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
def test_environments_that_were_made_there_go_on(mode):
    """A task with memory and pictures: steps, resets of some, saving, restoring, and what was handed out before."""
    runs, action = [], torch.arange(COUNT)
    for under in MODES:
        with under():
            envs = tumble.make_vec(InTorch, COUNT, max_episode_steps=5, autoreset_mode=mode)
            found = [envs.reset(seed=0), *(envs.step(action) for _ in range(3))]
            saved = envs.state_dict()
            snapshot = envs.snapshot([0, 2])
        kept = flat(found)
        found += [envs.step(action) for _ in range(6)]
        found.append(envs.reset(options={"reset_mask": np.arange(COUNT) == 1}))
        with under():
            envs.load_state_dict(saved)
        envs.episode_lengths = [0, 1, 2, 3]
        found += [envs.step(action) for _ in range(6)]
        envs.restore(snapshot)
        found.append(envs.step(action))
        assert all(np.array_equal(a, b) for a, b in zip(kept, flat(found[:4]), strict=True)), "handed out before"
        assert not any(part.is_inference() for part in (*found[-1][1:4], *found[-1][0].values()))
        runs.append(found)
        envs.close()
    require_same(runs)


def test_wrappers_and_bridges_that_were_made_there_go_on():
    """Statistics, stacks, returns of Stable-Baselines3's face."""
    runs, action = [], torch.full((COUNT, 1), 0.1)
    for under in MODES:
        with under():
            envs = tumble.make_vec("InvertedPendulum", COUNT, max_episode_steps=4)
            envs = FrameStackObservation(NormalizeObservation(NormalizeReward(RecordEpisodeStatistics(envs))), 2)
            bridge = TumbleVecEnv(tumble.make_vec("InvertedPendulum", COUNT, max_episode_steps=4))
            bridge.seed(3)
            found = [envs.reset(seed=0), bridge.reset(), *(envs.step(action)[:4] for _ in range(3))]
            found.append(bridge.step(action.numpy())[:3])
        found += [envs.step(action)[:4] for _ in range(6)] + [bridge.step(action.numpy())[:3] for _ in range(6)]
        found.append(envs.reset(options={"reset_mask": np.arange(COUNT) == 0})[0])
        with under():
            found += [envs.step(action)[:4], bridge.reset()]
        found += [envs.step(action)[:4], bridge.step(action.numpy())[:3]]
        runs.append(found)
    require_same(runs)


def test_a_solver_that_was_made_there_goes_on():
    """Every call that writes, and those that bind another kernel, or keep what they made."""
    runs = []
    for under in MODES:
        with under():
            solver = RigidSolver(Model.from_mjcf(ARM), COUNT, ("xpos",), lanes=WIDTH)
            solver.step()
            solver.set_state(qpos=[0.1], envs_idx=[1])
            found = [solver.get("xpos"), solver.get("qM"), solver.rollout(np.ones((COUNT, 2, 1)))]
            saved = solver.state_dict()
        solver.step(3)
        solver.set_state(qpos=[0.2], envs_idx=[2])
        found += [solver.get("xpos"), solver.get("xpos", [0, 2]), solver.get("qacc", [3]), solver.qpos]
        solver.qfrc_applied = [[0.5]] * COUNT
        solver.control_dofs_position([[0.3]] * COUNT)
        solver.step(2)
        with under():
            solver.set_parameters("body_mass", [0.0, 0.7], [1])
            solver.step()
            found.append(solver.get("xpos"))
        solver.set_parameters("body_mass", [0.0, 0.9], [2])
        solver.set_parameters("dof_damping", [0.2], [3])
        solver.step(4)
        found += [solver.get("xpos"), solver.get("qM", [2]), solver.get("actuator_force")]
        solver.load_state_dict(saved)
        solver.reset([0])
        solver.forward()
        solver.step()
        found += [solver.qpos, solver.qvel, *solver.state_dict().values()]
        runs.append(found)
    require_same(runs)


def test_a_scene_that_was_built_there_goes_on():
    """Cameras that are moved, sensors with flaws and delays, bodies that are put elsewhere."""
    runs = []
    for under in MODES:
        with under():
            scene = gs.Scene()
            box = scene.add_entity(gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=(0, 0, 1)))
            camera = scene.add_camera(res=(8, 6), pos=(2, 0, 1), lookat=(0, 0, 1))
            imu = scene.add_sensor(gs.sensors.IMU(entity_idx=box.idx, acc_noise=0.1, acc_random_walk=0.1, delay=0.02))
            scene.build(2)
            scene.step()
            camera.follow_entity(box)
            scene.step()
            imu.set_delay(0.03)
            state = scene.get_state()
        scene.step()
        imu.set_bias(0.1)
        imu.set_delay(0.05, [1])
        box.set_pos([[0.1, 0, 1], [0, 0.2, 1]])
        scene.step()
        camera.unfollow_entity()
        camera.set_pose(pos=(1.5, 0, 1), lookat=(0, 0, 1), envs_idx=[1])
        found = [flat(tuple(imu.read())), camera.get_transform(), box.get_pos()]
        scene.reset(state)
        scene.reset(envs_idx=[0])
        scene.step()
        runs.append([*found, flat(tuple(imu.read())), box.get_pos()])
    require_same(runs)


def test_a_default_dtype_of_float64_changes_no_bit():
    """A task with memory and pictures, and wrappers."""
    runs, action = [], torch.arange(COUNT)
    for dtype in (torch.float32, torch.float64):
        torch.set_default_dtype(dtype)
        try:
            envs = NormalizeReward(RecordEpisodeStatistics(tumble.make_vec(Pointer, COUNT, max_episode_steps=3)))
            found = [envs.reset(seed=0)[0], *(envs.step(action)[:4] for _ in range(5))]
        finally:
            torch.set_default_dtype(torch.float32)
        assert found[-1][1].dtype is found[-1][0]["arm"].dtype is torch.float32
        runs.append(found)
    require_same(runs)


def test_numbers_that_carry_gradients_leave_none_behind():
    """Actions of a network, and whatever else is set: nothing that is kept or returned asks for a gradient."""
    made = torch.nn.Linear(COUNT, 1)
    action = made(torch.ones(COUNT, COUNT))
    assert action.requires_grad
    envs = NormalizeReward(RecordEpisodeStatistics(tumble.make_vec("InvertedPendulum", COUNT, max_episode_steps=3)))
    envs.reset(seed=0)
    for _ in range(4):
        found = envs.step(action)
    assert not any(part.requires_grad for part in found[:4])
    solver = envs.unwrapped.solver
    solver.set_state(qpos=torch.cat((action, action), 1), qvel=action[:, :1].expand(-1, 2))
    solver.ctrl = action
    solver.set_parameters("body_mass", action.abs() + 1.0)
    solver.step()
    assert not any(part.requires_grad for part in (solver.qpos, solver.ctrl, *solver.state_dict().values()))
