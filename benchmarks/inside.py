"""The benchmarks' one access to the engine's inside: workers, and kernels over the engine's scratch."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from ..physics import RigidSolver
from ..physics.base.math import Lanes
from ..physics.base.math.lanes import traced
from ..physics.machine.codegen.pool import shared_pool
from ..physics.machine.runtime import ensure_runtime
from ..physics.machine.taichi_thread import in_taichis_thread
from ..physics.model.features import Features
from ..physics.run.bound_kernel import BoundKernel, BoundTiles
from ..physics.run.driver import Driver
from ..physics.run.kernel import number_array
from ..physics.run.settings import Setting
from ..physics.run.taichi_kernel import TaichiKernel
from ..physics.run.tiles.growing import GrowingCapacity
from ..physics.run.tiles.scratch import Scratch, place, shared_scratch
from ..physics.run.tiles.tile_pass import begin, end, load_rows
from ..physics.run.tiles.tile_view import Arguments, TileView
from ..soft.mpm.kernels.program import program

__all__ = [
    "Fields",
    "Parts",
    "begin",
    "end",
    "kernel_of",
    "launcher",
    "load_rows",
    "make_scratch",
    "number_array",
    "parts_of",
    "tile_view",
    "use_workers",
]


def use_workers(solver: Any, workers: int) -> None:
    """Set the number of threads that a solver, of bodies or of bodies and matter, uses, at most that of `tumble.init`.

    A kernel with one worker keeps one core busy, as it does under `init(threads=1)`; so one thread and two can take
    turns in one process.
    """
    if hasattr(solver, "coupler"):
        launch = solver.matter._launch
        records = [room["record"].ctypes.data for room in launch._rooms[:workers]]
        launch._launch = shared_pool(len(records)).bind(program(), records)
        solver = solver.rigid
    driver = _driver_of(solver)
    results = driver._results
    for bound in (driver._step, results._whole, results._beside and results._beside[2]):  # steps, and after resets
        if bound is not None:
            bound.call[Setting.WORKERS] = min(workers, solver.runtime.threads)


def _driver_of(solver: RigidSolver) -> Driver:
    assert not solver.runtime.columns
    return solver._driver


class Parts(NamedTuple):
    """The parts of a kernel of the engine, for the model and width of one solver; one worker."""

    lanes: Lanes
    features: Features
    scratch: Scratch
    room: GrowingCapacity  # the solver's
    ints: torch.Tensor  # the model's integers, header first
    reals: torch.Tensor  # its real numbers
    precise: torch.Tensor  # the same in double precision
    memory: torch.Tensor  # (tiles, rows, lanes), the solver's memory between steps
    counters: torch.Tensor  # (tiles, integers, lanes) int32
    call: torch.Tensor  # the arguments of a call, see `settings.Setting`


def parts_of(solver: RigidSolver) -> Parts:
    """The parts of a solver's kernel over the scratch of its width; the tensors are copies."""
    driver = _driver_of(solver)
    lanes = Lanes(driver._arrangement.width, solver.runtime.dtype)
    scratch = in_taichis_thread(shared_scratch, solver.runtime, lanes.width)
    features, room = Features.of(solver.model, not lanes.double), driver._room
    batch = driver._batch
    reals, precise = driver._launches._reals, driver._launches._precise
    tensors = (room.ints, reals, precise, batch.memory, batch.counters, driver._step.call)
    return Parts(lanes, features, scratch, room, *(tensor.clone() for tensor in tensors))


class Fields(NamedTuple):
    """Scratch of a benchmark's own: lane numbers and integers."""

    numbers: Any
    indices: Any


def make_scratch(lanes: Lanes, rows: int, index_rows: int) -> Fields:
    """Fields of so many rows; Taichi frees them when it is restarted."""
    kinds = (lanes.width, f"float{64 if lanes.double else 32}", rows), (1, "int32", index_rows)
    return Fields(*(in_taichis_thread(place, *kind)[0] for kind in kinds))


def kernel_of(parts: Parts, make: Callable[[Parts], Any]) -> TaichiKernel:
    """A kernel that `make` makes of the parts."""

    def idle(arguments: Sequence[Any]) -> list[Any]:
        return [torch.zeros_like(tensor) if tensor is parts.call else tensor for tensor in arguments]

    return TaichiKernel(ensure_runtime(), lambda: make(parts), idle=idle, scratch=parts.scratch)


def launcher(kernel: TaichiKernel, parts: Parts, *arguments: torch.Tensor) -> BoundKernel:
    """The kernel bound to its arguments, as the solver binds its kernel."""
    return BoundTiles(kernel, arguments, parts.room, parts.call, torch.zeros(1, dtype=torch.int32))


@traced
def tile_view(lanes: Lanes, tile: Any, memory: Any, counters: Any = None, call: Any = None) -> TileView:
    """A tile of these arrays, in a kernel."""
    return TileView(lanes, Arguments(memory, counters, call=call), tile)
