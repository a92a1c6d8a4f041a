"""Pictures of environments whose solver's numbers are not the processor's: the same ones, in tensors of the device."""

import gymnasium
import numpy as np
import pytest
import torch

import tumble
from tumble.envs.registry import make_task
from tumble.physics.rendering import BatchRenderer

from ..envs.own_tasks import Seen
from ..physics.starts import run_in_columns
from .far_device import NAME, waits

NUM_ENVS, SIZE = 20, {"width": 32, "height": 24}


def counted(found, solver, take):
    """Add what `take` returns to what was found; how often a GPU would have been waited for."""
    for _ in range(2):  # numbers that do not change are brought to the device once
        take()
        solver.step()
    waits.clear()
    result = take()
    found += result if isinstance(result, tuple) else (result,)
    return len(waits)


def taken(name, device):
    """Pictures of a batch after a few steps, and the waits of each: as tensors, then as arrays of numpy."""
    run_in_columns(device=device)
    kind = type(make_task(name, {}))
    task = type(name, (kind,), {"array_library": "torch", "__module__": kind.__module__})
    envs = tumble.make_vec(task, NUM_ENVS, render_mode="rgb_array", **SIZE)
    envs.reset(seed=3)
    for _ in range(3):
        envs.step(torch.full(envs.action_space.shape, 0.5).to(device))
    chosen, solver = torch.tensor([17, 2]).to(device), envs.solver
    cameras = [None, {"trackbodyid": -1, "lookat": (0.0, 0.0, 1.0)}, {"orthographic": True, "fovy": 4.0}]
    renderers = [BatchRenderer(solver.model, **SIZE, camera=camera) for camera in cameras]
    tensors, arrays, counts = [], [], {}
    counts["shown"] = counted(tensors, solver, envs.render_tensor)
    counts["all"] = counted(tensors, solver, lambda: renderers[1].images(solver))
    counts["chosen there"] = counted(tensors, solver, lambda: envs.render_tensor(chosen))
    counts["where it is"] = counted(tensors, solver, lambda: renderers[0].camera_poses(solver))
    counts["for Gymnasium"] = counted(arrays, solver, envs.render)
    tensors += [*renderers[2].images(solver, torch.arange(NUM_ENVS) % 3 == 0), envs.render_tensor([19, 0])]
    for wrong in (torch.tensor([NUM_ENVS]).to(device), [-1]):
        with pytest.raises(IndexError, match="there is no environment"):
            envs.render_tensor(wrong)
        with pytest.raises(IndexError, match="there is no environment"):
            renderers[0].render(solver, wrong)
    return tensors, arrays, counts


@pytest.mark.parametrize("name", ["Ant", "InvertedPendulum"])
def test_pictures_are_the_processors(far, name):
    """To the bit; and they wait for nothing but indices that lie on the device, and the one copy for Gymnasium."""
    near, near_arrays, _ = taken(name, "cpu")
    found, arrays, counts = taken(name, NAME)
    assert len(near) == len(found) and all(one.device.type == NAME for one in found)
    assert all(one.dtype == other.dtype for one, other in zip(near, found, strict=True))
    assert all(torch.equal(one, other.cpu()) for one, other in zip(near, found, strict=True))
    assert all(type(one) is np.ndarray and one.shape == (24, 32, 3) for one in arrays) and len(arrays) == 16
    np.testing.assert_array_equal(arrays, near_arrays)
    assert counts.pop("chosen there") == counts.pop("for Gymnasium") == 1
    assert not any(counts.values())


@pytest.mark.parametrize("mode", ["rgb_array", "depth_array"])
def test_a_single_environment(far, mode):
    """Its pictures are numpy's, as Gymnasium wants them, by one copy."""
    frames = []
    for device in ("cpu", NAME):
        run_in_columns(device=device)
        env = gymnasium.make("tumble/Hopper-v0", render_mode=mode, **SIZE)
        env.reset(seed=0)
        env.step(np.ones(3))
        env.render()
        waits.clear()
        frames.append(env.render())
        assert len(waits) == (device == NAME)
        env.close()
    assert type(frames[1]) is np.ndarray and (frames[0] == frames[1]).all()


class SeenInTorch(Seen):
    """On the processor too, whose roots torch rounds otherwise than numpy."""

    array_library = "torch"


def test_pictures_that_an_agent_sees(far):
    """Observations, also of those that begin anew, are the device's, and the processor's to the bit."""
    found = []
    for device in ("cpu", NAME):
        run_in_columns(device=device)
        envs = tumble.make_vec(SeenInTorch, 3, max_episode_steps=2)
        seen = [envs.reset(seed=3)[0]]
        for action in (0, 8, 4):
            seen.append(envs.step(torch.full((3,), action, device=device))[0])
        seen.append(envs.reset(options={"reset_mask": torch.tensor([False, True, False]).to(device)})[0])
        assert all(one.device.type == device and one.dtype == torch.uint8 for one in seen)
        found.append(torch.stack([one.cpu() for one in seen]))
    assert torch.equal(*found) and (found[0][0] != found[0][1]).any()
