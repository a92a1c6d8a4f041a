"""Environments and training on an emulated GPU: the same episodes to rounding, and the same progress."""

import json
from pathlib import Path

import pytest
import torch

import tumble
from tumble.envs.v5.inverted_pendulum import InvertedPendulum
from tumble.training.config import RunConfig
from tumble.training.evaluate import evaluate
from tumble.training.learning.loggers import read_curve
from tumble.training.train import train

from .emulation import Emulation, why_not

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("afterwards"),
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]

ROOT = Path(__file__).parents[2]
NUM_ENVS, LIMIT, STEPS = 6, 7, 24
SINGLE = 1e-5
"""Of the few steps of an episode in single precision; starts have the same bits."""
ITERATIONS, BLANK, ALIKE = 16, 1, 8
"""Of a training; those before each environment has ended an episode; and those after them that rounding, which learning
magnifies, has not parted yet."""
CURVE = 5e-3
"""Of the mean return of episodes in these, relative."""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from tests.cuda import test_environments
from tumble.physics.machine.runtime import init_columns
init_columns(arch="cuda")
test_environments.leave(sys.argv[1])
"""


class Pendulum(InvertedPendulum):
    """Computed in torch, as beside a GPU."""

    array_library = "torch"


def episodes():
    """What users get of some steps with ends of both kinds: observation, rewards, flags, last observations."""
    envs = tumble.make_vec(Pendulum, NUM_ENVS, max_episode_steps=LIMIT)
    found, generator = [envs.reset(seed=1)[0]], torch.Generator().manual_seed(0)
    for _ in range(STEPS):
        *arrays, info = envs.step(6 * torch.rand((NUM_ENVS, 1), generator=generator) - 3)
        found += [*arrays, info.get("final_obs", torch.zeros(0))]
    return found


def leave(folder):
    """Write the episodes, and what a short training comes to, into a folder."""
    torch.save(episodes(), f"{folder}/episodes.pt")
    config = RunConfig.packaged("tumble/InvertedPendulum-v0", "ppo")
    config = config.replace(num_envs=32, total_steps=ITERATIONS * 32 * config.ppo.n_steps)
    run = train(config, Path(folder, "run"), progress=False).run
    rows = read_curve(run.folder / "progress.jsonl")
    curve = [row["rollout/ep_rew_mean"] for row in rows if "rollout/ep_rew_mean" in row]
    Path(folder, "training.json").write_text(json.dumps([curve, evaluate(run, episodes=4).returns]))


def test_episodes_and_training_are_those_of_a_processor(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    tumble.init(precision="32", lanes=1)
    leave(here)
    Emulation(tmp_path).run(PROGRAM, ROOT, there)
    near, found = (torch.load(folder / "episodes.pt") for folder in (here, there))
    assert torch.equal(near[0], found[0])
    for one, other in zip(near, found, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        torch.testing.assert_close(one, other, rtol=SINGLE, atol=SINGLE)
    curves = []
    for folder in (here, there):
        curve, scores = json.loads((folder / "training.json").read_text())
        assert len(curve) == ITERATIONS - BLANK and curve[-1] > 5 * curve[0] and scores == [1000.0] * 4
        curves.append(curve[:ALIKE])
    assert curves[1] == pytest.approx(curves[0], rel=CURVE)
