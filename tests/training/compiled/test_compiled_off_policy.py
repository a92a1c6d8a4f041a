"""`CompiledSAC` and `CompiledTD3` are Stable-Baselines3's classes to their users."""

import numpy as np
import pytest
import torch
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.vec_env import VecNormalize

from tumble.training.config import ConfigError
from tumble.training.distributed import ProcessGroup
from tumble.training.learning.learner import Learner, load_replay_buffer, save_replay_buffer
from tumble.training.sb3_bridge import TumbleVecEnv

from .off_policy import OURS, THEIRS, Case

pytestmark = pytest.mark.usefixtures("one_torch_thread")
ALGORITHMS = pytest.mark.parametrize("algo", ["sac", "td3"])


def trained(algo, **options):
    """A model after three updates."""
    case = Case(algo, 4, **options)
    model = case.model(OURS[algo])
    model.train(3, case.n)
    return model


@ALGORITHMS
def test_plain_stable_baselines_reads_the_saved_model(algo, tmp_path):
    """Weights, targets, moments and the temperature."""
    model = trained(algo)
    model.save(tmp_path / "model.zip")
    loaded = THEIRS[algo].load(tmp_path / "model.zip")
    ours, theirs = (one.get_parameters() for one in (model, loaded))
    assert ours.keys() == theirs.keys()
    for name, state in ours["policy"].items():
        assert torch.equal(state, theirs["policy"][name]), name
    for name in ours.keys() - {"policy"}:
        for k, slot in ours[name]["state"].items():
            assert all(torch.equal(slot[key], theirs[name]["state"][k][key]) for key in slot), name
    if algo == "sac":
        assert torch.equal(model.log_ent_coef, loaded.log_ent_coef)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"use_sde": True}, "its noise depends on the state (gSDE)"),
        ({"n_steps": 3}, "transitions come from a NStepReplayBuffer"),
        ({"policy_kwargs": {"activation_fn": torch.nn.GELU}}, "the networks have layers of other kinds"),
        ({"policy_kwargs": {"optimizer_kwargs": {"weight_decay": 0.1}}}, "the optimizer is not plain Adam"),
    ],
)
def test_what_is_not_compiled_is_said_once(pendulums, caplog, options, reason):
    """And learns as Stable-Baselines3's class does."""
    caplog.set_level("INFO", "tumble")
    models = []
    for kind in (OURS["sac"], SAC):
        venv = VecNormalize(TumbleVecEnv(pendulums(4)))
        models.append(kind("MlpPolicy", venv, seed=3, batch_size=16, learning_starts=20, device="cpu", **options))
        models[-1].learn(32)
    assert [record.getMessage() for record in caplog.records] == [f"the update is not compiled: {reason}"]
    ours, theirs = ([*model.policy.parameters()] for model in models)
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


@ALGORITHMS
def test_a_configuration_chooses_the_learner(algo, configs, pendulums):
    for name, kind in ((algo, {"sac": SAC, "td3": TD3}[algo]), (f"compiled {algo}", OURS[algo])):
        learner = Learner(configs[name], pendulums(4))
        assert type(learner.model) is kind
    assert learner.model.reason() == ""
    with pytest.raises(ConfigError, match=f"{algo}.learner must be one of sb3, compiled, not 'lean'"):
        configs[algo].change({f"{algo}.learner": "lean"})


@pytest.mark.parametrize(("processes", "envs"), [(1, 4), (3, 2), (1, 2)])
def test_another_number_of_processes_shares_the_newest_transitions(configs, pendulums, tmp_path, processes, envs):
    """Two buffers of three environments have overwritten the oldest of their nine times."""
    config, paths = configs["compiled sac"], [tmp_path / "0.npz", tmp_path / "1.npz"]

    def buffer_of(envs, times):
        model = Learner(config.change({"sac.buffer_size": envs * times}), pendulums(envs)).model
        return model, model.replay_buffer

    for rank, path in enumerate(paths):
        model, buffer = buffer_of(3, 7)
        for time in range(9):
            seen, one = np.full((3, 3), 10.0 * time), np.full(3, 10.0 * time + rank)
            buffer.add(seen, seen, np.zeros((3, 1)), one, np.zeros(3), [{}] * 3)
        save_replay_buffer(model, path)
    kept = []
    for rank in range(processes):
        model, buffer = buffer_of(envs, 8)
        group = type("Some", (ProcessGroup,), {"rank": rank, "size": processes})()
        load_replay_buffer(model, paths, group)
        kept.append(buffer.rewards[: buffer.size()])
        assert np.array_equal(buffer.observations[: buffer.size(), :, 0], kept[-1] // 10 * 10)
        assert buffer.full == (len(kept[-1]) == 8) and buffer.pos == buffer.size() % 8
    newest = [10.0 * time + rank for time in range(2, 9) for rank in (0, 0, 0, 1, 1, 1)]
    together = np.stack(kept, 1).ravel()
    assert len(together) == min(42 // (processes * envs), 8) * processes * envs
    assert together.tolist() == newest[-len(together) :]
