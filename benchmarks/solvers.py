"""Conjugate gradients against Newton's method, from 14 to 400 dofs: the basis of the choice of a solver.

Chains hang and touch nothing, robots stand next to each other in one file, piles are crowds of bodies that touch. Both
solvers step the same model from the same states, each environment with a different history; the third column of times
is which one `solver="auto"` takes (`physics.model.solver_choice`), and `lost` its cost relative to the better one.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import mujoco

from ..physics import Model, RigidSolver
from ..physics.machine.runtime import init
from ..physics.model.solver_choice import CG, NEWTON
from .models import SETTINGS, scatter
from .results import BenchmarkResult, Table
from .scenes import BOX, SETTLING, SPHERE, chain, pile, robots, shake
from .timing import take_turns

KINDS: dict[str, Callable[[int], mujoco.MjSpec]] = {
    "chain": chain,
    "ants": lambda count: robots("ant.xml", count),
    "humanoids": lambda count: robots("humanoid.xml", count),
    "spheres": lambda count: pile(SPHERE, [0.1, 0, 0], count),
    "boxes": lambda count: pile(BOX, [0.1, 0.08, 0.06], count),
}
"""Scenes by the first half of their names; the second half is the number of bodies."""
COLUMNS = {"model": "", "dofs": "d", "trees": "d", "contacts": ".1f", "newton us": ".1f", "cg us": ".1f", "auto": ""}
COLUMNS |= {"newton/cg": ".2f", "lost": ".2f"}


def run(models: Sequence[str], num_envs: int, steps: int, rounds: int) -> BenchmarkResult:
    """Compare, on one thread.

    Args:
        models: as "chain-14": a name of `KINDS` and how many links, robots or bodies.
        num_envs: environments in a batch.
        steps: physics steps of one timed stretch.
        rounds: of which medians are taken.
    """
    init(precision="32", threads=1)
    title = f"Solvers: us a step and environment, {num_envs} environments, one thread, float32; medians"
    result = BenchmarkResult([Table(title, COLUMNS)])
    found = [compare(name, num_envs, steps, rounds) for name in models]
    result.tables[0].rows.extend(sorted(found, key=lambda row: row["dofs"]))
    return result


def build(name: str) -> mujoco.MjSpec:
    """The model of a name.

    Raises:
        ValueError: it is no model.
    """
    kind, _, count = name.rpartition("-")
    if kind not in KINDS or not count.isdigit() or int(count) < 1:
        raise ValueError(f"no model {name!r}: write {' or '.join(f'{k}-8' for k in KINDS)}, with any number")
    return KINDS[kind](int(count))


def compare(name: str, num_envs: int, steps: int, rounds: int) -> dict[str, Any]:
    """A row of the table."""
    spec = build(name)
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON  # of the file, for "auto" to choose from
    solvers = {
        which: RigidSolver(Model.from_mjspec(spec, **SETTINGS | {"solver": which}), num_envs) for which in (NEWTON, CG)
    }
    first = solvers[CG]
    if first.model.mj.nu:
        scatter(first, SETTLING)
    else:
        shake(first)
        first.step(SETTLING)
    solvers[NEWTON].set_state(qpos=first.qpos, qvel=first.qvel)
    solvers[NEWTON].ctrl = first.ctrl
    samples = take_turns({which: _stretch(solver, steps) for which, solver in solvers.items()}, rounds)
    per_step = 1e6 / (steps * num_envs)
    times = {which: sample.median * per_step for which, sample in samples.items()}
    auto = Model.from_mjspec(spec, **SETTINGS | {"solver": "auto"}).solver
    mj = first.model.mj
    return {
        "model": name,
        "dofs": int(mj.nv),
        "trees": int(mj.ntree),
        "contacts": float(first.contacts.mask.sum()) / num_envs,
        "newton us": times[NEWTON],
        "cg us": times[CG],
        "auto": auto,
        "newton/cg": times[NEWTON] / times[CG],
        "lost": times[auto] / min(times.values()),
        "seconds": {which: sample.seconds for which, sample in samples.items()},
    }


def _stretch(solver: RigidSolver, steps: int) -> Callable[[], float]:
    solver.step(1)  # with its warm start
    start = solver.state_dict()

    def stretch() -> float:
        solver.load_state_dict(start)
        begin = time.perf_counter()
        solver.step(steps)
        return time.perf_counter() - begin

    return stretch
