"""A child process of `gpu`: one part of the benchmark for one task, a line of JSON for each batch size.

    python -m tumble.benchmarks.gpu_parts '{"part": "physics", "task": "Ant", "batches": [1, 64], ...}'

A batch without memory is a row that says so; every other error ends the process, and `gpu` begins another for the
batches that are left: after an error a GPU's context is of no use.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from ..envs.making import make_vec
from ..physics import RigidSolver
from .columns import Stretch, begin, describe, forget_peak, memory, repeat, steps_within, stretch
from .models import load

SCATTERED, SCATTER_STEPS = 1024, 200
"""So many environments go their own ways, for so many steps; larger batches have their states several times."""
ACTIONS = 16
"""So many batches of random actions are drawn on the device beforehand and used in turn."""
WARM_UP_STEPS, WARM_UP_SECONDS = 100, 3.0
"""Environment steps before the timed ones, that episodes spread out; fewer where they take longer than so."""


@dataclass(frozen=True)
class Job:
    """The measurement that a child process makes.

    Attributes:
        part: a name of `PARTS`.
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


def physics(job: Job) -> Iterator[Row]:
    """Steps of the solver, one by one and in a rollout."""
    start = scattered_state(job)
    for num_envs in job.batches:
        yield row_of(job, num_envs, lambda num_envs=num_envs: _physics_row(job, num_envs, start))


def scattered_state(job: Job) -> dict[str, torch.Tensor]:
    """The state of environments after random controls."""
    solver = RigidSolver(load(job.task), min(SCATTERED, max(job.batches)))
    solver.reset()
    draw = _controls(solver)
    for _ in range(SCATTER_STEPS):
        solver.ctrl = draw(1)[:, 0]
        solver.step()
    return solver.state_dict()


def _physics_row(job: Job, num_envs: int, start: dict[str, torch.Tensor]) -> Row:
    solver = RigidSolver(load(job.task), num_envs)
    repeated = {name: _repeated(rows, num_envs) for name, rows in start.items()}
    solver.load_state_dict(repeated)
    controls, turn = _controls(solver)(ACTIONS).transpose(0, 1).contiguous(), iter(range(1 << 60))

    def step() -> None:
        solver.ctrl = controls[next(turn) % ACTIONS]
        solver.step()

    steps = steps_within(job.device, step, job.seconds, job.steps)
    together = _controls(solver)(steps)
    by_step, by_rollout = [], []
    for number in range(-1, job.rounds):  # the first round does not count
        solver.load_state_dict(repeated)
        one = stretch(job.device, repeat(step, steps))
        solver.load_state_dict(repeated)
        other = stretch(job.device, lambda: solver.rollout(together))
        if number >= 0:
            by_step.append(one)
            by_rollout.append(other)
    faults = int((solver.faults != 0).sum())
    solver.close()
    speeds = {**rates("", by_step, num_envs, steps), **rates("rollout ", by_rollout, num_envs, steps)}
    return {**speeds, "faults": faults, "steps": steps}


def _controls(solver: RigidSolver) -> Any:
    """A function that draws controls (num_envs, steps, nu) within their range, on the device."""
    low, high = torch.as_tensor(solver.model.mj.actuator_ctrlrange, dtype=solver.dtype, device=solver.device).T
    generator = torch.Generator(solver.device).manual_seed(0)

    def draw(steps: int) -> torch.Tensor:
        shape = (solver.num_envs, steps, len(low))
        return low + (high - low) * torch.rand(shape, generator=generator, dtype=solver.dtype, device=solver.device)

    return draw


def _repeated(rows: torch.Tensor, count: int) -> torch.Tensor:
    """So many rows: the first ones, or all of them several times."""
    return rows[torch.arange(count, device=rows.device) % len(rows)]


def envs(job: Job) -> Iterator[Row]:
    """Steps of the environments as users make them: tensors stay on the device, resets are in the same step."""
    for num_envs in job.batches:
        yield row_of(job, num_envs, lambda num_envs=num_envs: _envs_row(job, num_envs))


def _envs_row(job: Job, num_envs: int) -> Row:
    batch = make_vec(job.task, num_envs)
    batch.reset(seed=0)
    space: Any = batch.single_action_space
    low, high = (torch.as_tensor(bound, device=batch.device) for bound in (space.low, space.high))
    generator = torch.Generator(batch.device).manual_seed(0)
    noise = torch.rand((ACTIONS, num_envs, *space.shape), generator=generator, device=batch.device)
    actions, turn, ended = low + (high - low) * noise, iter(range(1 << 60)), []

    def step() -> None:
        _, _, terminated, truncated, _ = batch.step(actions[next(turn) % ACTIONS])
        ended.append(terminated | truncated)

    repeat(step, steps_within(job.device, step, WARM_UP_SECONDS, WARM_UP_STEPS))()
    steps = steps_within(job.device, step, job.seconds, job.steps)
    ended.clear()
    found = [stretch(job.device, repeat(step, steps)) for _ in range(job.rounds)]
    ends = 1000 * torch.stack(ended).double().mean().item()
    batch.close()
    return {**rates("", found, num_envs, steps), "ends per 1000 steps": ends, "steps": steps}


def device(job: Job) -> Iterator[Row]:
    """Describe the device."""
    yield describe(job.device)


def row_of(job: Job, num_envs: int, measure: Any) -> Row:
    """The row of a batch, with its memory; or that there is not enough of it."""
    forget_peak(job.device)
    head = {"task": job.task, "environments": num_envs}
    try:
        return {**head, **measure(), **memory(job.device)}
    except (MemoryError, torch.OutOfMemoryError) as error:
        return {**head, "error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}


def rates(name: str, found: list[Stretch], num_envs: int, steps: int) -> Row:
    """Steps a second in sum over the batch, microseconds of a batch's step, and those of the host in it."""
    seconds, count = [one.seconds for one in found], num_envs * steps
    middle = median(seconds)
    rates = {"steps/s": count / middle, "low": count / max(seconds), "high": count / min(seconds)}
    rates |= {"us": middle / steps * 1e6, "host us": median(one.host for one in found) / steps * 1e6}
    return {f"{name}{key}": value for key, value in rates.items()}


PARTS = {"device": device, "physics": physics, "envs": envs}


def main(job: Job) -> None:
    """Print the rows of a part as they are measured."""
    if job.part == "peer":
        from .gpu_peer import peer as part
    else:
        begin(job.device)
        part = PARTS[job.part]
    for row in part(job):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(Job(**json.loads(sys.argv[1])))
