"""The page about rough ground is true: its robot walks there, goes up levels, sees what the page says, and trains."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import tumble
from tumble.envs.arrays import host

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "ground.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "examples" / "tasks"


def blocks(language: str) -> list[str]:
    """The code of a language on the page, in order."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def rough() -> Iterator:
    """The page's task as a module; what it registers is forgotten afterwards."""
    registered = dict(gym.registry)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
        import rough

        yield rough
    del sys.modules["rough"]
    gym.registry.clear()
    gym.registry.update(registered)


def test_the_robot_walks_and_goes_up_a_level(rough):
    """Without corrections, for 20 s: it stands at every start and walks at the lowest level, which is nearly flat."""
    envs = tumble.make_vec(rough.Rough, 40, max_episode_steps=1000, autoreset_mode="SAME_STEP")
    batch, ground = envs.unwrapped.batch, rough.GROUND
    envs.reset(seed=1)
    before = {name: host(array).copy() for name, array in batch._memory.arrays.items()}
    for step in range(1000):
        _, _, terminated, _, _ = envs.step(np.zeros((40, 12), np.float32))
        if step == 50:
            assert not host(terminated).any()
            state = batch._view.look(batch._memory.arrays, batch.streams.present(np.arange(40)))
            feet = host(envs.unwrapped.solver.get("site_xpos"))
            above = feet[..., 2] - ground.height_at(feet[..., :2].astype(float))
            assert above.min() > 0.0 and (above < 0.04).sum() > 60  # two of four feet, 0.023 m thick, are on the ground
            seen = host(batch.task.observation(state))[:, -28:]
            assert abs(seen.mean()) < 0.5 and seen.std() > 0.02
    assert not host(envs.unwrapped.solver.faults).any()
    after, easy = batch._memory.arrays["terrain_levels"], before["terrain_levels"] == 0
    assert (after[easy] == 1).mean() > 0.6 and easy.sum() > 5
    envs.close()


def test_rays_see_the_ground_as_the_page_says(rough):
    names = {name: getattr(tumble.envs, name) for name in ("RayScan", "ring_points")}
    exec(next(block for block in blocks("py") if block.startswith("rays = ")), names)

    class Seeing(rough.Rough):
        rays = names["rays"]

    envs = tumble.make_vec(Seeing, 12, max_episode_steps=1000)
    batch = envs.unwrapped.batch
    envs.reset(seed=0)
    for _ in range(30):
        envs.step(np.zeros((12, 12), np.float32))
    state = batch._view.look(batch._memory.arrays, batch.streams.present(np.arange(12)))
    assert {name: way.shape for name, way in state.rays.items()} == {
        "scan": (12, 187),
        "feet": (12, 4, 4),
        "ahead": (12, 1),
    }
    trunk = state.fields["xpos"][:, 1], state.fields["xmat"][:, 1]
    scan = batch.task.ground.scan(*trunk, batch.task.array(tumble.envs.grid_points()))
    np.testing.assert_allclose(host(state.rays["scan"]), host(scan), atol=1e-3)
    assert 0.2 < np.median(host(state.rays["scan"])) < 0.4
    envs.close()


@pytest.mark.slow
def test_it_trains_as_printed(tmp_path):
    """The trained policy walks on higher levels than the trot alone."""
    for name in ("dog.xml", "rough.py"):
        (tmp_path / name).write_bytes((EXAMPLES / name).read_bytes())
    paths = {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}
    (commands,) = blocks("sh")
    for command in commands.splitlines():
        subprocess.run(shlex.split(command), cwd=tmp_path, env=os.environ | paths, check=True, timeout=3000)
    score = json.loads((tmp_path / "runs" / "rough" / "evaluation-tumble.json").read_text())
    assert score["mean"] > 1100, "the page says 1,240"
    assert (tmp_path / "rough.mp4").stat().st_size > 10_000
