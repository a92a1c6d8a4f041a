"""Recurrent PPO: sb3-contrib's algorithm, whose actor and critic have an LSTM before their hidden layers.

This module imports sb3-contrib, which is optional; `networks.py` imports it only for a run that needs it.
"""

from typing import Any

from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.policies import RecurrentMultiInputActorCriticPolicy
from torch import nn

from .asymmetric import TwoExtractors

__all__ = ["AsymmetricRecurrentPolicy", "RecurrentPPO"]


class AsymmetricRecurrentPolicy(TwoExtractors, RecurrentMultiInputActorCriticPolicy):
    """The recurrent policy with an actor and a critic that see different parts of the observation."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        policy: Any = self
        width, lstm = (
            policy.vf_features_extractor.features_dim,
            policy.lstm_actor,
        )  # SB3's class takes the actor's width
        if policy.lstm_critic is not None:
            policy.lstm_critic = nn.LSTM(width, lstm.hidden_size, num_layers=lstm.num_layers)
        else:
            policy.critic = nn.Linear(width, lstm.hidden_size)
        rate = policy.optimizer.defaults["lr"]
        policy.optimizer = self.optimizer_class(self.parameters(), lr=rate, **self.optimizer_kwargs)  # type: ignore[call-arg]
