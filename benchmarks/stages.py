"""The time of a physics step, stage by stage, on one core.

The step is run up to its first stage, up to its second, and so on, always from the same states; a stage costs the
difference. It works on the fresh results of the stages before it, as it does in a whole step: repeating only one stage
would find its numbers in the cache and its branches foretold. One kernel is compiled for all prefixes.
"""

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import taichi as ti
import torch

from ..physics import RigidSolver
from ..physics.base.math import func
from ..physics.base.stage import Stage
from ..physics.machine.runtime import init
from ..physics.mechanics.constraint.hessian_pattern import lay_out_dofs
from ..physics.model.state.snapshot import hold_faulty, keep_evaluation, keep_start
from ..physics.model.state.views import ModelView, Workspace
from ..physics.run.integrate import advance, implicit_acceleration
from ..physics.run.step import PIPELINE
from .inside import Parts, begin, end, kernel_of, launcher, number_array, parts_of, tile_view, use_workers
from .models import RANDOM_STEPS, load, random_controls, scatter
from .results import BenchmarkResult, Table
from .timing import clock, take_turns


@func
def integration(model, work):
    """The last stage of a step under Euler or implicitfast."""
    work.rk_stage[0], work.rk_stages[0] = 0, 1
    implicit_acceleration(model, work)
    advance(model, work)
    hold_faulty(model, work)


STAGES = (*PIPELINE, integration)
NAMES = ("load", *(stage.name if isinstance(stage, Stage) else stage.__name__ for stage in STAGES), "store")
SPREAD = "its spread (share)"
LAUNCHES = 20
"""Launches in a round; a round's figure is their median."""


def run(models: Sequence[str], num_envs: int, rounds: int) -> BenchmarkResult:
    """Take the step of every model apart.

    Args:
        models: names of `models.FILES`.
        num_envs: environments.
        rounds: of which medians are taken.
    """
    init(precision="32", threads=1)
    shares = Table(
        f"Microseconds of a physics step by stage, one core, float32, {num_envs} environments, implicitfast, from the "
        f"states after {RANDOM_STEPS} random-action steps",
        {"stage": "", **dict.fromkeys(models, ".3f")},
        [{"stage": name} for name in (*NAMES, "all stages", "solver.step()", SPREAD)],
    )
    for name in models:
        found = profile(name, num_envs, rounds)
        for row in shares.rows:
            row[name] = found[row["stage"]]
    result = BenchmarkResult([shares])
    result.notes.append("solver.step() is the kernel that users run, writing the controls included; the stages' kernel")
    result.notes.append("is built of the same functions.")
    return result


def profile(name: str, num_envs: int, rounds: int) -> dict[str, float]:
    """Microseconds per environment: stage -> median over rounds, with "all stages" and "solver.step()"."""
    model = load(name)
    solver = RigidSolver(model, num_envs)
    scatter(solver)
    solver.ctrl = random_controls(model, num_envs, 1, seed=1)[0]
    sides = {str(k): side for k, side in enumerate(prefixes(parts_of(solver)))}
    samples = take_turns({**sides, "step": _whole_step(solver)}, rounds)
    total = num_envs * 1e-6
    ends = [samples[str(k)].seconds for k in range(len(NAMES))]
    found = {NAMES[0]: statistics.median(ends[0]) / total}
    for k in range(1, len(NAMES)):
        found[NAMES[k]] = (
            statistics.median([after - before for before, after in zip(ends[k - 1], ends[k], strict=True)]) / total
        )
    return found | {
        "all stages": statistics.median(ends[-1]) / total,
        "solver.step()": samples["step"].median / total,
        SPREAD: samples["step"].spread,
    }


def prefixes(parts: Parts) -> list[Callable[[], float]]:
    """For every stage, a function that runs all tiles up to and including it, and returns the seconds.

    Before each launch the states are put back, outside the time.
    """
    start = parts.memory.clone(), parts.counters.clone()
    kernel = kernel_of(parts, make_kernel)

    def side(number: int) -> Callable[[], float]:
        last = torch.tensor([number], dtype=torch.int32)
        model = parts.ints, parts.reals, parts.precise
        launch = launcher(kernel, parts, *model, parts.memory, parts.counters, parts.call, last)

        def once() -> float:
            parts.memory.copy_(start[0])
            parts.counters.copy_(start[1])
            return clock(launch)

        return lambda: statistics.median(once() for _ in range(LAUNCHES))

    return [side(number) for number in range(len(NAMES))]


def make_kernel(parts: Parts) -> Any:
    """A kernel that takes every tile through the stages up to number `last[0]` of NAMES."""
    lanes, features, scratch = parts.lanes, parts.features, parts.scratch
    dtype, numbers = lanes.dtype, number_array(lanes)

    @ti.kernel
    def run_stages(
        ints: ti.types.ndarray(ti.i32, 1),
        reals: ti.types.ndarray(dtype, 1),
        precise: ti.types.ndarray(ti.f64, 1),
        memory: numbers,
        counters: ti.types.ndarray(ti.i32, 3),
        call: ti.types.ndarray(ti.i32, 1),
        last: ti.types.ndarray(ti.i32, 1),
    ):
        ti.loop_config(serialize=True)
        for worker in range(1):
            model = ModelView(ints, reals, precise, features)
            work = Workspace(lanes, ints, scratch.arrays, worker, features)
            lay_out_dofs(model, work)
            for tile in range(memory.shape[0]):
                turn = tile_view(lanes, tile, memory, counters, call)
                begin(model, work, turn)
                keep_start(model, work)
                keep_evaluation(model, work)
                for number, stage in ti.static(enumerate(STAGES)):
                    if last[0] > number:
                        stage(model, work)
                if last[0] > ti.static(len(STAGES)):
                    end(work, turn, work.real(1.0))

    return run_stages


def _whole_step(solver: RigidSolver) -> Callable[[], float]:
    start, control = solver.state_dict(), solver.ctrl
    use_workers(solver, 1)

    def once() -> float:
        solver.load_state_dict(start)

        def write_and_step() -> None:
            solver.ctrl = control
            solver.step()

        return clock(write_and_step)

    return lambda: statistics.median(once() for _ in range(LAUNCHES))
