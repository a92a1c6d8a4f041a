"""Exact resume on real tasks: the engine's state, warm starts and reset noise come back with the checkpoint."""

import dataclasses

import pytest
import torch
from stable_baselines3.common.save_util import load_from_zip_file

from tumble.training.config import PPOConfig, RunConfig
from tumble.training.learning.callbacks import CheckpointCallback
from tumble.training.train import resume, train

EYE = """
import gymnasium
from tumble.envs import CameraView


class SeenLever(Lever):
    cameras = {"eye": CameraView(40, 36)}

    def observation(self, state):
        return {"numbers": super().observation(state), "eye": state.images["eye"]}

    @property
    def action_space(self):
        return gymnasium.spaces.Discrete(3)

    def control(self, state, action):
        return self.array(action - 1)[:, None]


tumble.register("me/SeenLever-v0", SeenLever, max_episode_steps=15)
"""
PUSHED = """
class PushedLever(Lever):
    def reset(self, noise):
        start = super().reset(noise)
        return start._replace(inputs={"qfrc_applied": noise.uniform(-0.1, 0.1, self.model.nv)})

    def step(self, state, action):
        result = super().step(state, action)
        cut = abs(state.qpos[:, 0]) > 0.3
        return result._replace(truncated=cut, inputs={"qfrc_applied": 0.1 * state.noise.normal(self.model.nv)})


tumble.register("me/PushedLever-v0", PushedLever, max_episode_steps=15)
"""


TASKS = (
    "tumble/Hopper-v0",
    pytest.param("tumble/Ant-v0", marks=pytest.mark.slow),
    "levers.py:me/SeenLever-v0",
    "levers.py:me/PushedLever-v0",
)


@pytest.mark.parametrize("task", TASKS)
def test_stopped_and_resumed_equals_uninterrupted(tmp_path, monkeypatch, workshop, task):
    """The last tasks are a user's own: with a goal in memory, a picture and three actions; with pushes and cuts."""
    workshop.write("levers.py", more=EYE + PUSHED)
    torch.set_num_threads(1)
    ppo = PPOConfig(n_steps=40, batch_size=140, n_epochs=2)
    config = RunConfig(task, "ppo", total_steps=6 * 280, num_envs=7, ppo=ppo)
    config = dataclasses.replace(config, checkpoint=dataclasses.replace(config.checkpoint, every_steps=560))
    whole = train(config, tmp_path / "whole", progress=False)
    original = CheckpointCallback._on_rollout_start
    with monkeypatch.context() as patch:

        def stop(self):
            self.request.wanted |= self.model.num_timesteps >= 840
            original(self)

        patch.setattr(CheckpointCallback, "_on_rollout_start", stop)
        part = train(config, tmp_path / "part", progress=False)
    assert not part.finished and part.step == 840
    rest = resume(part.run.folder, progress=False)
    assert rest.step == whole.step == config.total_steps
    policies = [load_from_zip_file(run.latest() / "model.zip", load_data=False)[1] for run in (whole.run, rest.run)]
    for name, value in policies[0]["policy"].items():
        assert torch.equal(value, policies[1]["policy"][name]), name
    states = [torch.load(run.latest() / "state.pt", weights_only=True) for run in (whole.run, rest.run)]
    ours, theirs = (flat({name: state[name] for name in ("last_obs", "normalizer")}) for state in states)
    assert ours.keys() == theirs.keys() and len(ours) > 5
    for name, value in ours.items():
        assert torch.equal(torch.as_tensor(value), torch.as_tensor(theirs[name])), name


def flat(tree, path=""):
    """The leaves of nested dictionaries by their paths."""
    if not isinstance(tree, dict):
        return {path: tree}
    return {name: leaf for key, part in tree.items() for name, leaf in flat(part, f"{path}/{key}").items()}
