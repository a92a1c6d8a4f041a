"""The leaner update is PPO's own update, to rounding."""

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from tumble.training.config import CONFIG_FOLDER, RunConfig
from tumble.training.learning.lean_ppo import LeanPPO, Update
from tumble.training.learning.learner import Learner
from tumble.training.sb3_bridge import TumbleVecEnv


def trained(kind, pendulums, steps=128, **options):
    """An algorithm after `steps` steps on eight pendulums, its buffer full, under one seed."""
    venv = VecNormalize(TumbleVecEnv(pendulums(8)))
    defaults = {"n_steps": 16, "batch_size": 32, "n_epochs": 3, "seed": 4, "device": "cpu", "ent_coef": 0.01}
    return kind("MlpPolicy", venv, **(defaults | options)).learn(steps)


def parameters(model):
    """All weights in one vector."""
    return torch.cat([parameter.detach().flatten() for parameter in model.policy.parameters()])


def gradient(model):
    """The last minibatch's gradient in one vector."""
    return torch.cat([parameter.grad.flatten() for parameter in model.policy.parameters()])


def test_the_configuration_chooses(pendulums, small_ppo):
    """Stable-Baselines3's own class unless the configuration asks for another; the packaged ones for machine code."""
    kinds = {learner: Learner(small_ppo.change({"ppo.learner": learner}), pendulums(8)) for learner in ("sb3", "lean")}
    assert [type(learner.model) for learner in kinds.values()] == [PPO, LeanPPO]
    assert small_ppo.ppo.learner == "sb3"
    for path in CONFIG_FOLDER.glob("*-ppo.toml"):
        assert RunConfig.load(path).ppo.learner == "compiled"


@pytest.mark.parametrize("options", [{}, {"max_grad_norm": 0.01}, {"clip_range": 0.01, "learning_rate": 1e-2}])
def test_gradient_equals_automatic_differentiation(pendulums, options):
    """Float32 sums in another order: 1e-5 of the gradient's largest part."""
    ours, theirs = (trained(kind, pendulums, **options) for kind in (LeanPPO, PPO))
    expected = gradient(theirs)
    assert float(expected.abs().max()) > 1e-4
    np.testing.assert_allclose(gradient(ours), expected, atol=1e-5 * float(expected.abs().max()))


def test_weights_after_many_updates_are_the_same(pendulums):
    """Ten iterations; Adam divides by the gradient's size, which magnifies rounding where the gradient is tiny."""
    ours, theirs = (trained(kind, pendulums, steps=1280, batch_size=64) for kind in (LeanPPO, PPO))
    np.testing.assert_allclose(parameters(ours), parameters(theirs), atol=2e-4)
    assert not torch.equal(parameters(ours), parameters(trained(LeanPPO, pendulums, steps=1152, batch_size=64)))


def test_the_log_has_ppos_figures(pendulums):
    logs = []
    for kind in (LeanPPO, PPO):
        model = trained(kind, pendulums, batch_size=128, n_epochs=1)  # one minibatch: PPO logs the last loss alone
        logs.append({name: value for name, value in model.logger.name_to_value.items() if name.startswith("train/")})
    assert logs[0].keys() == logs[1].keys()
    for name, value in logs[1].items():
        assert logs[0][name] == pytest.approx(value, abs=1e-3), name  # entropy: of after the step, theirs of before


@pytest.mark.parametrize(
    "options",
    [
        {"policy_kwargs": {"activation_fn": torch.nn.ReLU}},
        {"target_kl": 0.02},
        {"clip_range_vf": 0.2},
        {"normalize_advantage": False},
        {"use_sde": True},
    ],
    ids=lambda options: next(iter(options)),
)
def test_other_settings_use_ppos_own_update(pendulums, monkeypatch, options):
    monkeypatch.setattr(Update, "differentiate", lambda *batch: pytest.fail("not the gradient of these settings"))
    ours = trained(LeanPPO, pendulums, **options)
    monkeypatch.undo()
    assert torch.equal(parameters(ours), parameters(trained(PPO, pendulums, **options)))


def test_the_saved_model_is_a_ppo(pendulums, tmp_path):
    """Plain Stable-Baselines3 reads it: no traces of this class are needed to act."""
    model = trained(LeanPPO, pendulums)
    model.save(tmp_path / "model.zip")
    observations = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    loaded = PPO.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(loaded.predict(observations)[0].shape, (5, 1))
    assert torch.equal(parameters(loaded), parameters(model))
