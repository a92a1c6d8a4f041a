"""The base of the wrappers here: it finds out which environments have just begun an episode."""

from abc import abstractmethod
from typing import Any, NamedTuple

import torch
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from ...physics.machine.normal_mode import normal_mode
from ..arrays import Array, host, namespace
from ..task.observations import parts_of
from ..task.task import Observation


class Step(NamedTuple):
    """The result of a step of the wrapped environments; each is (num_envs, ...), but for `info`."""

    observation: Observation
    reward: Array
    terminated: Array
    truncated: Array
    info: dict[str, Any]


class StatefulWrapper(VectorWrapper):
    """A wrapper that remembers something of every environment's episode.

    An episode begins in an environment

    - with a `reset`, where its mask is True, or everywhere;
    - under SAME_STEP in the step that ended the one before;
    - under NEXT_STEP in the step after that one, which moves nothing and has no reward.

    Args:
        env: vector environments with dense arrays, torch or numpy, as Tumble's are.

    Raises:
        ValueError: the metadata of `env` does not say how environments are reset.
    """

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env)
        mode = env.metadata.get("autoreset_mode")
        if not isinstance(mode, AutoresetMode):
            raise ValueError(f"metadata['autoreset_mode'] of {env} is {mode!r}; needed is a gymnasium AutoresetMode")
        self.autoreset_mode = mode
        self._finished: Array | None = None  # (num_envs,) bool: under NEXT_STEP these are reset by the next step

    def __del__(self) -> None:
        """Leave the environments open, as Gymnasium 1.4 does; in 1.2 a wrapper that is collected closes them."""

    @normal_mode
    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes, everywhere or where options["reset_mask"] is True."""
        observation, info = self.env.reset(seed=seed, options=options)
        like = next(iter(parts_of(observation).values()))
        no_env = namespace(like).zeros(self.num_envs, dtype=namespace(like).bool, device=like.device)
        mask = (options or {}).get("reset_mask")
        begun = ~no_env if mask is None else in_the_library_of(mask, like)
        self._finished = no_env if self._finished is None else in_the_library_of(self._finished, like) & ~begun
        return self._began(observation, begun), info

    @normal_mode
    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one step in every environment."""
        result = Step(*self.env.step(actions))
        no_env = result.terminated & ~result.terminated
        begun = no_env if self._finished is None else in_the_library_of(self._finished, no_env)
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            self._finished = result.terminated | result.truncated
        return tuple(self._stepped(result, begun))

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method, or read an attribute, of every environment inside; skrl does so for pictures."""
        return self.unwrapped.call(name, *args, **kwargs)  # type: ignore[attr-defined]

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Read an attribute of every environment inside."""
        return self.unwrapped.get_attr(name)  # type: ignore[attr-defined]

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of every environment inside."""
        self.unwrapped.set_attr(name, values)  # type: ignore[attr-defined]

    @property
    def resets_in_the_same_step(self) -> bool:
        """True if the observation of a finished environment is already that of its next episode."""
        return self.autoreset_mode is AutoresetMode.SAME_STEP

    def state_dict(self) -> dict[str, Any]:
        """Return this wrapper's memory; the wrapped environments have a separate `state_dict`."""
        return {"finished": None if self._finished is None else host(self._finished).copy()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off."""
        self._finished = state["finished"]

    @abstractmethod
    def _began(self, observation: Observation, begun: Array) -> Observation:
        """Handle a reset of the environments where `begun` (num_envs,) is True; return the caller's observation."""

    @abstractmethod
    def _stepped(self, step: Step, begun: Array) -> Step:
        """Handle a step that reset the environments where `begun` (num_envs,) is True; return the caller's step."""


def in_the_library_of(array: Any, like: Array) -> Array:
    """Return an array of any library in the library and on the device of `like`."""
    if isinstance(like, torch.Tensor):
        return torch.as_tensor(array, device=like.device)
    return host(array)
