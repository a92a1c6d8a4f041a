"""The job of a child process of `gpu`, and the rows that Tumble's parts and the peer's report in the same words."""

from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from .columns import TimedSteps, forget_peak, memory

SCATTER_STEPS = 200
"""Steps under random controls before the timed ones."""
ACTIONS = 16
"""So many batches of random actions are drawn on the device beforehand and used in turn."""


@dataclass(frozen=True)
class Job:
    """The measurement that a child process makes.

    Attributes:
        part: a name of `gpu_parts.PARTS`.
        task: such as "Ant".
        batches: numbers of environments.
        steps: of one timed stretch, at most.
        rounds: of which medians are taken.
        seconds: that one stretch should take at most; long steps make it shorter.
        device: "cuda" or "cpu".
    """

    part: str
    task: str = ""
    batches: tuple[int, ...] = ()
    steps: int = 50
    rounds: int = 3
    seconds: float = 0.4
    device: str = "cuda"


Row = dict[str, Any]


def row_of(job: Job, num_envs: int, measure: Any) -> Row:
    """Return the row of a batch, with its memory; or a row that says that memory is too small."""
    forget_peak(job.device)
    head = {"task": job.task, "environments": num_envs}
    try:
        return {**head, **measure(), **memory(job.device)}
    except (MemoryError, torch.OutOfMemoryError) as error:
        return {**head, "error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}


def rates(name: str, found: list[TimedSteps], num_envs: int, steps: int) -> Row:
    """Return steps a second in sum over the batch, microseconds of a batch's step, and the host's share of them."""
    seconds, count = [one.seconds for one in found], num_envs * steps
    middle = median(seconds)
    rates = {"steps/s": count / middle, "low": count / max(seconds), "high": count / min(seconds)}
    rates |= {"us": middle / steps * 1e6, "host us": median(one.host for one in found) / steps * 1e6}
    return {f"{name}{key}": value for key, value in rates.items()}
