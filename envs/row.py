"""A row of a table of tasks (`registry.py`, and the tables of suites)."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One task: the module in `envs` that has its class, and its entry in Gymnasium's registry.

    Attributes:
        module: the module.
        max_episode_steps: an episode is truncated after so many steps; None: never.
        reward_threshold: the return at which the task counts as solved, if that is known.
        kind: the name of the class; "": the task's own name.
        options: the task's, as defaults.
        alias: the name of a suite's task in the namespace `tumble`, such as "DogRun"; "": none.
    """

    module: str
    max_episode_steps: int | None
    reward_threshold: float | None = None
    kind: str = ""
    options: Mapping[str, Any] = {}
    alias: str = ""
