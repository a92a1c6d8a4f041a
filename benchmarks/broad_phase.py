"""The time to find near geoms as a function of their number: by the list of all pairs, by the sweep, and in MuJoCo.

Spheres drift slowly side by side and do not touch, so the extra time of a step over one with contacts switched off is
the time of collision detection. Every environment has different positions and velocities.
"""

import time
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from ..physics import Model, RigidSolver
from ..physics.machine.runtime import init
from ..physics.mechanics.collision.broad.broad_phase import LIST, SWEEP
from .physics import MujocoSide, mujoco_states
from .results import BenchmarkResult, Table, Verdict
from .timing import Sample, take_turns

MOST_OF_A_LIST = 1000
"""Geoms: longer lists are refused."""
RADIUS, PITCH, JITTER, DRIFT = 0.04, 0.2, 0.015, 0.1
"""Metres, metres between neighbours, metres of their places' standard deviation, and m/s of that of velocities."""
LARGE = 500
"""Geoms from which on the sweep should be no slower than MuJoCo's."""
COLUMNS = {"geoms": "d", "list us": ".1f", "sweep us": ".1f", "MuJoCo us": ".1f", "rest of a step us": ".1f"}
COLUMNS |= {"list/sweep": ".2f", "MuJoCo/sweep": ".2f"}


def run(geoms: Sequence[int], num_envs: int, steps: int, rounds: int) -> BenchmarkResult:
    """Compare, on one thread.

    Args:
        geoms: numbers of spheres.
        num_envs: environments on both sides.
        steps: physics steps of one timed stretch.
        rounds: of which medians are taken.
    """
    init(precision="32", threads=1)
    title = (
        f"Collision detection: us a step and environment, {num_envs} environments, one thread, float32 against "
        "MuJoCo's float64; medians of steps less medians with contacts switched off"
    )
    result = BenchmarkResult([Table(title, COLUMNS)])
    for count in geoms:
        result.tables[0].rows.append(row := compare(count, num_envs, steps, rounds))
        if count >= LARGE:
            result.verdicts.append(Verdict(f"{count} geoms: MuJoCo's time over the sweep's", row["MuJoCo/sweep"], 1.0))
    return result


def compare(count: int, num_envs: int, steps: int, rounds: int) -> dict[str, Any]:
    """A row of the table."""
    spec, names = drifting(count), [LIST, SWEEP] if count <= MOST_OF_A_LIST else [SWEEP]
    models = {name: Model.from_mjspec(spec, broad_phase=name, solver="cg") for name in names}
    models["without"] = Model.from_mjspec(spec, disableflags=["contact"], solver="cg")
    solvers = {name: RigidSolver(model, num_envs) for name, model in models.items()}
    sides: dict[str, Any] = {}
    for name, solver in solvers.items():
        scatter(solver)
        sides[name] = _stretch(solver, steps)
    for name in (SWEEP, "without"):
        solver = solvers[name]
        controls, warm = np.zeros((num_envs, steps, 0)), np.zeros((num_envs, solver.model.mj.nv))
        sides[f"MuJoCo {name}"] = MujocoSide(solver.model, mujoco_states(solver), warm, controls, 1)
    samples = take_turns(sides, rounds)
    per_step = 1e6 / (steps * num_envs)
    own = {name: _beyond(samples[name], samples["without"]) * per_step for name in names}
    theirs = _beyond(samples[f"MuJoCo {SWEEP}"], samples["MuJoCo without"]) * per_step
    if solvers[SWEEP].contacts.mask.any():
        raise RuntimeError(f"{count} spheres touch each other: their time is not only collision detection")
    return {
        "geoms": count,
        "list us": own.get(LIST),
        "sweep us": own[SWEEP],
        "MuJoCo us": theirs,
        "rest of a step us": samples["without"].median * per_step,
        "list/sweep": own[LIST] / own[SWEEP] if LIST in own else None,
        "MuJoCo/sweep": theirs / own[SWEEP],
        "seconds": {name: sample.seconds for name, sample in samples.items()},
    }


def _beyond(sample: Sample, rest: Sample) -> float:
    """Seconds less the seconds of the rest of a step, and more than nothing."""
    return max(sample.median - rest.median, 1e-9)


def _stretch(solver: RigidSolver, steps: int) -> Any:
    start = solver.state_dict()

    def stretch() -> float:
        solver.load_state_dict(start)
        begin = time.perf_counter()
        solver.step(steps)
        return time.perf_counter() - begin

    return stretch


def drifting(count: int) -> mujoco.MjSpec:
    """So many spheres side by side in a cube, without gravity."""
    spec, side = mujoco.MjSpec(), int(np.ceil(count ** (1 / 3) - 1e-9))
    spec.option.gravity = [0, 0, 0]
    for i in range(count):
        body = spec.worldbody.add_body(pos=PITCH * np.array([i % side, i // side % side, i // side**2]))
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], mass=1)
    return spec


def scatter(solver: RigidSolver) -> None:
    """Places and velocities for each environment."""
    mj, rng = solver.model.mj, np.random.default_rng(0)
    qpos = np.tile(mj.qpos0, (solver.num_envs, 1)).reshape(solver.num_envs, -1, 7)
    qpos[..., :3] += JITTER * rng.standard_normal((*qpos.shape[:2], 3))
    qvel = DRIFT * rng.standard_normal((solver.num_envs, mj.nv))
    solver.set_state(qpos=qpos.reshape(solver.num_envs, -1), qvel=qvel)
    solver.step(2)  # a sweep begins with the order of the step before
