"""Checking actions before anything moves.

Clipping is not done here: as in Gymnasium's v5 tasks the actuators clip their control signal to their range, while a
task's control cost sees the action as it was given.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from .arrays import Array, every, everywhere, indices, where


class ActionCheck:
    """Turns what a user passes as actions into an array of the wanted kind, or says what is wrong with it."""

    def __init__(
        self, num_envs: int, names: Sequence[str], dtype: torch.dtype, device: torch.device, *, numpy: bool
    ) -> None:
        """Remember what good actions are: `names` are the actuators', one for each component."""
        self._numpy = numpy
        self._shape = (num_envs, len(names))
        self._names, self._dtype, self._device = list(names), dtype, device
        self._numpy_dtype = np.float64 if dtype == torch.float64 else np.float32

    def many(self, actions: Any, ignored: Array | None = None) -> Array:
        """Check the actions of all environments, torch or numpy (num_envs, nu); returns them in the solver's precision.

        Args:
            actions: torch on any device, or anything numpy takes.
            ignored: (num_envs,) mask of environments whose actions are neither looked at nor used; they become zeros.

        Raises:
            TypeError: the numbers are not floating point.
            ValueError: wrong shape, or NaN or infinity; the message names the environment and the component.
        """
        if isinstance(actions, torch.Tensor):
            self._check_kind(actions.shape, actions.dtype.is_floating_point, actions.dtype, self._shape)
            checked: Array = self._brought(actions)
        else:
            array = np.asarray(actions)
            self._check_kind(array.shape, array.dtype.kind == "f", array.dtype, self._shape)
            converted = self._converted(array)
            checked = converted if self._numpy else torch.from_numpy(converted).to(self._device)
        if ignored is not None:
            checked = where(ignored[:, None], 0, checked)
        sound = np.isfinite(checked) if self._numpy else torch.isfinite(checked)
        if not everywhere(sound):
            env = int(indices(~every(sound))[0])
            component = int(indices(~sound[env])[0])
            raise ValueError(self._not_finite(float(actions[env][component]), component, f" of environment {env}"))
        return checked

    def one(self, action: Any) -> np.ndarray:
        """Check the action of a single environment, (nu,); returns a (1, nu) array of our own.

        Raises:
            TypeError, ValueError: as `many`.
        """
        array = np.asarray(action)
        self._check_kind(array.shape, array.dtype.kind == "f", array.dtype, self._shape[1:])
        checked = self._converted(array)
        if not everywhere(np.isfinite(checked)):
            component = int(np.flatnonzero(~np.isfinite(checked))[0])
            raise ValueError(self._not_finite(float(array[component]), component, ""))
        return checked[None]

    def _check_kind(self, shape: tuple[int, ...], floating: bool, dtype: Any, wanted: tuple[int, ...]) -> None:
        """Refuse wrong shapes and numbers that are not floating point."""
        if shape != wanted:
            meaning = "(num_envs, actuators)" if len(wanted) == 2 else "(actuators,)"
            raise ValueError(f"actions have shape {tuple(shape)}; needed is {wanted}, {meaning}")
        if not floating:
            raise TypeError(f"actions have dtype {dtype}; needed is floating point, such as float32")

    def _brought(self, actions: torch.Tensor) -> Array:
        """Bring a tensor to the solver's precision and device, and to our array kind; a view where it is there."""
        if actions.requires_grad:
            actions = actions.detach()
        if actions.dtype is not self._dtype or actions.device != self._device:
            actions = actions.to(self._device, self._dtype)
        return actions.numpy() if self._numpy else actions

    def _converted(self, array: np.ndarray) -> np.ndarray:
        """Copy into the solver's precision; a number too large for it becomes infinite, and is found as such."""
        if array.dtype == self._numpy_dtype:
            return array.copy()
        with np.errstate(over="ignore"):
            return array.astype(self._numpy_dtype)

    def _not_finite(self, value: float, component: int, whose: str) -> str:
        """The message for an action that is NaN, infinite or too large for the solver's precision."""
        where = f"component {component} ({self._names[component]!r})"
        bits = 8 * np.dtype(self._numpy_dtype).itemsize
        return f"the action{whose} has {value} in {where}; actions must be finite in {bits}-bit precision"
