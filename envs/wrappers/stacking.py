"""A wrapper that shows the last observations side by side."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers.utils import create_zero_array

from ..arguments import whole
from ..arrays import Array, copy, host, namespace, spread_mask
from ..task.observations import each, parts_of
from ..task.task import Observation
from .stateful import StatefulWrapper, Step, in_the_library_of


class FrameStackObservation(StatefulWrapper):
    """Shows the last `stack_size` observations of the episode, the newest last: (num_envs, stack_size, ...).

    As Gymnasium's wrapper of the same name does for one environment. Where an observation is several arrays by name,
    each is stacked. Under SAME_STEP `final_obs` holds the last observations of the episode that ended.

    Args:
        env: the vector environments.
        stack_size: how many observations.
        padding_type: padding before an episode's first observation: "reset" (that observation again), "zero", or an
            observation of one environment.

    Raises:
        TypeError, ValueError: stack_size is no whole number above zero, or there is no such padding.
    """

    def __init__(self, env: VectorEnv, stack_size: int, *, padding_type: Any = "reset") -> None:
        """Begin with empty stacks."""
        super().__init__(env)
        self.stack_size = whole("stack_size", stack_size)
        self._padding = _padding(padding_type, env.single_observation_space)
        self._stacks: dict[str, Array] = {}  # (num_envs, stack_size, ...) by the name of the part
        self.single_observation_space = batch_space(env.single_observation_space, self.stack_size)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def _began(self, observation: Observation, begun: Array) -> Observation:
        """Fill the stacks of the environments that were reset; the others' stay."""
        fresh = self._filled(observation)
        self._stacks = {name: self._either(begun, stack, name) for name, stack in fresh.items()}
        return self._shown(observation)

    def _stepped(self, step: Step, begun: Array) -> Step:
        """Push the observations of all environments on their stacks; begin new stacks where an episode began."""
        info = step.info
        if "final_obs" in info:
            mask = info["_final_obs"]
            ended = {name: self._pushed(name, part) for name, part in parts_of(info["final_obs"]).items()}
            ended = {name: namespace(x).where(spread_mask(mask, x), x, 0) for name, x in ended.items()}
            info = {**info, "final_obs": ended if isinstance(info["final_obs"], dict) else ended[""]}
            begun = begun | mask
        fresh = self._filled(step.observation)
        pushed = {name: self._pushed(name, part) for name, part in parts_of(step.observation).items()}
        self._stacks = {
            name: namespace(stack).where(spread_mask(begun, stack), fresh[name], stack)
            for name, stack in pushed.items()
        }
        return step._replace(observation=self._shown(step.observation), info=info)

    def _filled(self, observation: Observation) -> dict[str, Array]:
        """Stacks of episodes that begin with these observations."""
        stacks = {}
        for name, part in parts_of(observation).items():
            xp, padding = namespace(part), part[:, None]
            if self._padding is not None:
                value = xp.astype(in_the_library_of(np.asarray(self._padding[name]), part), part.dtype)
                padding = xp.broadcast_to(value[None, None], padding.shape)
            stacks[name] = xp.concat([padding] * (self.stack_size - 1) + [part[:, None]], axis=1)
        return stacks

    def _pushed(self, name: str, part: Array) -> Array:
        """The stack of a part with its newest observation, (num_envs, stack_size, ...)."""
        stack = in_the_library_of(self._stacks[name], part)
        return namespace(part).concat((stack[:, 1:], part[:, None]), axis=1)

    def _either(self, begun: Array, fresh: Array, name: str) -> Array:
        """Return the fresh stack where `begun` (num_envs,) is True, elsewhere the kept one, if there is one."""
        if name not in self._stacks:
            return fresh
        stack = in_the_library_of(self._stacks[name], fresh)
        return namespace(fresh).where(spread_mask(begun, fresh), fresh, stack)

    def _shown(self, observation: Observation) -> Observation:
        """Return copies of the stacks, built like the observation: the caller may write to them."""
        stacks = {name: copy(stack) for name, stack in self._stacks.items()}
        return stacks if isinstance(observation, dict) else stacks[""]

    def state_dict(self) -> dict[str, Any]:
        """The stacks, as plain arrays."""
        return super().state_dict() | {"stacks": {name: host(stack).copy() for name, stack in self._stacks.items()}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off."""
        super().load_state_dict(state)
        self._stacks = {name: np.array(stack) for name, stack in state["stacks"].items()}


def _padding(kind: Any, space: gymnasium.Space) -> dict[str, Any] | None:
    """Return the padding before an episode's first observation, by the name of the part; None for that one again.

    Raises:
        ValueError: no such padding.
    """
    if isinstance(kind, str):
        if kind not in ("reset", "zero"):
            raise ValueError(f"padding_type={kind!r}: there is 'reset', 'zero', or an observation of one environment")
        if kind == "reset":
            return None
        return parts_of(create_zero_array(space))
    first = each(lambda part: host(part), kind)
    if first not in space:
        raise ValueError(f"padding_type is {kind!r}, which is no observation of one environment, {space}")
    return parts_of(first)
