"""Derivatives of steps against plain steps, mjd_transitionFD and, where a Python has it, MJX on JAX.

All in double precision on one thread, with the integrator Euler, in states scattered by random actions; microseconds of
a core an environment. mjd_transitionFD takes forward or centred differences with a length of 1e-6, here centred ones.
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import torch

from .. import assets
from ..physics import Model, RigidSolver
from ..physics.machine.runtime import init
from .models import FILES, scatter
from .results import BenchmarkResult, Table, Verdict
from .timing import Sample, take_turns

SETTINGS: dict[str, Any] = {"integrator": "Euler", "tolerance": 1e-8, "iterations": 50}
COLUMNS = {"model": "", "directions": "d", "step us": ".2f", "A, B us": ".1f", "a direction in steps": ".2f"}
COLUMNS |= {"jvp us": ".2f", "backward us": ".1f", "MuJoCo us": ".0f", "times MuJoCo": ".1f"}
COLUMNS |= {"MJX us": ".0f", "MJX compiles s": ""}
BOUNDS = {"Ant": 130.0, "Humanoid": 480.0}
"""The most microseconds for A and B."""
BESIDE_MJX = {"Hopper", "Ant"}
LIMIT = 1200.0
"""The most seconds that MJX may take for a model."""
PEER = Path(__file__).with_name("mjx_peer.py")


def run(models: Sequence[str], num_envs: int, rounds: int, mjx: str) -> BenchmarkResult:
    """Compare.

    Args:
        models: keys of `models.FILES`.
        num_envs: environments in a batch.
        rounds: of which medians are taken.
        mjx: a Python with JAX and mujoco-mjx; "": none.
    """
    init(precision="64", threads=1)
    torch.set_num_threads(1)
    title = f"Derivatives: us a core and environment, {num_envs} environments, float64; medians"
    result = BenchmarkResult([Table(title, COLUMNS)])
    solvers = {name: scattered(name, num_envs) for name in models}
    rows = {name: compare(name, solver, rounds) for name, solver in solvers.items()}
    for name in set(rows) & BESIDE_MJX if mjx else ():
        rows[name] |= by_mjx(mjx, name, solvers[name], rounds)
    for name, row in rows.items():
        result.tables[0].rows.append(row)
        result.verdicts.append(Verdict(f"{name}: a direction in steps", row["a direction in steps"], 1.5, False))
        result.verdicts.append(Verdict(f"{name}: times MuJoCo", row["times MuJoCo"], 4.0))
        if name in BOUNDS:
            result.verdicts.append(Verdict(f"{name}: A, B us", row["A, B us"], BOUNDS[name], False))
    return result


def scattered(name: str, num_envs: int) -> RigidSolver:
    """Return a solver of a model whose environments are in different states."""
    solver = RigidSolver(Model.from_mjcf(str(assets.find(FILES[name])), **SETTINGS), num_envs)
    scatter(solver)
    return solver


def compare(name: str, solver: RigidSolver, rounds: int) -> dict[str, Any]:
    """Return the row of a model."""
    mj, count = solver.model.mj, solver.num_envs
    directions = 2 * int(mj.nv) + int(mj.nu)
    other = RigidSolver(solver.model, count)
    other.set_state(qpos=solver.qpos, qvel=solver.qvel)
    controls = solver.ctrl[:, None].requires_grad_()
    ends = other.gradients.rollout(controls=controls).qvel.sum()
    along = torch.ones(1, mj.nv, dtype=torch.float64)
    sides: dict[str, Callable[[], Any]] = {
        "step us": solver.step,
        "A, B us": solver.gradients.transition,
        "jvp us": lambda: solver.gradients.jvp(qvel=along),
        "backward us": lambda: torch.autograd.grad(ends, controls, retain_graph=True),
        "MuJoCo us": differences_of_mujoco(mj, solver),
    }
    samples = take_turns({side: _timed(call) for side, call in sides.items()}, rounds)
    counts = dict.fromkeys(sides, count) | {"MuJoCo us": min(count, 16)}
    found = {side: _micros(sample, counts[side]) for side, sample in samples.items()}
    row = {"model": name, "directions": directions, **found}
    row["a direction in steps"] = found["A, B us"] / directions / found["step us"]
    row["times MuJoCo"] = found["MuJoCo us"] / found["A, B us"]
    return row


def differences_of_mujoco(mj: mujoco.MjModel, solver: RigidSolver) -> Callable[[], None]:
    """Return a function that differentiates 16 environments by mjd_transitionFD."""
    data, size = mujoco.MjData(mj), 2 * mj.nv + mj.na
    A, B = np.zeros((size, size)), np.zeros((size, mj.nu))
    states = [part[:16].numpy() for part in (solver.qpos, solver.qvel, solver.ctrl)]

    def call() -> None:
        for qpos, qvel, ctrl in zip(*states, strict=True):
            data.qpos, data.qvel, data.ctrl = qpos, qvel, ctrl
            mujoco.mjd_transitionFD(mj, data, 1e-6, True, A, B, None, None)

    return call


def by_mjx(python: str, name: str, solver: RigidSolver, rounds: int) -> dict[str, Any]:
    """Return the figures of MJX on JAX for 32 environments, in a Python that has it, if it compiles within `LIMIT`."""
    with tempfile.TemporaryDirectory() as folder:
        states = Path(folder) / "states.npz"
        np.savez(states, **{name: getattr(solver, name)[:32].numpy() for name in ("qpos", "qvel", "ctrl")})
        command = [python, str(PEER), str(assets.find(FILES[name])), str(states), str(rounds)]
        try:
            answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT).stdout
        except subprocess.TimeoutExpired:
            return {"MJX compiles s": f"more than {LIMIT:.0f}"}
    found = json.loads(answer.splitlines()[-1])
    micros = _micros(Sample(tuple(found["seconds"])), min(32, solver.num_envs))
    return {"MJX us": micros, "MJX compiles s": f"{found['compiling']:.0f}", "MJX finite": found["finite"]}


def _timed(call: Callable[[], Any]) -> Callable[[], float]:
    """Return a function that makes a call and returns the processor's seconds that it took."""

    def timed() -> float:
        began = time.process_time()
        call()
        return time.process_time() - began

    return timed


def _micros(sample: Sample, count: int) -> float:
    return 1e6 * sample.median / count
