"""BaseEnv: copies, goal methods and the live view, which single and vector environments have in common.

A solver's memory, kernels and threads cannot be copied as objects: a copy is made by the same arguments, and brought to
the same state, as `state_dict` has everything that the future depends on.
"""

import inspect
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

from ..arrays import equal
from .attributes import AT_THE_START, change_options

if TYPE_CHECKING:
    from ...viewer import Viewer
    from ..batch.batch import TaskBatch

GOAL_METHODS = ("compute_reward", "compute_terminated", "compute_truncated")
"""Methods of a task with goals, as of Gymnasium-Robotics' `GoalEnv`: rewards and ends for other goals.

Replay buffers with hindsight (Andrychowicz et al., "Hindsight experience replay", NeurIPS 2017) ask them which reward a
step would have had under another goal.
"""

_CARRIED = (
    *("spec", "observation_space", "action_space", "single_observation_space", "single_action_space"),
    *("_np_random", "_np_random_seed"),
)
"""Attributes that a copy takes over: Gymnasium's, with their random generators."""


class BaseEnv:
    """The base of single and vector environments: copies, goal methods, the live view.

    A copy by `copy.deepcopy` or `pickle` is made with the arguments of the original, and goes on where the original is,
    to the last bit: state and inputs of the solver, per-environment parameters, memory, seeds, episodes, the steps that
    they have taken, warnings given, and the task's options as they are now. Copies are independent.
    """

    batch: "TaskBatch"
    task: Any  # a `Task`, which may have goal methods
    metadata: dict[str, Any]
    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Show the arguments of `__init__` to tools; `__new__` would hide them."""
        super().__init_subclass__(**kwargs)
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        cls.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the arguments of the constructor, also of a subclass with other arguments."""
        env = super().__new__(cls)
        env._arguments = args, kwargs
        return env

    @property
    def compute_reward(self) -> Callable[..., Any]:
        """(achieved_goal, desired_goal, info) -> rewards, as the task defines it; only of tasks with goals."""
        return self.task.compute_reward

    @property
    def compute_terminated(self) -> Callable[..., Any]:
        """(achieved_goal, desired_goal, info) -> True where the episode would have ended."""
        return self.task.compute_terminated

    @property
    def compute_truncated(self) -> Callable[..., Any]:
        """(achieved_goal, desired_goal, info) -> True where the episode would have been cut short."""
        return self.task.compute_truncated

    def view(self, act: Callable[[Any], Any] | None = None, **options: Any) -> "Viewer":
        """Show environments in a browser, and move them: `tumble.viewer.view`, with its arguments and errors.

        Args:
            act: returns actions for observations, as a policy does; None: random actions.
            options: `block=False` returns at once; `envs`, `port`, `host`, `play` and more.
        """
        from ...viewer import view

        return view(self, act, **options)

    @abstractmethod
    def _snapshot(self) -> dict[str, Any]:
        """Return the present state, which `_restore` takes.

        Raises:
            ClosedEnvironmentError: the environment was closed, and has no state.
        """

    @abstractmethod
    def _restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a state that `_snapshot` returned."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """Return how to make an environment with the same arguments, and the state for `__setstate__`."""
        own = vars(self)
        options = {option.name: getattr(self.task, option.name) for option in fields(self.task)}
        carried = {name: own[name] for name in _CARRIED if name in own}
        state = {"attributes": carried, "options": options, "managers": self.batch.managers.options}
        state["snapshot"] = self._snapshot()
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
        if not equal(state["managers"], self.batch.managers.options):
            self.batch.renew_managers(state["managers"])
        self._restore(state["snapshot"])


def _made_with(kind: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make an environment with the arguments that another was made with."""
    return kind(*args, **kwargs)
