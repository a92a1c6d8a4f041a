"""A long run under controls that jump from one end of their range to the other: whether anything breaks or grows.

Two batches run side by side under the same controls, one with all environments and a small one with the first few of
them. An environment must have the same bits in both, whatever happens to the others; so a fault that does not stay in
its environment is seen, as is a result that depends on anything but the environment's own past. A hash over the states
at all checkpoints goes into the record: on the same kind of processor a second run has the same one.
"""

import ctypes
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from ..envs.making import make_vec
from ..physics import Model, RigidSolver
from ..physics.machine.runtime import init
from .models import SETTINGS
from .results import BenchmarkResult, Table, Verdict
from .scenes import SCENES

FEW = 16
"""Environments of the small batch."""
CHECKPOINTS = 40
"""Points of a run at which states are compared and hashed, and memory is read."""
WARM = 0.25
"""Share of a run after which memory has to stay as it is: until then caches and scratch grow."""
FLIPS = 0.125
"""Chance that a control jumps to the other end of its range before an environment step."""
FRAME_SKIP = 5
"""Physics steps of an environment step of a scene; tasks have other numbers."""
RESET = 0.002
"""Chance that an environment of a scene is reset after a step, with other masses and friction."""
MOST_GROWTH = 16.0
"""MiB by which the memory of the process may grow behind WARM: the allocator's own."""
COLUMNS = {
    "model": "",
    "environment steps": ",.0f",
    "minutes": ".1f",
    "not finite": ".0f",
    "faulty": ".0f",
    "contacts full": ".0f",
    "resets": ",.0f",
    "bits that differ": ".0f",
    "MiB": ".0f",
    "MiB more": ".1f",
    "descriptors": ".0f",
    "descriptors more": ".0f",
    "threads more": ".0f",
}


class Batch(NamedTuple):
    """Environments that are run.

    Attributes:
        solver: theirs.
        low, high: ends of the range of each control, (n,).
        step: takes a step under controls (num_envs, n), the number of which is given; returns its results, each
            (num_envs, ...), and how many environments it has reset.
    """

    solver: RigidSolver
    low: torch.Tensor
    high: torch.Tensor
    step: Callable[[int, torch.Tensor], tuple[list[torch.Tensor], int]]


def run(models: Sequence[str], num_envs: int, env_steps: int, threads: int) -> Iterator[BenchmarkResult]:
    """Run every model for so many environment steps; yield the result so far after each.

    Args:
        models: names of tasks, or of scenes, whose environments have per-environment masses and friction.
        num_envs: environments of a batch.
        env_steps: of all environments together, for each model.
        threads: worker threads.
    """
    init(precision="32", threads=threads)
    torch.set_num_threads(threads)
    table = Table(f"{num_envs} environments, controls at the ends of their range, {threads} threads", COLUMNS)
    result = BenchmarkResult([table])
    for name in models:
        make = scene_batch if name in SCENES else task_batch
        row = soak(name, make(name, num_envs), make(name, min(FEW, num_envs)), max(1, env_steps // num_envs))
        table.rows.append(row)
        for what in ("not finite", "bits that differ", "descriptors more", "threads more"):
            result.verdicts.append(Verdict(f"{name}: {what}", row[what], 0.0, at_least=False))
        result.verdicts.append(Verdict(f"{name}: MiB more", row["MiB more"], MOST_GROWTH, at_least=False))
        yield result


def task_batch(name: str, num_envs: int) -> Batch:
    """A task as users make it, with its episodes."""
    envs = make_vec(name, num_envs)
    envs.reset(seed=0)
    space: Any = envs.single_action_space
    solver = envs.unwrapped.solver

    def step(_: int, actions: torch.Tensor) -> tuple[list[torch.Tensor], int]:
        observation, reward, terminated, truncated = envs.step(actions)[:4]
        return [observation, reward, terminated], int((terminated | truncated).sum())

    return Batch(solver, torch.from_numpy(space.low), torch.from_numpy(space.high), step)


def scene_batch(name: str, num_envs: int) -> Batch:
    """A scene whose environments are reset now and then, each at another time and with other numbers."""
    model = Model.from_mjspec(SCENES[name].build(), **SETTINGS | {"solver": "auto"})
    solver, mj = RigidSolver(model, num_envs), model.mj
    _vary(solver, np.arange(num_envs), 0)

    def step(number: int, controls: torch.Tensor) -> tuple[list[torch.Tensor], int]:
        solver.ctrl = controls
        solver.step(FRAME_SKIP)
        chosen = np.flatnonzero(_rows(number, num_envs, 1, "reset")[:, 0].numpy() < RESET)
        restarted = np.union1d(chosen, np.flatnonzero(solver.faults.numpy() & 1) if solver.any_fault else [])
        if len(restarted):
            solver.reset(restarted.astype(np.int64))
            _vary(solver, restarted.astype(np.int64), number)
        return [solver.coordinates()], len(restarted)

    low, high = torch.as_tensor(mj.actuator_ctrlrange, dtype=torch.float32).T
    return Batch(solver, low, high, step)


def _vary(solver: RigidSolver, envs: np.ndarray, number: int) -> None:
    """Set masses and friction per environment: half to twice the model's."""
    scale = 2.0 ** _rows(number, solver.num_envs, 2, "numbers")[envs].mul(2.0).sub(1.0).double().numpy()
    mj = solver.model.mj
    mass, friction = scale[:, :1] * mj.body_mass, scale[:, 1:, None] * mj.geom_friction
    solver.update_parameters({"body_mass": mass, "geom_friction": friction}, envs)


def _rows(number: int, num_envs: int, width: int, what: str) -> torch.Tensor:
    """Random numbers from 0 to 1 (num_envs, width) of a step: a row is the same however many follow it."""
    key = hashlib.sha256(f"{what} {number}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(key[:7], "little"))
    return torch.rand((num_envs, width), generator=generator)


def soak(name: str, batch: Batch, few: Batch, steps: int) -> dict[str, Any]:
    """Run both batches for so many steps of each environment; the table's row, with the hash and all readings."""
    count, small = batch.solver.num_envs, few.solver.num_envs
    high, begun = torch.zeros((count, len(batch.low)), dtype=torch.bool), time.perf_counter()
    totals = dict.fromkeys(("not finite", "faulty", "contacts full", "resets", "bits that differ"), 0)
    digest, every, readings = hashlib.sha256(), max(1, steps // CHECKPOINTS), list[dict[str, float]]()
    for number in range(1, steps + 1):
        high ^= _rows(number, count, len(batch.low), "flips") < FLIPS
        controls = torch.where(high, batch.high, batch.low)
        handed, resets = batch.step(number, controls)
        handed_to_few, _ = few.step(number, controls[:small])
        totals["resets"] += resets
        totals["not finite"] += sum(int((~torch.isfinite(numbers)).sum()) for numbers in handed)
        if batch.solver.any_fault:
            faults = batch.solver.faults
            totals["faulty"] += int((faults & 1).sum())
            totals["contacts full"] += int((faults & 2).ne(0).sum())
        totals["bits that differ"] += sum(
            int((a[:small] != b).sum()) for a, b in zip(handed, handed_to_few, strict=True)
        )
        if number % every == 0:
            states, states_of_few = batch.solver.state_dict(), few.solver.state_dict()
            for part in ("memory", "counters"):
                totals["bits that differ"] += int((states[part][:small] != states_of_few[part]).sum())
                digest.update(states[part].numpy().tobytes())
            readings.append(_reading())
    warm = readings[min(int(WARM * len(readings)), len(readings) - 1) :]
    growth = {f"{what} more": max(r[what] for r in warm) - warm[0][what] for what in readings[0]}
    last = {what: value for what, value in readings[-1].items() if what in COLUMNS}
    done: dict[str, Any] = {
        "model": name,
        "environment steps": steps * count,
        "minutes": (time.perf_counter() - begun) / 60,
    }
    return {**done, **totals, **last, **growth, "sha256 of states": digest.hexdigest(), "readings": readings}


def _reading() -> dict[str, float]:
    """Memory of this process in MiB, after the allocator gave back its free memory; descriptors; threads."""
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return {
        "MiB": pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }
