"""Exact resume on real tasks: the engine's state, warm starts and reset noise come back with the checkpoint."""

import dataclasses

import pytest
import torch
from stable_baselines3.common.save_util import load_from_zip_file

from tumble.training.callbacks import CheckpointCallback
from tumble.training.config import PPOConfig, RunConfig
from tumble.training.train import resume, train


@pytest.mark.parametrize("task", ["tumble/Hopper-v0", "tumble/Ant-v0"])
def test_stopped_and_resumed_equals_uninterrupted(tmp_path, monkeypatch, task):
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
    assert torch.equal(states[0]["last_obs"], states[1]["last_obs"])
    assert torch.equal(states[0]["normalizer"]["observations"]["mean"], states[1]["normalizer"]["observations"]["mean"])
