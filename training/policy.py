"""A trained policy on its own: a checkpoint's actor and observation statistics, numpy in and out."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.common.save_util import load_from_zip_file
from stable_baselines3.sac.policies import SACPolicy

from .config import RunConfig
from .errors import TumbleUserError
from .learner import MODEL_FILE, STATE_FILE, policy_options
from .runs import Run

VARIANCE_FLOOR = 1e-8  # VecNormalize's epsilon, which training used


class PolicyError(TumbleUserError, ValueError):
    """A policy that does not fit the environment it was asked to act in."""


class Policy:
    """What was learned, unchanged, for any environment with the same observations and actions.

    Args:
        config: The run's configuration.
        checkpoint: The checkpoint folder.
        observation_space: Of one environment.
        action_space: Of one environment.

    Raises:
        PolicyError: The spaces are not of the sizes that the policy was trained with.
    """

    def __init__(
        self, config: RunConfig, checkpoint: Path, observation_space: gym.Space[Any], action_space: gym.Space[Any]
    ) -> None:
        kind: type[BasePolicy] = ActorCriticPolicy if config.algo == "ppo" else SACPolicy
        options = policy_options(config.policy, on_policy=config.algo == "ppo")
        self.network = kind(observation_space, action_space, lr_schedule=lambda _: 0.0, **options)
        _, parameters, _ = load_from_zip_file(checkpoint / MODEL_FILE, load_data=False, device="cpu")
        try:
            self.network.load_state_dict(dict(parameters["policy"]))
        except RuntimeError as error:
            sizes = f"{observation_space.shape} observations and {action_space.shape} actions"
            raise PolicyError(f"{checkpoint}: this policy does not fit {sizes}: {error}") from None
        self.network.set_training_mode(False)
        self.step, self._mean, self._scale = _statistics(checkpoint, observation_space)
        self._clip = config.normalize.clip_observations if config.normalize.observations else np.inf

    @classmethod
    def of_run(cls, folder: str | Path, observation_space: gym.Space[Any], action_space: gym.Space[Any]) -> "Policy":
        """Load the newest intact checkpoint of a run folder."""
        run = Run.find(Path(folder))
        return cls(run.config, run.latest(), observation_space, action_space)

    def act(self, observations: np.ndarray, deterministic: bool = True) -> np.ndarray:
        """Return actions (n, act) within the action space for raw observations (n, obs)."""
        seen = np.clip((observations - self._mean) / self._scale, -self._clip, self._clip).astype(np.float32)
        with torch.no_grad():
            actions, _ = self.network.predict(seen, deterministic=deterministic)
        return actions


def _statistics(checkpoint: Path, space: gym.Space[Any]) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the step count, and the observations' mean and deviation, (obs,) each; zeros and ones if unused."""
    state: dict[str, Any] = torch.load(checkpoint / STATE_FILE, weights_only=True, map_location="cpu")
    moments = state["normalizer"].get("observations")
    if moments is None:
        return state["num_timesteps"], np.zeros(space.shape or ()), np.ones(space.shape or ())
    return state["num_timesteps"], moments["mean"].numpy(), np.sqrt(moments["var"].numpy() + VARIANCE_FLOOR)
