"""The profile takes apart the very step that users run."""

import pytest
import torch

from tumble.benchmarks import stages
from tumble.benchmarks.inside import kernel_of, launcher, parts_of
from tumble.benchmarks.models import load, scatter
from tumble.physics import RigidSolver


@pytest.mark.slow
def test_all_stages_together_are_a_step(runtime):
    """Compiles the engine once more: what takes the step apart breaks whenever the step changes."""
    solver = RigidSolver(load("Hopper"), 8, lanes=1)
    scatter(solver, steps=60)
    parts = parts_of(solver)
    last = torch.tensor([len(stages.NAMES) - 1], dtype=torch.int32)
    kernel = kernel_of(parts, stages.make_kernel)
    launcher(kernel, parts, parts.ints, parts.reals, parts.memory, parts.counters, parts.call, last)()
    solver.step()
    assert torch.equal(parts.memory, parts_of(solver).memory)
