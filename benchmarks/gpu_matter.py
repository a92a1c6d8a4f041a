"""Matter on a GPU: a column of liquid falls in a box, and flows."""

from collections.abc import Iterator

import numpy as np

from ..soft import Liquid, Matter, MPMSolver
from .columns import repeat, steps_within, stretch
from .gpu_job import Job, Row, rates, row_of

PARTICLES = (10, 10, 20)
"""Along each axis, eight in a cell."""
CELLS, SIDE, DT = 64.0, 0.5, 5e-4
"""Cells in a metre, m, s."""
SUBSTEPS = 20
"""The substeps of a step, which is 10 ms."""


def matter(job: Job) -> Iterator[Row]:
    """Steps of a liquid of 2,000 particles, of 20 substeps each."""
    for num_envs in job.batches:
        yield row_of(job, num_envs, lambda num_envs=num_envs: _row(job, num_envs))


def make_liquid(num_envs: int) -> MPMSolver:
    """Return a solver with the column, which moves a little differently in each environment."""
    space = 0.5 / CELLS
    places = np.stack(np.meshgrid(*(np.arange(n) + 0.5 for n in PARTICLES), indexing="ij"), -1).reshape(-1, 3) * space
    column = Matter("liquid", Liquid(E=1e5, nu=0.2), places + np.array([0.1, 0.2, 0.02]), space**3)
    solver = MPMSolver([column], num_envs, (0, 0, 0), (SIDE, SIDE, SIDE), CELLS, DT)
    gravity = np.random.default_rng(0).normal(0, 0.5, (num_envs, 3)) - [0.0, 0.0, 9.81]
    solver.set_gravity(gravity)
    return solver


def _row(job: Job, num_envs: int) -> Row:
    solver = make_liquid(num_envs)

    def step() -> None:
        solver.step(SUBSTEPS)

    steps = steps_within(job.device, step, job.seconds, job.steps)
    found = []
    for _ in range(job.rounds):
        solver.reset()
        found.append(stretch(job.device, repeat(step, steps)))
    row = rates("", found, num_envs, steps)
    updates = row["steps/s"] * SUBSTEPS * solver.n_particles
    return {**row, "M particle updates/s": updates / 1e6, "faults": int((solver.faults != 0).sum()), "steps": steps}
