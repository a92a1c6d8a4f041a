"""A task and its managers from the arguments of environments."""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from ..managers.options import ManagerOptions
from ..registry import TaskLike, make_task
from ..task.task import options_of

if TYPE_CHECKING:
    from ..task.task import Task


def make_managed(task: TaskLike, options: dict[str, Any], **managers: Any) -> "tuple[Task, ManagerOptions]":
    """Return a task with options, and the managers that run around it.

    A task may have options that are called as these arguments are, such as `randomize=True`, or `delay=0.1`: it gets
    flags, numbers, words and pairs of numbers.

    Args:
        task: by its name, class or instance.
        options: of the task.
        managers: `randomize`, `observe` and `delay`.

    Raises:
        ValueError, TypeError: as in `make_task` and `ManagerOptions.of`.
    """
    made = make_task(task, options)
    known = options_of(type(made))
    own = {name: value for name, value in managers.items() if name in known and is_plain(value)}
    if own:
        made = replace(made, **own)
    return made, ManagerOptions.of(**{name: value for name, value in managers.items() if name not in own})


def is_plain(value: Any) -> bool:
    """Return True for a flag, a number, a word, or a pair of numbers."""
    if isinstance(value, list | tuple):
        return len(value) == 2 and all(isinstance(number, Real) for number in value)
    return isinstance(value, Real | str)


def changed_managers(options: ManagerOptions, changes: Mapping[str, Any]) -> ManagerOptions:
    """Return managers with some of `randomize`, `observe` and `delay` replaced; errors as in `ManagerOptions.of`."""
    new = ManagerOptions.of(**changes)
    return options._replace(**{name: getattr(new, name) for name in changes})
