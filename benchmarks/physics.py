"""Physics steps against MuJoCo's own C loop (`mujoco.rollout`): same model, states, warm starts and controls."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import mujoco
import numpy as np
import torch
from mujoco.rollout import Rollout

from ..physics import Model, RigidSolver
from ..physics.machine.runtime import init
from .inside import use_workers
from .models import RANDOM_STEPS, load, random_controls, scatter
from .results import BenchmarkResult, Table, Verdict
from .timing import Sample, take_turns
from .workload import mujoco_work, tumble_work

AGREEMENT = 0.02
FASTER, SCALING = 4.0, 1.8
COLUMNS = {
    "model": "",
    "Tumble steps/s": ",.0f",
    "us/step": ".3f",
    "MuJoCo steps/s": ",.0f",
    "us/step ": ".2f",
    "ratio": ".2f",
    "low": ".2f",
    "high": ".2f",
    "step() by step()": ",.0f",
    "Tumble, all threads": ",.0f",
    "over one": ".2f",
    "MuJoCo, all threads": ",.0f",
}
WORK_COLUMNS = {"model": "", "side": "", "contacts": ".3f", "rows": ".3f", "iterations": ".3f", "faults": "d"}


def run(models: Sequence[str], num_envs: int, steps: int, rounds: int, threads: int) -> BenchmarkResult:
    """Compare every model.

    Args:
        models: names of `models.FILES`.
        num_envs: environments on both sides.
        steps: physics steps of one timed stretch; every round starts it from the same states.
        rounds: of which medians are taken.
        threads: of the comparison on several threads.
    """
    init(precision="32", threads=threads)
    result = new_result(num_envs, threads, f"{RANDOM_STEPS} random-action steps")
    for name in models:
        solver = RigidSolver(load(name), num_envs)
        scatter(solver)
        compare(result, name, solver, steps, rounds, threads, FASTER)
    return result


def new_result(num_envs: int, threads: int, history: str) -> BenchmarkResult:
    """Tables of speeds and of work, without rows yet; `history` describes how the compared states came about."""
    speed = Table(
        f"Physics steps, {num_envs} environments, implicitfast + Newton, tolerance 1e-6, Tumble in float32 and MuJoCo "
        f"in float64, from the states after {history}; one thread each, then {threads}",
        COLUMNS,
    )
    return BenchmarkResult([speed, Table("Work a step on both sides (means; environments with faults)", WORK_COLUMNS)])


def compare(
    result: BenchmarkResult,
    name: str,
    solver: RigidSolver,
    steps: int,
    rounds: int,
    threads: int,
    faster: float,
    alike: bool = True,
    controls: torch.Tensor | None = None,
) -> None:
    """Add a row for a solver to both tables, from its present state; it should be `faster` times as fast as MuJoCo.

    With `alike` both sides are to find as many contacts, rows and iterations. Controls, (steps, num_envs, nu), are
    random unless they are given.
    """
    model, num_envs, start = solver.model, solver.num_envs, solver.state_dict()
    controls = random_controls(model, num_envs, steps, seed=1) if controls is None else controls
    states, warm = mujoco_states(solver), solver.qacc_warmstart.double().numpy()
    together = controls.transpose(0, 1).contiguous()
    in_order = together.double().numpy()

    ours = tumble_work(solver, controls)
    theirs = mujoco_work(model, states, warm, in_order)
    for side, found in (("Tumble", ours), ("MuJoCo", theirs)):
        result.tables[1].rows.append({"model": name, "side": side, **found._asdict()})

    samples = take_turns(
        {
            "tumble": tumble_side(solver, start, 1, lambda: solver.rollout(together)),
            "mujoco": MujocoSide(model, states, warm, in_order, 1),
            "step by step": tumble_side(solver, start, 1, lambda: step_by_step(solver, controls)),
            "tumble all": tumble_side(solver, start, threads, lambda: solver.rollout(together)),
            "mujoco all": MujocoSide(model, states, warm, in_order, threads),
        },
        rounds,
    )
    result.tables[0].rows.append(row := _row(name, samples, num_envs * steps))
    result.verdicts.append(Verdict(f"{name}: times MuJoCo's steps a second on one thread", row["ratio"], faster))
    if alike:
        work = f"{name}: difference of the work of both sides"
        result.verdicts.append(Verdict(work, ours.disagreement(theirs), AGREEMENT, at_least=False))
    if threads > 1:
        result.verdicts.append(Verdict(f"{name}: {threads} threads over one", row["over one"], SCALING))


def _row(name: str, samples: dict[str, Sample], count: int) -> dict[str, Any]:
    ratio = samples["tumble"].times_faster_than(samples["mujoco"])
    return {
        "model": name,
        "Tumble steps/s": count / samples["tumble"].median,
        "us/step": samples["tumble"].median / count * 1e6,
        "MuJoCo steps/s": count / samples["mujoco"].median,
        "us/step ": samples["mujoco"].median / count * 1e6,
        "ratio": ratio.median,
        "low": ratio.low,
        "high": ratio.high,
        "step() by step()": count / samples["step by step"].median,
        "Tumble, all threads": count / samples["tumble all"].median,
        "over one": samples["tumble all"].times_faster_than(samples["tumble"]).median,
        "MuJoCo, all threads": count / samples["mujoco all"].median,
        "seconds": {side: sample.seconds for side, sample in samples.items()},
        "physics steps in each": count,
    }


def mujoco_states(solver: RigidSolver) -> np.ndarray:
    """The solver's present states as MuJoCo's full physics states (num_envs, nstate), time 0."""
    mj = solver.model.mj
    states = np.zeros((solver.num_envs, mujoco.mj_stateSize(mj, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    states[:, 1 : 1 + mj.nq] = solver.qpos.numpy()
    states[:, 1 + mj.nq : 1 + mj.nq + mj.nv] = solver.qvel.numpy()
    return states


def tumble_side(
    solver: RigidSolver, start: dict[str, torch.Tensor], workers: int, follow: Callable[[], Any]
) -> Callable[[], float]:
    """Seconds of `follow`, which moves the solver, from the state `start`."""

    def stretch() -> float:
        solver.load_state_dict(start)
        use_workers(solver, workers)
        torch.set_num_threads(workers)
        begin = time.perf_counter()
        follow()
        return time.perf_counter() - begin

    return stretch


def step_by_step(solver: RigidSolver, controls: torch.Tensor) -> None:
    """Write the controls (steps, num_envs, nu) and step, one after the other."""
    for control in controls:
        solver.ctrl = control
        solver.step()


class MujocoSide:
    """One `rollout` from full physics states (num_envs, nstate) under controls (num_envs, steps, nu).

    Everything is allocated and checked beforehand, so that only C code is timed.

    Attributes:
        state: where it went, (num_envs, steps, nstate).
    """

    def __init__(self, model: Model, states: np.ndarray, warm: np.ndarray, controls: np.ndarray, threads: int) -> None:
        """Allocate; a single thread is the calling one."""
        count, steps = controls.shape[:2]
        self._runner = Rollout(nthread=0 if threads == 1 else threads)
        self._batch, self._data = [model.mj] * count, [mujoco.MjData(model.mj) for _ in range(threads)]
        self._states, self._warm, self._controls = states, warm, controls
        self.state = np.empty((count, steps, states.shape[1]))
        self._sensordata = np.empty((count, steps, model.mj.nsensordata))

    def __call__(self) -> float:
        """Seconds of the rollout."""
        begin = time.perf_counter()
        self._runner.rollout(
            self._batch,
            self._data,
            self._states,
            self._controls,
            skip_checks=True,
            nstep=self._controls.shape[1],
            initial_warmstart=self._warm,
            state=self.state,
            sensordata=self._sensordata,
        )
        return time.perf_counter() - begin
