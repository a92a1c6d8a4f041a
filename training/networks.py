"""The networks of a configuration: which of Stable-Baselines3's policy classes, and with which options."""

from typing import Any

import gymnasium as gym
import torch
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import BasePolicy

from .asymmetric import (
    AsymmetricActorCriticPolicy,
    AsymmetricSACPolicy,
    AsymmetricTD3Policy,
    SeenParts,
)
from .config import OFF_POLICY, PolicyConfig, RunConfig
from .spaces import policy_name

ACTIVATIONS = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU, "elu": torch.nn.ELU, "silu": torch.nn.SiLU}
ALGORITHMS: dict[str, type[BaseAlgorithm]] = {"ppo": PPO, "sac": SAC, "td3": TD3}
ASYMMETRIC: dict[str, type[BasePolicy]] = {
    "ppo": AsymmetricActorCriticPolicy,
    "sac": AsymmetricSACPolicy,
    "td3": AsymmetricTD3Policy,
}
CRITICS = ("critic.", "critic_target.", "value_net.", "mlp_extractor.value_net.", "vf_features_extractor.")


def policy_class(config: RunConfig, space: gym.Space[Any], seen: SeenParts) -> tuple[type[BasePolicy], dict[str, Any]]:
    """Return the policy class of a configuration for an observation space, and SB3's `policy_kwargs`.

    Args:
        config: The run's configuration.
        space: The observation space, as the environments have it or with the channels of pictures first.
        seen: The parts that actor and critic see.
    """
    options = policy_options(config.policy, on_policy=config.algo not in OFF_POLICY)
    if seen.differ:
        return ASYMMETRIC[config.algo], options | {"actor_parts": seen.actor, "critic_parts": seen.critic}
    return ALGORITHMS[config.algo].policy_aliases[policy_name(space)], options


def policy_options(config: PolicyConfig, on_policy: bool) -> dict[str, Any]:
    """Return SB3's `policy_kwargs`: separate actor and critic networks; PPO's weights start orthogonal."""
    actor, critic = list(config.hidden), list(config.critic_hidden or config.hidden)
    options: dict[str, Any] = {
        "net_arch": {"pi": actor, "vf" if on_policy else "qf": critic},
        "activation_fn": ACTIVATIONS[config.activation],
        "optimizer_kwargs": {"eps": config.adam_eps, "fused": True},
    }
    if on_policy:
        options |= {"log_std_init": config.log_std_init, "ortho_init": True}
    return options


def is_critics(name: str) -> bool:
    """Say whether a weight of a policy belongs to a critic, so that acting does not need it."""
    return name.startswith(CRITICS)
