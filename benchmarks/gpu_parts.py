"""A child process of `gpu`: one part of the benchmark for one task, a line of JSON for each batch size.

    python -m tumble.benchmarks.gpu_parts '{"part": "physics", "task": "Ant", "batches": [1, 64], ...}'

A batch without memory is a row that says so; every other error ends the process, and `gpu` begins another for the
remaining batches: after an error a GPU's context is of no use.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import torch

from ..envs.making import make_vec
from ..physics import RigidSolver
from .columns import begin, describe, repeat, steps_within, stretch
from .gpu_job import ACTIONS, SCATTER_STEPS, Job, Row, rates, row_of
from .gpu_matter import matter
from .gpu_peer import peer
from .models import load

SCATTERED = 1024
"""So many environments take different actions, for SCATTER_STEPS; larger batches have their states several times."""
WARM_UP_STEPS, WARM_UP_SECONDS = 100, 3.0
"""Environment steps before the timed ones, that episodes spread out; fewer where they take longer than so."""


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


PARTS = {"device": device, "physics": physics, "envs": envs, "matter": matter, "peer": peer}


def main(job: Job) -> None:
    """Print the rows of a part as they are measured."""
    if job.part != "peer":
        begin(job.device)
    for row in PARTS[job.part](job):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(Job(**json.loads(sys.argv[1])))
