"""Pictures on an emulated GPU: the processor's but for rounding, and drawing them copies and waits for nothing."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch

import tumble
from tumble.physics.rendering import BatchRenderer

from .emulation import Emulation, why_not

pytestmark = [
    pytest.mark.long,
    pytest.mark.usefixtures("afterwards"),
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]

ROOT = Path(__file__).parents[2]
TASKS, SIZE, STEPS = ("Ant", "InvertedPendulum"), {"width": 32, "height": 24}, 3
ARGUMENTS = 512  # bytes: the addresses and shapes of a kernel's arrays, and its numbers
KERNELS, LAUNCHES = ("cull_tiles_", "cast_rays_"), 6
"""Of a picture in colour: tiles, a first look and a second one, each with Taichi's small launch before it, which finds
how many threads there are to be."""
UNLIKE = 4
"""Pixels of a task's pictures, of 3840, whose edges rounding may move. There are none: of larger ones, in all 81,600
pixels, three, by 1 of 255."""
DEPTH = 1e-5
"""Relative, in single precision: a GPU rounds once where a product is added, and divides approximately."""
PROGRAM = """
import sys, torch
sys.path.insert(0, sys.argv.pop(1))
from tests.cuda.test_pictures import pictures
from tumble.physics.runtime import init_columns
init_columns(arch="cuda")
torch.save(pictures(), sys.argv[1])
"""


def pictures():
    """Of each task what `render` gives at some steps; then colour, depth and geoms at the last."""
    found = {}
    for name in TASKS:
        env = gymnasium.make(f"tumble/{name}-v0", render_mode="rgb_array", **SIZE)
        env.reset(seed=0)
        frames = [env.render()]
        for _ in range(STEPS):
            env.step(np.full(env.action_space.shape, 0.2, np.float32))
            frames.append(env.render())
        solver = env.unwrapped.solver
        found[name] = torch.from_numpy(np.stack(frames)), *BatchRenderer(solver.model, **SIZE).images(solver)
        env.close()
    return found


def test_pictures_are_a_processors_but_for_rounding(tmp_path):
    """Of an environment's `render` and of the renderer; and all that is copied is the kernels' few arguments."""
    tumble.init(precision="32", lanes=1)
    expected = pictures()
    done = Emulation(tmp_path).run(PROGRAM, ROOT, tmp_path / "found.pt")
    found = torch.load(tmp_path / "found.pt")
    for name in TASKS:
        frames, colour, depth, geoms = (one.double() for one in expected[name])
        found_frames, found_colour, found_depth, found_geoms = (one.double() for one in found[name])
        unlike = [(a != b).any(dim=-1).sum() for a, b in ((frames, found_frames), (colour, found_colour))]
        same = (geoms == found_geoms) & (geoms >= 0)
        error = float(((found_depth - depth).abs() / depth)[same].max())
        print(f"{name}: {sum(map(int, unlike))} pixels unlike, {int((geoms != found_geoms).sum())} geoms; {error:.1e}")
        assert sum(unlike) <= UNLIKE and (geoms != found_geoms).sum() <= UNLIKE
        assert error < DEPTH and same.any() and frames.std() > 10
    check_log(done.log)


def check_log(log):
    """From the first picture to the last nothing is waited for, and nothing copied but arguments."""
    ours = [i for i, call in enumerate(log) if call["kind"] == "launch" and call["kernel"].startswith(KERNELS)]
    between = log[ours[0] : ours[-1] + 1]
    launches = [call for call in between if call["kind"] == "launch"]
    assert len(ours) == LAUNCHES * len(TASKS) * (STEPS + 2)
    assert {call["kernel"].split("_")[0] for call in launches} == {"run", "cull", "cast"}
    assert {call["stream"] for call in launches} == {0}
    assert not [call for call in between if call["kind"] == "synchronize"]
    copies = [call for call in between if call["kind"] == "copy"]
    assert all(copy["direction"] == "HtoD" and copy["bytes"] <= ARGUMENTS for copy in copies)
    assert len(copies) == len(launches) // 2 - 1  # the first was before
