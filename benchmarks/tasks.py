"""Tumble's own tasks: environment steps a second, and the physics of their robots against MuJoCo's C."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from ..envs.making import make_vec
from ..physics.machine.runtime import init
from .models import SETTINGS
from .peers import Peer, tumble_peer
from .physics import compare, new_result
from .results import BenchmarkResult, Table
from .timing import Sample, take_turns

ROBOTS = ("QuadrupedFlat", "BipedFlat", "ArmReach", "HandReorientCube", "DroneHover")
"""Their physics is compared, on flat ground."""
WARM_UP_STEPS = 100
"""Random steps before the first timed one: episodes have then spread out."""
FASTER = 8.0
COLUMNS = {"task": "", "one thread": ",.0f", "us/step": ".1f", "all threads": ",.0f", "over one": ".2f"}


def run(models: Sequence[str], num_envs: int, steps: int, rounds: int, threads: int) -> BenchmarkResult:
    """Measure tasks, and then the physics of the tasks in `ROBOTS`.

    Args:
        models: names of tasks, such as "QuadrupedFlat".
        num_envs: environments of each.
        steps: environment steps of one timed stretch; physics steps of one are at least as many.
        rounds: of which medians are taken.
        threads: of the measurement on several.
    """
    init(precision="32", threads=threads)
    title = f"Environment steps a second: {num_envs} environments, random actions, resets and rewards included"
    speed = Table(f"{title}; one thread, then {threads}", COLUMNS)
    physics = new_result(num_envs, threads, f"{WARM_UP_STEPS} random actions, under the controls of further ones")
    for task in models:
        speed.rows.append(_speed(task, num_envs, steps, rounds, threads))
    for task in (name for name in models if name in ROBOTS):
        _physics(physics, task, num_envs, steps, rounds, threads)
    result = BenchmarkResult([speed, *physics.tables])
    result.verdicts += physics.verdicts
    return result


def _speed(task: str, num_envs: int, steps: int, rounds: int, threads: int) -> dict[str, Any]:
    """Return the row of a task."""
    peers = {"one": tumble_peer(task, num_envs, 1), "all": tumble_peer(task, num_envs, threads)}
    for peer in peers.values():
        peer.step(WARM_UP_STEPS)
    samples = take_turns({name: partial(_seconds, peer, steps) for name, peer in peers.items()}, rounds)
    each = {name: Sample(tuple(s / (num_envs * steps) for s in sample.seconds)) for name, sample in samples.items()}
    return {
        "task": task,
        "one thread": 1 / each["one"].median,
        "us/step": 1e6 * each["one"].median,
        "all threads": 1 / each["all"].median,
        "over one": each["all"].times_faster_than(each["one"]).median,
        "seconds a step": {name: sample.seconds for name, sample in each.items()},
    }


def _seconds(peer: Peer, steps: int) -> float:
    return peer.step(steps)[0]


def _physics(result: BenchmarkResult, task: str, num_envs: int, steps: int, rounds: int, threads: int) -> None:
    """Add the rows of a robot: its solver without the task, and MuJoCo, from states of the task, under its controls."""
    envs = make_vec(task, num_envs, max_episode_steps=10**9, model_options=SETTINGS)
    envs.reset(seed=0)
    space: Any = envs.single_action_space
    shape, generator = (num_envs, *space.shape), torch.Generator().manual_seed(0)
    for _ in range(WARM_UP_STEPS):
        envs.step(2 * torch.rand(shape, generator=generator) - 1)
    start, controls = envs.solver.state_dict(), []
    for _ in range(math.ceil(steps / envs.task.frame_skip)):
        envs.step(2 * torch.rand(shape, generator=generator) - 1)
        controls += envs.task.frame_skip * [envs.solver.ctrl]
    envs.solver.load_state_dict(start)
    compare(result, task, envs.solver, len(controls), rounds, threads, FASTER, controls=torch.stack(controls))
    envs.close()
