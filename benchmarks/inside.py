"""What the benchmarks need of the engine's inside, in one place: workers, and kernels over the engine's scratch."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from ..physics import RigidSolver
from ..physics import kernel as driver
from ..physics.launcher import Kernel, Launcher
from ..physics.math import Lanes
from ..physics.model.features import Features
from ..physics.scratch import Scratch, shared_scratch
from ..physics.state.sizes import scratch_rows
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
    room: tuple[int, int]  # what the model needs of it, see `Kernel.bind`
    ints: torch.Tensor  # the model's integers, header first
    reals: torch.Tensor  # its real numbers
    memory: torch.Tensor  # (tiles, rows, lanes), what the solver keeps between steps
    counters: torch.Tensor  # (tiles, driver.COUNTERS, lanes) int32
    call: torch.Tensor  # the arguments of a call, see `kernel.CALL_LENGTH`


def parts_of(solver: RigidSolver) -> Parts:
    """The parts of a solver's kernel over the scratch of its width; the tensors are copies."""
    lanes = Lanes(solver.width, solver.runtime.dtype)
    launches = solver._launches
    tensors = (launches.ints, launches.reals, solver._memory, solver._counters, solver._call)
    scratch = in_taichis_thread(shared_scratch, solver.runtime, solver.width)
    features = Features.of(solver.model, not lanes.double)
    return Parts(lanes, features, scratch, scratch_rows(launches.sizes), *(tensor.clone() for tensor in tensors))


def kernel_of(parts: Parts, make: Callable[[Parts], Any]) -> Kernel:
    """A kernel that `make` makes of the parts."""
    return Kernel(parts.scratch, lambda: make(parts))


def launcher(kernel: Kernel, parts: Parts, *arguments: torch.Tensor) -> Launcher:
    """The kernel bound to its arguments, as the solver binds its own."""
    return Launcher(kernel, arguments, parts.room)
