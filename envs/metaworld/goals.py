"""The goals that Meta-World draws for a seed: fifty starts of each task of a set."""

import numpy as np

from ..registry import make_task
from .names import members
from .sawyer import SawyerTask

COUNT = 50  # starts of each task
PASSES = 2  # Meta-World draws twice for each, and keeps the second


def draw_goals(
    name: str, seed: int | None = None, split: str = "train", env_name: str | None = None
) -> dict[str, np.ndarray]:
    """Return the starts of a set's tasks, (50, numbers) each, by the tasks' names.

    They are those of Meta-World's `train_tasks` and `test_tasks` of the same seed: positions in m, first the object's
    or the fixture's, then for many tasks the goal's.

    Args:
        name: of the set, as in `members`.
        seed: None draws others every time.
        split: "train" or "test".
        env_name: the task of "MT1" and "ML1".

    Raises:
        ValueError: there is no such set, split or task.
    """
    later = 1 if (name, split) == ("ML1", "test") else 0
    stream = np.random.RandomState(None if seed is None else seed + later)
    return {member: _starts(member, stream) for member in members(name, split, env_name)}


def _starts(member: str, stream: np.random.RandomState) -> np.ndarray:
    """Return the starts of a task, (50, numbers), from a stream of random numbers that several tasks share."""
    task = make_task(f"metaworld/{member}", {})
    assert isinstance(task, SawyerTask)
    low, high = np.array(task.low, float), np.array(task.high, float)
    starts = []
    for _ in range(COUNT):
        for _ in range(PASSES):
            drawn = stream.uniform(low, high, size=low.size)
            while task.apart and not task.fits(drawn[None])[0]:
                drawn = stream.uniform(low, high, size=low.size)
        starts.append(drawn)
    return np.array(starts)
