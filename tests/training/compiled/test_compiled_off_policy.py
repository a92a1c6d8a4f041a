"""`CompiledSAC` and `CompiledTD3` are Stable-Baselines3's classes to their users."""

import pytest
import torch
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.vec_env import VecNormalize

from tumble.training.config import ConfigError
from tumble.training.learning.learner import Learner
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
