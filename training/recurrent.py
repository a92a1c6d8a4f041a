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
        width, lstm = self.vf_features_extractor.features_dim, self.lstm_actor  # the base class takes the actor's width
        if self.lstm_critic is not None:
            self.lstm_critic = nn.LSTM(width, lstm.hidden_size, num_layers=lstm.num_layers)
        else:
            self.critic = nn.Linear(width, lstm.hidden_size)
        before: Any = self.optimizer
        self.optimizer = self.optimizer_class(self.parameters(), lr=before.defaults["lr"], **self.optimizer_kwargs)
