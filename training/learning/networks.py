"""The networks of a configuration: which of Stable-Baselines3's policy classes, and with which options."""

import importlib.util
from typing import Any

import gymnasium as gym
import torch
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import BasePolicy

from ...physics.machine.libraries import pip_install
from ..config import OFF_POLICY, PolicyConfig, RunConfig
from ..errors import TumbleUserError
from ..spaces import policy_name
from .asymmetric import (
    AsymmetricActorCriticPolicy,
    AsymmetricSACPolicy,
    AsymmetricTD3Policy,
    SeenParts,
)

ACTIVATIONS = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU, "elu": torch.nn.ELU, "silu": torch.nn.SiLU}
ALGORITHMS: dict[str, type[BaseAlgorithm]] = {"ppo": PPO, "sac": SAC, "td3": TD3}
ASYMMETRIC: dict[str, type[BasePolicy]] = {
    "ppo": AsymmetricActorCriticPolicy,
    "sac": AsymmetricSACPolicy,
    "td3": AsymmetricTD3Policy,
}
RECURRENT = "recurrent_ppo"
LSTM_OPTIONS = ("lstm_hidden_size", "n_lstm_layers", "critic_lstm")  # of its policy, not of the algorithm
CRITICS = (
    "critic.",
    "critic_target.",
    "lstm_critic.",
    "mlp_extractor.value_net.",
    "value_net.",
    "vf_features_extractor.",
)


class LibraryError(TumbleUserError, ImportError):
    """A library that is needed and not installed; the message has the command that installs it."""


def require_library(algo: str) -> None:
    """Refuse an algorithm whose library is not installed.

    Raises:
        LibraryError: It is sb3-contrib, which recurrent policies need.
    """
    if algo == RECURRENT and importlib.util.find_spec("sb3_contrib") is None:
        raise LibraryError(f"the algorithm {RECURRENT} needs sb3-contrib: {pip_install('recurrent')}")


def algorithm_class(algo: str) -> type[BaseAlgorithm]:
    """Return SB3's class of an algorithm, or sb3-contrib's.

    Raises:
        LibraryError: It is not installed.
    """
    if algo != RECURRENT:
        return ALGORITHMS[algo]
    require_library(algo)
    from .recurrent import RecurrentPPO

    return RecurrentPPO


def policy_class(config: RunConfig, space: gym.Space[Any], seen: SeenParts) -> tuple[type[BasePolicy], dict[str, Any]]:
    """Return the policy class of a configuration for an observation space, and SB3's `policy_kwargs`.

    Args:
        config: The run's configuration.
        space: The observation space, as the environments have it or with the channels of pictures first.
        seen: The parts that actor and critic see.
    """
    options = policy_options(config.policy, on_policy=config.algo not in OFF_POLICY)
    if config.algo == RECURRENT:
        return _recurrent_policy(config, space, seen, options)
    if seen.are_different:
        return ASYMMETRIC[config.algo], options | {"actor_parts": seen.actor, "critic_parts": seen.critic}
    return ALGORITHMS[config.algo].policy_aliases[policy_name(space)], options


def _recurrent_policy(
    config: RunConfig, space: gym.Space[Any], seen: SeenParts, options: dict[str, Any]
) -> tuple[type[BasePolicy], dict[str, Any]]:
    """Return the result of `policy_class`, for a recurrent policy."""
    aliases, lstm = algorithm_class(RECURRENT).policy_aliases, config.recurrent_ppo
    options |= {"lstm_hidden_size": lstm.lstm_hidden_size, "n_lstm_layers": lstm.n_lstm_layers}
    options["enable_critic_lstm"] = lstm.critic_lstm
    if seen.are_different:
        from .recurrent import AsymmetricRecurrentPolicy

        return AsymmetricRecurrentPolicy, options | {"actor_parts": seen.actor, "critic_parts": seen.critic}
    return aliases[policy_name(space).replace("Policy", "LstmPolicy")], options


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
