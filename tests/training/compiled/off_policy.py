"""Random actors, critics and replay buffers: models of Stable-Baselines3, and its own training with our noise."""

import itertools
import math

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.type_aliases import ReplayBufferSamples
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from tumble.envs.task.observations import each
from tumble.physics.base.draws import hashed_key
from tumble.training.compiled.draws import draw_key
from tumble.training.learning.asymmetric import AsymmetricSACPolicy, AsymmetricTD3Policy
from tumble.training.learning.compiled_off_policy import CompiledSAC, CompiledTD3

from .networks import ACTIVATIONS

THEIRS = {"sac": SAC, "td3": TD3}
OURS = {"sac": CompiledSAC, "td3": CompiledTD3}
WIDTHS = (5, 8, 16, 30, 64, 100)
ROWS = (1, 7, 64, 70, 128, 256, 513)
SEED = 5


class Still(gym.Env):
    """An environment with spaces, in which nothing happens."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, **options):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


class Case:
    """Spaces, options and transitions, drawn with a seed; every model of the case begins with the same numbers."""

    def __init__(self, algo, seed, **options):
        rng = np.random.default_rng(seed)
        widths = [int(n) for n in rng.integers(1, 40, 2)]
        box = [gym.spaces.Box(-np.inf, np.inf, (n,), np.float32) for n in widths]
        self.told_apart = bool(rng.random() < 0.3)
        self.space = gym.spaces.Dict(policy=box[0], critic=box[1]) if self.told_apart else box[0]
        self.actions = gym.spaces.Box(-1, 1, (int(rng.integers(1, 20)),), np.float32)
        hidden = [[int(rng.choice(WIDTHS)) for _ in range(rng.integers(0, 4))] for _ in range(2)]
        self.n, self.normalized, self.algo, self.seed = int(rng.choice(ROWS)), rng.random() < 0.5, algo, seed
        self.policy = {
            "net_arch": {"pi": hidden[0], "qf": hidden[1]},
            "activation_fn": ACTIVATIONS[str(rng.choice(list(ACTIVATIONS)))],
            "optimizer_kwargs": {"eps": 1e-5},
            "n_critics": int(rng.choice([1, 2, 2, 3])),
        }
        if algo == "sac":
            options = {"ent_coef": "auto_0.3" if rng.random() < 0.7 else 0.2} | options
        self.options = {"seed": SEED, "buffer_size": 400, "device": "cpu", "batch_size": self.n} | options

    def model(self, kind):
        """Return a model of this case, with a full buffer of random transitions."""
        space = self.space
        venv = DummyVecEnv([lambda: Still(space, self.actions)] * 4)
        normalizer = VecNormalize(venv, norm_obs=self.normalized, norm_reward=self.normalized, clip_obs=2.0)
        policy, options = "MlpPolicy", dict(self.policy)
        if self.told_apart:
            policy = AsymmetricSACPolicy if self.algo == "sac" else AsymmetricTD3Policy
            options |= {"actor_parts": ("policy",), "critic_parts": ("critic",)}
        model = kind(policy, normalizer, policy_kwargs=options, **self.options)
        model._setup_learn(1)
        rng = np.random.default_rng(self.seed)
        buffer = model.replay_buffer
        for name in ("observations", "next_observations"):
            arrays = getattr(buffer, name)
            for array in arrays.values() if isinstance(arrays, dict) else [arrays]:
                array[:] = rng.normal(0.2, 1.5, array.shape)
        buffer.actions[:] = rng.uniform(-1, 1, buffer.actions.shape)
        buffer.rewards[:] = rng.normal(0.0, 2.0, buffer.rewards.shape)
        buffer.dones[:], buffer.timeouts[:] = rng.random((2, *buffer.dones.shape)) < 0.3
        buffer.full = True
        if self.normalized:
            statistics = normalizer.obs_rms
            for one in statistics.values() if isinstance(statistics, dict) else [statistics]:
                one.mean, one.var = rng.normal(size=one.mean.shape), rng.uniform(0.5, 2.0, one.mean.shape)
            normalizer.ret_rms.var = 1.7
        torch.manual_seed(self.seed)  # weights large enough to saturate some actions
        with torch.no_grad():
            for p in itertools.chain(model.actor.parameters(), model.critic.parameters()):
                p.copy_(torch.randn(p.shape) * 1.2 / math.sqrt(p.shape[-1]))
            for a, b in (("critic", "critic_target"), ("actor", "actor_target")):
                if hasattr(model, b):
                    for p, q in zip(getattr(model, a).parameters(), getattr(model, b).parameters(), strict=True):
                        q.copy_(p + 0.01 * torch.randn(p.shape))
        return model

    def noise(self, update, purpose):
        """Our normal numbers of an update, in double precision (n, numbers)."""
        numbers = self.actions.shape[0]
        padded = -(-numbers // 8) * 8
        counts = torch.arange(self.n)[:, None] * padded + torch.arange(numbers) + 1
        bits = hashed_key(torch.tensor(draw_key(SEED, 2 * update + purpose)), counts)
        above = ((bits >> 40) & (2**24 - 1)) + 1
        radius = torch.sqrt(-2 * torch.log(above.double() * 2.0**-24))
        return radius * torch.cos(2 * math.pi * (bits & (2**24 - 1)).double() * 2.0**-24)

    def train_theirs(self, model, steps, monkeypatch, dtype=torch.float64):
        """Let Stable-Baselines3 train with our noise; return the gradients before each step of Adam."""
        model.policy.to(dtype)
        if getattr(model, "log_ent_coef", None) is not None:
            model.log_ent_coef.data = model.log_ent_coef.data.to(dtype)
        drawn = ((update, purpose) for update in itertools.count() for purpose in (1, 0))
        sample, draw, gradients = model.replay_buffer.sample, self.noise, []

        def sampled(*args, **options):
            parts = [each(lambda x: x.to(dtype), part) for part in sample(*args, **options) if part is not None]
            return ReplayBufferSamples(*parts)

        def rsample(normal, *shape):
            return normal.loc + normal.scale * draw(*next(drawn)).to(dtype)

        def normal_(tensor, mean, std):
            next(drawn)
            return tensor.copy_(draw(*next(drawn)) * std)

        monkeypatch.setattr(model.replay_buffer, "sample", sampled)
        monkeypatch.setattr(torch.distributions.Normal, "rsample", rsample)
        monkeypatch.setattr(torch.Tensor, "normal_", normal_, raising=False)
        monkeypatch.setattr(torch.Tensor, "float", lambda x: x.to(dtype))  # Stable-Baselines3 rounds observations
        for optimizer in (model.critic.optimizer, model.actor.optimizer, getattr(model, "ent_coef_optimizer", None)):
            if optimizer:
                optimizer.register_step_pre_hook(
                    lambda one, *_: gradients.extend(p.grad.clone() for p in one.param_groups[0]["params"])
                )
        np.random.seed(SEED)
        model.train(steps, self.n)
        return gradients
