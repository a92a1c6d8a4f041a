"""MuJoCo Warp on the same GPU and model as Tumble, if it is installed; else its published rate, called that."""

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import mujoco

from .columns import repeat, steps_within, stretch, wait
from .gpu_job import ACTIONS, SCATTER_STEPS, Job, Row, rates, row_of
from .models import load

NAME = "mujoco_warp"
CONTACTS, CONSTRAINT_ROWS = 24, 96
"""Room of a world: the contacts of MuJoCo Warp's own benchmark of a humanoid, and half as many rows again."""
PUBLISHED = {
    "side": "MuJoCo Warp, as published: not measured here",
    "task": "Humanoid (MuJoCo Warp's own model)",
    "environments": 8192,
    "steps/s": 3.97e6,
    "note": f"a Blackwell workstation GPU; {NAME} is not installed here",
}


def peer(job: Job) -> Iterator[Row]:
    """Physics steps of MuJoCo Warp under random controls, in a CUDA graph."""
    if importlib.util.find_spec(NAME) is None:
        yield dict(PUBLISHED)
        return
    for num_envs in job.batches:
        found = row_of(job, num_envs, lambda num_envs=num_envs: _peer_row(job, num_envs))
        yield {"side": "MuJoCo Warp, measured here", **found}


def _peer_row(job: Job, num_envs: int) -> Row:
    import mujoco_warp as mjw
    import warp as wp

    def finish() -> None:
        wp.synchronize()
        wait(job.device)

    wp.config.quiet = True
    with wp.ScopedDevice("cuda:0" if job.device == "cuda" else "cpu"):
        mj = load(job.task).mj
        model = mjw.put_model(mj)
        data = mjw.put_data(mj, mujoco.MjData(mj), nworld=num_envs, nconmax=CONTACTS, njmax=CONSTRAINT_ROWS)
        step = _stepper(mjw, wp, mj, model, data, num_envs, captured=job.device == "cuda")
        repeat(step, SCATTER_STEPS if job.device == "cuda" else 2)()
        finish()

        def some(count: int) -> Callable[[], None]:
            return _in_turn(repeat(step, count), finish)

        steps = steps_within(job.device, some(1), job.seconds, job.steps)
        found = [stretch(job.device, some(steps)) for _ in range(job.rounds)]
        return {**rates("", found, num_envs, steps), "steps": steps}


def _in_turn(*parts: Callable[[], None]) -> Callable[[], None]:
    """A function that calls these one after the other."""

    def work() -> None:
        for part in parts:
            part()

    return work


def _stepper(mjw: Any, wp: Any, mj: Any, model: Any, data: Any, num_envs: int, captured: bool) -> Any:
    """A function that writes other random controls and steps."""
    import numpy as np

    low, high = mj.actuator_ctrlrange.T
    noise = np.random.default_rng(0).random((ACTIONS, num_envs, mj.nu))
    controls = [wp.array((low + (high - low) * one).astype(np.float32), dtype=float) for one in noise]
    turn = iter(range(1 << 60))
    mjw.step(model, data)  # compiles
    graph = None
    if captured:
        with wp.ScopedCapture() as capture:
            mjw.step(model, data)
        graph = capture.graph

    def step() -> None:
        wp.copy(data.ctrl, controls[next(turn) % ACTIONS])
        if graph is None:
            mjw.step(model, data)
        else:
            wp.capture_launch(graph)

    return step
