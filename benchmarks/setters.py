"""Setters and getters of entities: the cost of a call that names a few columns of a few environments.

For comparison: the same call for all environments, and a write of whole rows of the same few environments.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import scene as gs
from ..physics.machine.runtime import init
from .results import BenchmarkResult, Table
from .timing import clock, take_turns

CALLS = 200
"""Calls of one timed stretch."""
COLUMNS = {"call": "", "some us": ".1f", "all us": ".1f"}


def run(num_envs: int, rounds: int) -> BenchmarkResult:
    """Time calls of an ant's setters and getters, with 3 dofs in 5 environments and in all of them.

    Args:
        num_envs: environments in the batch.
        rounds: of which medians are taken.
    """
    init(precision="32")
    scene = gs.Scene()
    scene.add_entity(gs.morphs.MJCF(file="ant.xml"), name="ant")
    scene.build(n_envs=num_envs)
    ant, dofs = scene.get_entity("ant"), [6, 8, 10]
    some = np.linspace(0, num_envs - 1, min(5, num_envs)).astype(np.int64)
    ways = {"some": (some, torch.zeros(len(some), 3)), "all": (None, torch.zeros(num_envs, 3))}
    sides = {
        f"{name} {way}": _stretch(call, values, envs, scene)
        for name, call in calls(ant, dofs).items()
        for way, (envs, values) in ways.items()
    }
    samples = take_turns(sides, rounds)
    title = f"An ant's 3 dofs in 5 and in all of {num_envs:,} environments, us a call, float32; medians"
    result = BenchmarkResult([Table(title, COLUMNS)])
    for name in calls(ant, dofs):
        times = {way: 1e6 * samples[f"{name} {way}"].median / CALLS for way in ways}
        result.tables[0].rows.append({"call": name, "some us": times["some"], "all us": times["all"]})
    return result


def calls(ant: Any, dofs: list[int]) -> dict[str, Callable[[torch.Tensor, Any], Any]]:
    """Return the calls (values, environments) by name."""
    state = ant.solver.state

    def whole_rows(values: torch.Tensor, envs: Any) -> None:
        qpos = ant.solver.get("qpos", envs)
        qpos[:, dofs] = values
        state.set(envs, qpos=qpos)

    return {
        "set_dofs_position": lambda values, envs: ant.set_dofs_position(values, dofs, envs, zero_velocity=False),
        "set_dofs_velocity": lambda values, envs: ant.set_dofs_velocity(values, dofs, envs),
        "control_dofs_position": lambda values, envs: ant.control_dofs_position(values, dofs, envs),
        "set_dofs_kp": lambda values, envs: ant.set_dofs_kp(values, dofs, envs),
        "get_dofs_position": lambda values, envs: ant.get_dofs_position(dofs, envs),
        "state.set of whole rows": whole_rows,
    }


def _stretch(
    call: Callable[[torch.Tensor, Any], Any], values: torch.Tensor, envs: Any, scene: Any
) -> Callable[[], float]:
    values = values.to(scene.rigid_solver.device)
    return lambda: clock(lambda: call(values, envs), CALLS)
