"""A trained policy on its own: a checkpoint's actor and observation statistics, numpy in and out."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.save_util import load_from_zip_file

from ..envs.observations import parts_of
from .checkpoint import unusable
from .config import RunConfig
from .errors import TumbleUserError
from .learner import MODEL_FILE, STATE_FILE, policy_options
from .runs import Run
from .spaces import channels_first, describe, normalized_parts, policy_name

ALGORITHMS = {"ppo": PPO, "sac": SAC, "td3": TD3}
VARIANCE_FLOOR = 1e-8  # VecNormalize's epsilon, which training used


class PolicyError(TumbleUserError, ValueError):
    """A policy that does not fit the environment it was asked to act in."""


class Policy:
    """The learned policy, for any environment with the same observations and actions.

    Args:
        config: The run's configuration.
        checkpoint: The checkpoint folder.
        observation_space: Of one environment.
        action_space: Of one environment.

    Raises:
        PolicyError: The spaces are not of the parts and sizes that the policy was trained with.
        CheckpointError: A file cannot be read, or holds something else.
    """

    def __init__(
        self, config: RunConfig, checkpoint: Path, observation_space: gym.Space[Any], action_space: gym.Space[Any]
    ) -> None:
        aliases: dict[str, type[BasePolicy]] = ALGORITHMS[config.algo].policy_aliases  # type: ignore[attr-defined]
        kind, seen = aliases[policy_name(observation_space)], channels_first(observation_space)
        options = policy_options(config.policy, on_policy=config.algo == "ppo")
        self.network = kind(seen, action_space, lr_schedule=lambda _: 0.0, **options)
        weights, state = read_policy(checkpoint)
        with unusable(checkpoint, "it cannot be loaded"):
            self.step, self._statistics = _statistics(state, observation_space)
        sizes = f"{describe(observation_space)} observations and {describe(action_space)} actions"
        if set(self._statistics) not in (set(), set(normalized_parts(observation_space))):
            known = ", ".join(self._statistics)
            raise PolicyError(f"{checkpoint}: this policy does not fit {sizes}: it knows the parts {known}")
        try:
            self.network.load_state_dict(weights)
        except RuntimeError as error:
            raise PolicyError(f"{checkpoint}: this policy does not fit {sizes}: {error}") from None
        self.network.set_training_mode(False)
        self._clip = config.normalize.clip_observations

    @classmethod
    def of_run(cls, folder: str | Path, observation_space: gym.Space[Any], action_space: gym.Space[Any]) -> "Policy":
        """Load the newest intact checkpoint of a run folder."""
        run = Run.find(Path(folder))
        return cls(run.config, newest_policy(run), observation_space, action_space)

    def act(self, observations: np.ndarray | dict[str, np.ndarray], deterministic: bool = True) -> np.ndarray:
        """Return actions (n, ...) within the action space for raw observations (n, ...), one or several by name."""
        parts = {name: self._normalized(name, part) for name, part in parts_of(observations).items()}
        seen = parts if isinstance(observations, dict) else parts[""]
        with torch.no_grad():
            actions, _ = self.network.predict(seen, deterministic=deterministic)
        return actions

    def _normalized(self, name: str, part: np.ndarray) -> np.ndarray:
        """Normalise a part (n, ...) of the observations as training did; bytes stay as they are: they are pictures."""
        if name in self._statistics:
            mean, scale = self._statistics[name]
            part = np.clip((part - mean) / scale, -self._clip, self._clip)
        return part if part.dtype == np.uint8 else part.astype(np.float32)


def newest_policy(run: Run) -> Path:
    """Return the newest checkpoint from which a policy can be read, with a warning for each newer one.

    Raises:
        CheckpointError: There is none.
    """

    def readable(checkpoint: Path) -> Path:
        read_policy(checkpoint)
        return checkpoint

    return run.load_latest(readable)


def read_policy(checkpoint: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the weights of the networks by name, and what `Learner.state_dict` gave.

    Raises:
        CheckpointError: A file cannot be read, or holds something else. Nothing in it is run as code.
    """
    with unusable(checkpoint, "it cannot be loaded"):
        _, parameters, _ = load_from_zip_file(checkpoint / MODEL_FILE, load_data=False, device="cpu")
        weights = dict(parameters["policy"])
        state: dict[str, Any] = torch.load(checkpoint / STATE_FILE, weights_only=True, map_location="cpu")
    return weights, state


def _statistics(state: dict[str, Any], space: gym.Space[Any]) -> tuple[int, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Return the step count, and mean and deviation of each part that training normalised."""
    moments = state["normalizer"].get("observations", {})
    if not isinstance(space, gym.spaces.Dict):
        moments = {"": moments} if moments else {}
    scales = {name: np.sqrt(one["var"].numpy() + VARIANCE_FLOOR) for name, one in moments.items()}
    return state["num_timesteps"], {name: (moments[name]["mean"].numpy(), scale) for name, scale in scales.items()}
