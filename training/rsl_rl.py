"""The bridge to rsl-rl: a Tumble vector environment seen as rsl-rl's `VecEnv` (version 5).

Both speak torch, so that nothing is copied: the runner gets the solver's tensors. Written out are
the few conventions in which they differ:

| rsl-rl | here |
|---|---|
| observations are a TensorDict of groups | one array is the group "policy"; several are groups by their names |
| actions have no bounds | they are clipped to the action space, as Stable-Baselines3 does |
| `dones` and `extras["time_outs"]` | terminated or truncated; truncated and not terminated |
| the observation of a finished environment | that of its next episode, as SAME_STEP has it |
| `extras["log"]` | the mean over all environments of every number in the task's infos, such as its reward terms |
| `episode_length_buf`, which the runner may set | `episode_lengths` of the vector environment |

At a time limit rsl-rl adds the value of the observation before the last step; the one after it is in
`extras["final_obs"]` for algorithms that want to be exact.
"""

from typing import Any

import gymnasium as gym
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from rsl_rl.env import VecEnv
from tensordict import TensorDict

from ..envs.arguments import require_vector
from ..envs.task.observations import parts_of


class RslRlVecEnv(VecEnv):
    """A Tumble vector environment under autoreset mode SAME_STEP with torch output, as rsl-rl's runners want it.

    Attributes:
        envs: the vector environment.
        num_envs: how many environments.
        num_actions: numbers in one environment's action.
        device: where all tensors lie, a `torch.device`; give it to the runner as `device=str(env.device)`.
        cfg: the task, a dataclass of its options, as which rsl-rl logs it.

    Args:
        envs: The vector environment, or a wrapper around it, such as those in `tumble.wrappers`.
        clip_actions: Whether actions are brought within the bounds of the action space before they are taken.

    Raises:
        TypeError: This is no vector environment.
        ValueError: The environments have numpy output, reset finished environments otherwise than in the same step, or
            have actions that are not a row of real numbers.
    """

    def __init__(self, envs: VectorEnv, *, clip_actions: bool = True) -> None:
        _check(envs)
        self.envs = envs
        simulation: Any = envs.unwrapped
        self.simulation = simulation
        self.num_envs = envs.num_envs
        self.device: torch.device = simulation.device
        space: Any = envs.single_action_space
        (self.num_actions,) = space.shape
        self._bounds = [torch.as_tensor(bound, device=self.device) for bound in (space.low, space.high)]
        self._clip = clip_actions
        self.cfg = simulation.task
        self._observations: TensorDict | None = None

    # -- the interface of rsl-rl --------------------------------------------------------------------------------------

    @property
    def unwrapped(self) -> "RslRlVecEnv":
        """The bridge itself: there is nothing else that rsl-rl could use."""
        return self

    @property
    def step_dt(self) -> float:
        """Seconds between two steps."""
        return self.simulation.task.dt

    @property
    def max_episode_length(self) -> int:
        """After how many steps an episode is truncated.

        Raises:
            ValueError: never; make the environments with a limit.
        """
        limit = self.simulation.max_episode_steps
        if limit is None:
            raise ValueError("these environments have no time limit: make them with max_episode_steps=...")
        return limit

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps that the running episodes have taken, (num_envs,) int64.

        Assigned numbers count from now on: the runner draws them at random, so that not all episodes end together.
        """
        return self.simulation.episode_lengths

    @episode_length_buf.setter
    def episode_length_buf(self, steps: torch.Tensor) -> None:
        if self._observations is None:
            self.reset()  # which would begin to count at zero
        self.simulation.episode_lengths = steps

    def get_observations(self) -> TensorDict:
        """Return the present observations, each group (num_envs, ...); begins episodes if none has begun."""
        if self._observations is None:
            return self.reset()[0]
        return self._observations

    def reset(self, seed: int | None = None) -> tuple[TensorDict, dict[str, Any]]:
        """Begin new episodes everywhere.

        Args:
            seed: environment i gets the seed `seed` + i; None: goes on with the seeds it has.

        Returns:
            The observations, each group (num_envs, ...); an empty dictionary.
        """
        with torch.inference_mode(False):
            observations, _ = self.envs.reset(seed=seed)
            self._observations = self._groups(observations)
        return self._observations, {}

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Take one step in every environment.

        Args:
            actions: (num_envs, num_actions).

        Returns:
            Observations, each group (num_envs, ...); rewards (num_envs,) float32; dones (num_envs,) int64; and extras:
            "time_outs" (num_envs,) bool, "log" with a number for each of the task's infos, and where an episode ended
            "final_obs", groups like the observations with zeros where none did.
        """
        # The runner steps in inference mode. The environments' tensors must not be created there: torch would refuse to
        # change it later, outside.
        with torch.inference_mode(False):
            if self._clip:
                actions = actions.clamp(*self._bounds)
            observations, rewards, terminated, truncated, info = self.envs.step(actions)
            self._observations = self._groups(observations)
            extras: dict[str, Any] = {"time_outs": truncated & ~terminated, "log": _means(info)}
            if "final_obs" in info:
                extras["final_obs"] = self._groups(info["final_obs"])
            return self._observations, rewards.float(), (terminated | truncated).long(), extras

    def close(self) -> None:
        """Close the vector environment."""
        self.envs.close()

    def _groups(self, observations: Any) -> TensorDict:
        """Name the groups; real numbers become float32, which rsl-rl's networks are made of."""
        groups = {name or "policy": _single(part) for name, part in parts_of(observations).items()}
        return TensorDict(groups, batch_size=[self.num_envs], device=self.device)


def _check(envs: VectorEnv) -> None:
    """Refuse environments that rsl-rl cannot use; the message says how to make others."""
    require_vector(envs, "RslRlVecEnv")
    mode = envs.metadata.get("autoreset_mode")
    if mode is not AutoresetMode.SAME_STEP:
        raise ValueError(
            f"rsl-rl resets finished environments in the same step, these have {mode}: make them with "
            "autoreset_mode='SAME_STEP'"
        )
    if not envs.metadata.get("torch"):
        raise ValueError(
            "rsl-rl needs torch tensors, these environments have numpy output: make them with output='torch'"
        )
    space = envs.single_action_space
    if not isinstance(space, gym.spaces.Box) or space.dtype.kind != "f" or len(space.shape) != 1:
        raise ValueError(f"rsl-rl draws actions as a row of real numbers, a Box (n,) of floats; these have {space}")


def _single(part: torch.Tensor) -> torch.Tensor:
    """The same numbers in single precision; bytes as they are."""
    return part.float() if part.is_floating_point() else part


def _means(info: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The mean over all environments of every real number in a step's info, by its key."""
    numbers = info
    if "final_info" in info:  # the info of episodes that ended; the rest of `info` is of the next ones
        ended, last = info["_final_info"], info["final_info"]
        numbers = {key: torch.where(ended, value, info.get(key, 0)) for key, value in last.items() if value.ndim == 1}
    return {
        f"Task/{key}": value.mean()
        for key, value in numbers.items()
        if isinstance(value, torch.Tensor) and value.ndim == 1 and value.is_floating_point()
    }
