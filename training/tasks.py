"""Task names as people type them, and the Gymnasium task that each one equals."""

import re
from difflib import get_close_matches

import gymnasium as gym

from .errors import TumbleUserError

NAMESPACE = "tumble/"


class TaskError(TumbleUserError, ValueError):
    """A task that is not there; the message suggests the nearest names."""


def task_ids() -> list[str]:
    """Return the registered tasks, such as "tumble/Ant-v0", in alphabetical order."""
    return sorted(name for name in gym.registry if name.startswith(NAMESPACE))


def find_task(name: str) -> str:
    """Return the id of a task given as "tumble/Ant-v0", "Ant-v0", "Ant" or in any case and spelling of words.

    Raises:
        TaskError: No task is called so.
    """
    ids = task_ids()
    by_key = {_key(task): task for task in ids} | {_key(re.sub(r"-v\d+$", "", task)): task for task in ids}
    if _key(name) in by_key:
        return by_key[_key(name)]
    near = list(dict.fromkeys(by_key[key] for key in get_close_matches(_key(name), by_key, n=3)))
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(ids)}"
    raise TaskError(f"unknown task {name!r}; {hint}")


def gymnasium_twin(task: str) -> str | None:
    """Return Gymnasium's MuJoCo task that a Tumble task equals, such as "Ant-v5"; None where there is none."""
    twin = re.sub(r"-v\d+$", "-v5", task.removeprefix(NAMESPACE))
    return twin if twin in gym.registry else None


def _key(name: str) -> str:
    """Drop the namespace and what people spell differently: case, hyphens, underscores."""
    return re.sub(r"[-_ ]", "", name.removeprefix(NAMESPACE)).lower()
