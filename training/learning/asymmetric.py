"""Observations of which the actor sees some parts and the critic others, and Stable-Baselines3's policies for them.

A task whose observation is a `Dict` with the parts `policy` and `critic`, as robot-learning libraries call them, trains
an actor that sees only `policy`, the robot's measurements, and a critic that sees `critic`, which may hold
whatever the simulator knows. `policy.actor_parts` and `policy.critic_parts` of a configuration choose other parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import torch
from stable_baselines3.common.policies import ActorCriticPolicy, MultiInputActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, CombinedExtractor, MlpExtractor
from stable_baselines3.sac.policies import MultiInputPolicy as SACPolicy
from stable_baselines3.td3.policies import MultiInputPolicy as TD3Policy

from ..config import PolicyConfig
from ..spaces import SpaceError, some_parts

ACTOR_PART, CRITIC_PART = "policy", "critic"


@dataclass(frozen=True)
class SeenParts:
    """The parts of an observation that each network sees, by name; `("",)` is an observation that is one array."""

    actor: tuple[str, ...]
    critic: tuple[str, ...]

    @property
    def are_different(self) -> bool:
        """True if the two networks see different parts, and so need a policy class of this module."""
        return set(self.actor) != set(self.critic)


def seen_parts(names: Sequence[str], config: PolicyConfig) -> SeenParts:
    """Return the parts that actor and critic see of an observation with these parts.

    Both see all of it, unless it has the parts `policy` and `critic` or the configuration names others.

    Args:
        names: The parts of the training observation; `[""]` for an observation that is one array.
        config: The table `policy` of the configuration.

    Raises:
        SpaceError: The configuration names a part that is not there, or there is a part besides `policy` and `critic`
            and the configuration does not say who sees it.
    """
    chosen = {"actor_parts": config.actor_parts, "critic_parts": config.critic_parts}
    for key, parts in chosen.items():
        if parts and list(names) == [""]:
            raise SpaceError(f"policy.{key} names parts, but the task's observation is one array; remove the setting")
        unknown = [part for part in parts if part not in names]
        if unknown:
            raise SpaceError(f"policy.{key}: the observation has no part {unknown[0]!r}; it has {', '.join(names)}")
    told_apart = ACTOR_PART in names and CRITIC_PART in names
    if told_apart and not any(chosen.values()) and len(names) > 2:
        others = ", ".join(repr(name) for name in names if name not in (ACTOR_PART, CRITIC_PART))
        raise SpaceError(
            f"the observation has the parts {ACTOR_PART!r}, {CRITIC_PART!r} and also {others}: name the parts that "
            "each network sees by policy.actor_parts and policy.critic_parts, such as "
            f"--set 'policy.actor_parts=[\"{ACTOR_PART}\"]'"
        )
    defaults = ((ACTOR_PART,), (CRITIC_PART,)) if told_apart else (tuple(names), tuple(names))
    return SeenParts(config.actor_parts or defaults[0], config.critic_parts or defaults[1])


class PartsExtractor(CombinedExtractor):
    """Features of some parts of an observation: vectors as they are, pictures through convolutions, side by side.

    Args:
        space: The whole observation's space.
        parts: The names of the parts that are seen.
    """

    def __init__(self, space: gym.spaces.Dict, parts: tuple[str, ...]) -> None:
        super().__init__(some_parts(space, parts))


class TwoExtractors(ActorCriticPolicy):
    """The part that asymmetric actor-critic policies share: an extractor for the actor and one for the critic.

    To act, an observation needs only the actor's parts.

    Args:
        actor_parts: The names of the parts that the actor sees.
        critic_parts: The names of the parts that the critic sees.
        *args: Those of the policy class, whose other arguments may be given too.
        **kwargs: As `args`.
    """

    def __init__(self, *args: Any, actor_parts: tuple[str, ...], critic_parts: tuple[str, ...], **kwargs: Any) -> None:
        self.actor_parts, self.critic_parts = actor_parts, critic_parts
        super().__init__(*args, **(kwargs | {"share_features_extractor": False}))

    def make_features_extractor(self) -> BaseFeaturesExtractor:
        """Return the actor's extractor at the first call, and the critic's at the second."""
        is_critics, space = "features_extractor" in self._modules, self.observation_space
        assert isinstance(space, gym.spaces.Dict)
        return PartsExtractor(space, self.critic_parts if is_critics else self.actor_parts)


class AsymmetricActorCriticPolicy(TwoExtractors, MultiInputActorCriticPolicy):
    """PPO's policy with an actor and a critic that see different parts of the observation."""

    def _build_mlp_extractor(self) -> None:
        """Make the hidden layers; SB3's own class takes one input width for both networks."""
        layers: dict[str, Any] = dict(self.net_arch)  # type: ignore[arg-type]
        options: dict[str, Any] = {"activation_fn": self.activation_fn, "device": self.device}
        critic_width = self.vf_features_extractor.features_dim
        critic = MlpExtractor(critic_width, {"vf": layers["vf"]}, **options)
        self.mlp_extractor = MlpExtractor(self.features_dim, {"pi": layers["pi"]}, **options)
        self.mlp_extractor.value_net, self.mlp_extractor.latent_dim_vf = critic.value_net, critic.latent_dim_vf


class _OffPolicyParts:
    """The common part of SAC's and TD3's asymmetric policies: each network gets a separate extractor."""

    observation_space: gym.spaces.Dict

    def __init__(self, *args: Any, actor_parts: tuple[str, ...], critic_parts: tuple[str, ...], **kwargs: Any) -> None:
        self.actor_parts, self.critic_parts = actor_parts, critic_parts
        super().__init__(*args, **kwargs)

    def make_actor(self, features_extractor: BaseFeaturesExtractor | None = None) -> torch.nn.Module:
        """Return an actor, which sees the actor's parts."""
        return super().make_actor(PartsExtractor(self.observation_space, self.actor_parts))  # type: ignore[misc]

    def make_critic(self, features_extractor: BaseFeaturesExtractor | None = None) -> torch.nn.Module:
        """Return a critic, which sees the critic's parts."""
        return super().make_critic(PartsExtractor(self.observation_space, self.critic_parts))  # type: ignore[misc]


class AsymmetricSACPolicy(_OffPolicyParts, SACPolicy):  # type: ignore[misc]
    """SAC's policy with an actor and critics that see different parts of the observation."""


class AsymmetricTD3Policy(_OffPolicyParts, TD3Policy):  # type: ignore[misc]
    """TD3's policy with an actor and critics that see different parts of the observation."""
