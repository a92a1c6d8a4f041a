"""Launches of the program on a processor: threads take environments in turn, each with a grid of its own."""

from typing import TYPE_CHECKING

import numpy as np

from ....physics.machine.codegen.pool import shared_pool
from ....physics.machine.runtime import ensure_runtime
from ..batch import Batch, Touched
from .layout import BATCH, BODY, ENTITY, LANES, POSE, ROWS, WORKER
from .program import program

if TYPE_CHECKING:
    from ..gpu.launch import DeviceLaunch

_SPARE = 4 * LANES
"""Numbers behind a grid that vectors of nodes may read."""


class CompiledLaunch:
    """Advances a batch.

    Args:
        batch: its memory stays where it is.
        touched: the geoms that it touches.
        threads: the most threads.
    """

    def __init__(self, batch: Batch, touched: Touched, threads: int) -> None:
        domain = batch.domain
        nothing = np.zeros(1, np.int64)
        entities = [
            ENTITY.pack(law=law, first=first, end=end)
            for law, first, end in zip(batch.laws, batch.first[:-1], batch.first[1:], strict=True)
        ]
        self._kept = kept = {
            "entity": np.array(entities),
            "origin": domain.origin.astype(np.float32),
            "walls": np.array([domain.lower, domain.upper], np.float32),
            "nodes": domain.nodes,
            "geom": touched.table if len(touched.table) else nothing,
        }
        self._record = BATCH.pack(
            blocks=batch.first[-1],
            memory=batch.memory.data_ptr(),
            entities=len(entities),
            numbers=batch.numbers.data_ptr(),
            gravity=batch.gravity.data_ptr(),
            faults=batch.faults.data_ptr(),
            held=batch.held.data_ptr(),
            substeps=1,
            dt=batch.dt,
            dx=domain.dx,
            geoms=len(touched.table),
            poses=touched.poses.data_ptr(),
            bodies=touched.bodies.shape[1],
            body=touched.bodies.data_ptr(),
            wrenches=touched.wrenches.data_ptr(),
            **kept,
        )
        self._batch, self._touched = batch, touched
        self._taken, self._count = np.zeros(1, np.int32), np.array([batch.num_envs], np.int32)
        self._rooms = [self._room() for _ in range(min(threads, batch.num_envs))]
        self._launch = shared_pool(threads).bind(program(), [room["record"].ctypes.data for room in self._rooms])

    def _room(self) -> dict[str, np.ndarray]:
        """Return the memory of a thread, and its record."""
        touched = self._touched
        room = {
            "item": np.zeros(1, np.int32),
            "grid": np.zeros(4 * int(np.prod(self._batch.domain.nodes)) + _SPARE, np.float32),
            "before": np.zeros(self._batch.first[-1] * ROWS * LANES, np.float32),
            "poses": np.zeros(max(1, len(touched.table) * POSE), np.float32),
            "body": np.zeros(max(1, touched.bodies.shape[1] * BODY), np.float32),
            "bounds": np.zeros(max(1, len(touched.table) * 6), np.float32),
        }
        unused = dict.fromkeys((name for name in WORKER.fields if name.startswith("unused")), 0)
        shared = {"taken": self._taken, "count": self._count, "batch": self._record}
        return room | {"record": WORKER.pack(**unused, **shared, **room)}

    def __call__(self, substeps: int) -> None:
        """Take substeps in all environments that are not stopped."""
        self._record[BATCH.column("substeps")] = substeps
        self._taken[0] = 0
        self._launch()


def launch_for(batch: Batch, touched: Touched, threads: int) -> "CompiledLaunch | DeviceLaunch":
    """Return the launch of a batch: compiled code on a processor, kernels of Taichi with the GPU driver."""
    runtime = ensure_runtime()
    if not runtime.columns:
        return CompiledLaunch(batch, touched, threads)
    from ..gpu.launch import DeviceLaunch  # Taichi is imported where it is used

    return DeviceLaunch(runtime, batch, touched)
