"""Copies and pickles of environments: made anew by the same arguments, and brought to the same state.

A solver's memory, kernels and threads cannot be copied as objects; a new environment of the same arguments has its own,
and `state_dict` has everything that the future depends on.
"""

import inspect
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

from .arrays import equal
from .attributes import AT_THE_START, change_options

if TYPE_CHECKING:
    from .batch import TaskBatch
    from .task import Task

_CARRIED = (
    *("spec", "observation_space", "action_space", "single_observation_space", "single_action_space"),
    *("_np_random", "_np_random_seed", "_reporter"),
)
"""Attributes that a copy takes over: Gymnasium's, with their random generators, and which warnings were given."""


class Copied:
    """The part of single and vector environments that `copy.deepcopy` and `pickle` use.

    A copy is made with the arguments that the original was made with, and goes on where the original is, to the last
    bit: state and inputs of the solver, numbers of the model of environments' own, memory, seeds, episodes, the steps
    that they have taken, and the task's options as they are now. Nothing that one of them does is seen by the other.
    """

    batch: "TaskBatch"
    task: "Task"
    metadata: dict[str, Any]
    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let tools see the arguments of `__init__`, which `__new__` would hide."""
        super().__init_subclass__(**kwargs)
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        cls.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember what the environment is made with, of a class with other arguments too."""
        env = super().__new__(cls)
        env._arguments = args, kwargs
        return env

    @abstractmethod
    def _moment(self) -> dict[str, Any]:
        """Return where the environment is.

        Raises:
            ClosedEnvironmentError: nowhere, as it was closed.
        """

    @abstractmethod
    def _go_on(self, moment: dict[str, Any]) -> None:
        """Go on where `_moment` was."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """Return how an environment of the same arguments is made, and what `__setstate__` then makes of it."""
        own = vars(self)
        options = {option.name: getattr(self.task, option.name) for option in fields(self.task)}
        carried = {name: own[name] for name in _CARRIED if name in own}
        state = {"attributes": carried, "options": options, "moment": self._moment()}
        return _made_with, (type(self), *self._arguments), state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Bring an environment that was just made to where another is.

        Raises:
            ValueError: its state does not fit: another precision or version of Tumble.
        """
        vars(self).update(state["attributes"])
        changed = {
            name: value
            for name, value in state["options"].items()
            if name not in AT_THE_START and not equal(value, getattr(self.task, name))
        }
        if changed:
            change_options(self, changed)
        self._go_on(state["moment"])


def _made_with(kind: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make an environment with the arguments that another was made with."""
    return kind(*args, **kwargs)
