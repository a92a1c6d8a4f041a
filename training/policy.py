"""A trained policy without its learner: a checkpoint's actor and observation statistics, numpy in and out."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.save_util import load_from_zip_file

from ..physics.solver.user.state_file import read_tensors
from .checkpoint import unusable
from .config import RunConfig
from .errors import TumbleUserError
from .learning.asymmetric import SeenParts, seen_parts
from .learning.learner import MODEL_FILE, STATE_FILE, check_model
from .learning.networks import is_critics, policy_class
from .runs import Run
from .spaces import channels_first, describe, some_parts

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

    Attributes:
        step: Environment steps of training.
        parts: The parts of the observation that the actor sees; `("",)` if the observation is one array. Nothing else
            is needed to act: an environment may leave out the critic's parts, and if the actor sees only one part,
            that part may be the whole observation.
        observation_space: The space of the actor's parts.
        network: SB3's policy; its critics are not loaded.
        statistics: Mean and deviation of each part that is normalised, by name; `clip` bounds the normalised values.

    A recurrent policy remembers the observations of the episodes that it plays, one in each row of the observations.
    """

    def __init__(
        self, config: RunConfig, checkpoint: Path, observation_space: gym.Space[Any], action_space: gym.Space[Any]
    ) -> None:
        weights, state = read_policy(checkpoint)
        with unusable(checkpoint, "it cannot be loaded"):
            trained = state["last_obs"]
            self.parts = seen_parts(list(trained) if isinstance(trained, dict) else [""], config.policy).actor
            self.step, self.statistics = state["num_timesteps"], _statistics(state, self.parts)
        misfit = (
            f"{checkpoint}: this policy does not fit {describe(observation_space)} observations and "
            f"{describe(action_space)} actions"
        )
        shown = _actors_space(observation_space, self.parts)
        if shown is None:
            raise PolicyError(f"{misfit}: it sees {', '.join(self.parts) if self.parts != ('',) else 'one array'}")
        self.observation_space = shown
        kind, options = policy_class(config, shown, SeenParts(self.parts, self.parts))
        options["optimizer_class"] = _NoOptimizer
        self.network = kind(channels_first(shown), action_space, lr_schedule=lambda _: 0.0, **options)
        try:
            _load_actor(self.network, weights)
        except RuntimeError as error:
            raise PolicyError(f"{misfit}: {error}") from None
        self.network.set_training_mode(False)
        self.clip = config.normalize.clip_observations
        self._memory: tuple[np.ndarray, ...] | None = None  # of an LSTM: hidden and cell, (layers, n, size) each

    @classmethod
    def of_run(cls, folder: str | Path, observation_space: gym.Space[Any], action_space: gym.Space[Any]) -> "Policy":
        """Load the newest intact checkpoint of a run folder."""
        run = Run.find(Path(folder))
        return cls(run.config, newest_policy(run), observation_space, action_space)

    def act(
        self,
        observations: np.ndarray | dict[str, np.ndarray],
        deterministic: bool = True,
        starts: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return actions (n, ...) within the action space for raw observations.

        Args:
            observations: One array (n, ...), or several by name.
            deterministic: Whether to take the most likely action, or to sample.
            starts: Booleans (n,): which observations begin an episode; there a recurrent policy forgets. None: none
                does, unless it is the first call or the number of observations has changed.
        """
        shown = self.seen(observations)
        parts = {name: self._normalized(name, part) for name, part in shown.items()}
        seen = parts if self.parts != ("",) else parts[""]
        rows = len(next(iter(parts.values())))
        if self._memory is not None and self._memory[0].shape[1] != rows:
            self._memory = None
        with torch.no_grad():
            actions, self._memory = self.network.predict(seen, self._memory, starts, deterministic)
        return actions

    def seen(self, observations: np.ndarray | dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the parts (n, ...) of raw observations that the actor sees, by name."""
        shown = observations if isinstance(observations, dict) else {self.parts[0]: observations}
        return {name: shown[name] for name in self.parts}

    def _normalized(self, name: str, part: np.ndarray) -> np.ndarray:
        """Normalise a part (n, ...) of the observations as training did; bytes stay as they are: they are pictures."""
        if name in self.statistics:
            mean, scale = self.statistics[name]
            part = np.clip((part - mean) / scale, -self.clip, self.clip)
        return part if part.dtype == np.uint8 else part.astype(np.float32)


class _NoOptimizer:
    """The optimizer of a network that does not learn; torch's first one of a process imports its compiler for 2 s."""

    def __init__(self, parameters: Any, **options: Any) -> None:
        pass


def newest_policy(run: Run) -> Path:
    """Return the newest checkpoint from which a policy can be read, with a warning for each newer one.

    Raises:
        CheckpointError: No checkpoint exists.
    """

    def readable(checkpoint: Path) -> Path:
        read_policy(checkpoint)
        return checkpoint

    return run.load_latest(readable)


def read_policy(checkpoint: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the weights of the networks by name, and the result of `Learner.state_dict`.

    Raises:
        CheckpointError: A file cannot be read, or holds something else. Nothing in it is run as code.
    """
    with unusable(checkpoint, "it cannot be loaded"):
        check_model(checkpoint / MODEL_FILE)
        _, parameters, _ = load_from_zip_file(checkpoint / MODEL_FILE, load_data=False, device="cpu")
        weights = dict(parameters["policy"])
        state: dict[str, Any] = read_tensors(checkpoint / STATE_FILE)
    return weights, state


def _statistics(state: dict[str, Any], parts: tuple[str, ...]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return mean and deviation of each of the actor's parts that training normalised."""
    moments = state["normalizer"].get("observations", {})
    if parts == ("",):
        moments = {"": moments} if moments else {}
    used = {name: moments[name] for name in parts if name in moments}
    return {name: (one["mean"].numpy(), np.sqrt(one["var"].numpy() + VARIANCE_FLOOR)) for name, one in used.items()}


def _actors_space(space: gym.Space[Any], parts: tuple[str, ...]) -> gym.Space[Any] | None:
    """Return the part of an observation space that the actor sees; None if the space lacks it."""
    if parts == ("",):
        return None if isinstance(space, gym.spaces.Dict) else space
    if isinstance(space, gym.spaces.Dict):
        return some_parts(space, parts) if set(parts) <= set(space.spaces) else None
    return gym.spaces.Dict({parts[0]: space}) if len(parts) == 1 else None


def _load_actor(network: BasePolicy, weights: dict[str, torch.Tensor]) -> None:
    """Load the weights of a policy's actor; weights of critics, which may have seen other parts, are left as they are.

    Raises:
        RuntimeError: A weight is missing, is not known, or has another shape.
    """
    outcome = network.load_state_dict({k: v for k, v in weights.items() if not is_critics(k)}, strict=False)
    wrong = [name for name in (*outcome.missing_keys, *outcome.unexpected_keys) if not is_critics(name)]
    if wrong:
        raise RuntimeError(f"the networks differ in {', '.join(wrong)}")
