"""Checking actions before anything moves.

Clipping is not done here: as in Gymnasium's v5 tasks the actuators clip their control signal to their range, while a
task's control cost sees the action as it was given.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import torch

from ..arrays import Array, ArrayKind, everywhere, host, row_all

KINDS = (gymnasium.spaces.Box, gymnasium.spaces.Discrete, gymnasium.spaces.MultiDiscrete, gymnasium.spaces.MultiBinary)


class ActionCheck:
    """Converts the actions that a user passes to an array of the batch's kind; errors say why they cannot be used."""

    def __init__(self, num_envs: int, space: gymnasium.Space, kind: ArrayKind, names: Sequence[str] = ()) -> None:
        """Learn from the action space which actions are good.

        Args:
            num_envs: how many environments.
            space: of one environment's actions. In a `Box` of floating-point numbers actions may be any finite numbers;
                in every other space they must lie within the bounds.
            kind: library, precision and device of the checked actions.
            names: of the controls, for messages; none where the components of an action are no controls.

        Raises:
            TypeError: a space of another kind.
        """
        if not isinstance(space, KINDS):
            raise TypeError(f"action space {space}: needed is {', '.join(known.__name__ for known in KINDS)}")
        self._space, self._kind, self._names = space, kind, list(names)
        self._shape = (num_envs, *(space.shape or ()))
        assert space.dtype is not None
        self._floating = space.dtype.kind == "f"
        precision = np.float64 if kind.dtype == kind.xp.float64 else np.float32
        self._numpy_dtype = np.dtype(precision if self._floating else np.int64)
        self._torch_dtype = torch.from_numpy(np.zeros(0, self._numpy_dtype)).dtype
        self._low, self._high = _bounds(space)
        self._host: ActionCheck | None = None
        if not kind.in_numpy and kind.device.type != "cpu":
            self._host = ActionCheck(num_envs, space, ArrayKind.of(kind.dtype, "cpu"), names)

    def many(self, actions: Any, ignored: Array | None = None) -> Array:
        """Check the actions of all environments, torch or numpy (num_envs, ...).

        Args:
            actions: torch on any device, or anything numpy takes.
            ignored: (num_envs,) mask of environments whose actions are neither looked at nor used; such actions become
                zero, or the whole number in the space that is nearest to zero.

        Returns:
            Floating-point numbers in the solver's precision, whole numbers as int64.

        Raises:
            TypeError: they are no array of real numbers, or not whole where the space wants that.
            ValueError: wrong shape; or NaN, infinity or outside of the space, naming the environment and the component.
        """
        if self._host is not None and not (isinstance(actions, torch.Tensor) and actions.device.type != "cpu"):
            skipped = None if ignored is None else host(ignored)
            return self._kind.like(self._host.many(actions, skipped))  # looked at where they are: no wait for a device
        if isinstance(actions, torch.Tensor):
            if actions.is_meta:
                raise TypeError("actions are a tensor on the device 'meta', which has no numbers")
            dtype = actions.dtype
            whole = not (dtype.is_floating_point or dtype.is_complex or dtype is torch.bool)
            self._check_kind(actions.shape, dtype.is_floating_point, whole, dtype, self._shape)
            checked = self._brought(actions)
        else:
            array = _array(actions)
            self._check_kind(array.shape, array.dtype.kind == "f", array.dtype.kind in "iu", array.dtype, self._shape)
            checked = self._converted(array)
            if not self._kind.in_numpy:
                checked = torch.from_numpy(checked).to(self._kind.device)
        if ignored is not None:
            neutral = 0 if self._floating else self._kind.like(np.clip(0, self._low, self._high))
            checked = self._kind.xp.where(ignored.reshape(-1, *[1] * (len(self._shape) - 1)), neutral, checked)
        sound = self._sound(checked)
        if not everywhere(sound):
            env = int(self._kind.xp.nonzero(~row_all(sound.reshape(len(sound), -1)))[0][0])
            wrong = actions[env].detach().cpu() if isinstance(actions, torch.Tensor) else actions[env]
            raise ValueError(self._unsound_message(np.asarray(wrong), f" of environment {env}"))
        return checked

    def one(self, action: Any) -> Array:
        """Check the action of a single environment; return a copy of shape (1, ...).

        Raises:
            TypeError, ValueError: as `many`.
        """
        array = _array(action)
        if array.shape != self._shape[1:] or array.dtype is not self._numpy_dtype:
            kind = array.dtype.kind
            self._check_kind(array.shape, kind == "f", kind in "iu", array.dtype, self._shape[1:])
        checked = self._converted(array)
        if not everywhere(self._sound(checked)):
            raise ValueError(self._unsound_message(array, ""))
        return checked[None] if self._kind.in_numpy else torch.from_numpy(checked[None]).to(self._kind.device)

    def _check_kind(self, shape: Any, floating: bool, whole: bool, dtype: Any, wanted: tuple[int, ...]) -> None:
        """Refuse actions of a shape other than `wanted`, or of a type of number that the space does not have."""
        if shape != wanted:
            inner, of_all = "controls" if self._names else "the action space's shape", len(wanted) == len(self._shape)
            meaning = f"(num_envs, {inner})" if of_all else f"({inner},)"
            if of_all and not shape:  # a TypeError, as of Gymnasium's vector environments
                raise TypeError(f"actions are a single number; needed is an array {wanted}, {meaning}")
            raise ValueError(f"actions have shape {tuple(shape)}; needed is {wanted}, {meaning}")
        if self._floating and not (floating or whole):
            raise TypeError(f"actions have dtype {dtype}; needed are real numbers, such as float32")
        if not self._floating and not whole:
            raise TypeError(f"actions have dtype {dtype}; needed are whole numbers, such as int64, for {self._space}")

    def _brought(self, actions: torch.Tensor) -> Array:
        """Bring a tensor to the batch's library, device and precision; without a copy where it has them already."""
        if actions.requires_grad:
            actions = actions.detach()
        if self._kind.in_numpy:
            if actions.dtype is not self._torch_dtype or actions.device.type != "cpu":
                actions = actions.to("cpu", self._torch_dtype)
            return actions.numpy()
        return actions.to(self._kind.device, self._torch_dtype)

    def _converted(self, array: np.ndarray) -> np.ndarray:
        """Copy into the batch's precision; a number too large for it becomes infinite, which `_sound` then finds."""
        if array.dtype == self._numpy_dtype:
            return array.copy()
        with np.errstate(over="ignore"):
            return array.astype(self._numpy_dtype)

    def _sound(self, checked: Array) -> Array:
        """Return a mask, of the shape of the actions, that is True where a number may be used."""
        if self._floating:
            return np.isfinite(checked) if isinstance(checked, np.ndarray) else torch.isfinite(checked)
        low, high = (
            bound if isinstance(checked, np.ndarray) else torch.as_tensor(bound, device=checked.device)
            for bound in (self._low, self._high)
        )
        return (checked >= low) & (checked <= high)

    def _unsound_message(self, action: np.ndarray, whose: str) -> str:
        """The message for an action (...) of one environment that cannot be used."""
        if not self._floating:
            return f"the action{whose} is {action.tolist()}, which is not in {self._space}"
        bad = ~np.isfinite(self._converted(action))
        component = tuple(int(i) for i in np.argwhere(bad)[0])
        label = ", ".join(map(str, component))
        if self._names:
            label += f" ({self._names[component[0]]!r})"
        bits = 8 * self._numpy_dtype.itemsize
        return (
            f"the action{whose} has {float(action[component])} in component {label}; "
            f"actions must be finite in {bits}-bit precision"
        )


def _array(actions: Any) -> np.ndarray:
    """Return actions as an array.

    Raises:
        TypeError: numpy cannot make an array of them, as of lists of unequal lengths.
    """
    try:
        return np.asarray(actions)
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        raise TypeError(f"actions are no array of numbers: {str(error).splitlines()[0]}") from error


def _bounds(space: gymnasium.Space) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest whole numbers in a space, each of its shape; unused for a float Box."""
    if isinstance(space, gymnasium.spaces.Discrete):
        least, count = np.asarray(space.start, np.int64), np.asarray(space.n, np.int64)
    elif isinstance(space, gymnasium.spaces.MultiDiscrete):
        least, count = space.start.astype(np.int64), space.nvec.astype(np.int64)
    elif isinstance(space, gymnasium.spaces.Box) and space.dtype.kind in "iu":
        return space.low.astype(np.int64), space.high.astype(np.int64)
    else:
        least = np.zeros(space.shape or (), np.int64)
        count = np.full_like(least, 2)
    return least, least + count - 1
