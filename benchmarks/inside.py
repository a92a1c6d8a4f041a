"""What the benchmarks need of the engine's inside, in one place: workers, and kernels over scratch of their own."""

from typing import Any, NamedTuple

import taichi as ti
import torch

from ..physics import RigidSolver
from ..physics import kernel as driver
from ..physics.math import Lanes
from ..physics.model.features import Features
from ..physics.state.sizes import scratch_rows
from ..physics.state.views import Scratch
from ..physics.taichi_thread import in_taichis_thread

load_rows, store_row, number_array = driver.load_rows, driver.store_row, driver.number_array
begin, end = driver._begin, driver._end


def use_workers(solver: RigidSolver, workers: int) -> None:
    """Let a solver work with as many threads, at most those of `tumble.init`.

    A kernel with one worker keeps one core busy, as it does under `init(threads=1)`; so one thread and two can take
    turns in one process.
    """
    outputs = solver._outputs
    refreshing = [outputs._whole, outputs._side and outputs._side.bound]  # after resets; made on first use
    for call in (solver._call, *(bound.call for bound in refreshing if bound is not None)):
        call[driver.WORKERS] = min(workers, solver.runtime.threads)


class Parts(NamedTuple):
    """What a kernel of the engine is made of, for the model and width of one solver; one worker."""

    lanes: Lanes
    features: Features
    scratch: Scratch
    ints: torch.Tensor  # the model's integers, header first
    reals: torch.Tensor  # its real numbers
    memory: torch.Tensor  # (tiles, rows, lanes), what the solver keeps between steps
    counters: torch.Tensor  # (tiles, driver.COUNTERS, lanes) int32
    call: torch.Tensor  # the arguments of a call, see `kernel.CALL_LENGTH`


def parts_of(solver: RigidSolver) -> Parts:
    """The parts of a solver's kernel over scratch of its own; the tensors are copies."""
    lanes = Lanes(solver.width, solver.runtime.dtype)
    launches = solver._launches
    tensors = (launches.ints, launches.reals, solver._memory, solver._counters, solver._call)
    scratch = make_scratch(lanes, *scratch_rows(launches.sizes))
    return Parts(lanes, Features.of(solver.model, not lanes.double), scratch, *(tensor.clone() for tensor in tensors))


def make_scratch(lanes: Lanes, rows: int, index_rows: int) -> Scratch:
    """Lane numbers and integers for one worker; Taichi frees them when it is started anew."""
    return in_taichis_thread(_make_scratch, lanes, rows, index_rows)


def _make_scratch(lanes: Lanes, rows: int, index_rows: int) -> Scratch:
    numbers = ti.Vector.field(lanes.width, lanes.dtype) if lanes.width > 1 else ti.field(lanes.dtype)
    indices = ti.field(ti.i32)
    builder = ti.FieldsBuilder()
    builder.dense(ti.i, rows).place(numbers)
    builder.dense(ti.i, index_rows).place(indices)
    builder.finalize()
    return Scratch(numbers, indices, rows, index_rows)


def launcher(kernel: Any, *arguments: torch.Tensor) -> driver.Launcher:
    """The kernel bound to its arguments, as the solver launches its own."""
    return driver.Launcher(kernel, arguments)
