"""Launches of a batch of matter on a GPU: the kernels of all substeps are issued in turn, and nothing is waited for.

The grids of all environments may not fit into memory. Then environments are taken in slices, each with all substeps.
"""

import ctypes
import math
from functools import cached_property
from typing import Any

import numpy as np
import torch

from ....physics.machine.memory import available_memory, require_memory
from ....physics.machine.runtime import Runtime
from ....physics.run.tensor_kernels import Recipe, shared_kernels
from ..batch import Batch, Touched
from ..contact.touching import KINDS
from ..kernels.layout import BODY, GEOM, GEOM_NUMBERS, LANES, POSE, ROWS
from ..laws.laws import LAWS
from . import contact, grid, particles
from .contact import FIELD_NUMBERS, MET, SIX
from .words import SHARES, scale_bits

MOST_NUMBERS = 2**31 - 1
"""The most numbers of an array: kernels have indices of 32 bits."""
PART_OF_MEMORY = 0.5
"""The part of the free memory that a launch may take."""


class DeviceLaunch:
    """Advances a batch by kernels of Taichi.

    Args:
        runtime: whose Taichi launches them.
        batch: its memory stays where it is.
        touched: the geoms that it touches.
        at_once: the most environments whose grids are in memory at a time; None: as many as fit at the first launch.

    Attributes:
        slices: the arrays of the environments that are taken together, by the names that kernels have for them.

    Raises:
        MemoryError: not even one environment's grid fits.
    """

    def __init__(self, runtime: Runtime, batch: Batch, touched: Touched, at_once: int | None = None) -> None:
        self._runtime, self._batch, self._touched = runtime, batch, touched
        self._at_once = at_once or batch.num_envs
        environments_that_fit(batch, touched)
        self._bits = scale_bits(batch.first[-1] * LANES)
        self._kinds = [KINDS[kind] for kind in touched.table[:, GEOM.column("kind")]]
        self._bodies = touched.table[:, GEOM.column("body")].tolist()
        self._constant = _constants(batch) | (geom_tables(touched, batch.device) if self._kinds else {})
        self._kernels: dict[Recipe, Any] = {}

    @cached_property
    def slices(self) -> list[dict[str, torch.Tensor]]:
        """See the class; grids are allocated when they are first needed, as a coupler replaces launches unused."""
        count = self._batch.num_envs
        envs = min(self._at_once, environments_that_fit(self._batch, self._touched))
        work = _work(self._batch, self._touched, envs)
        return [self._slice(begin, min(begin + envs, count), work) for begin in range(0, count, envs)]

    def _slice(self, begin: int, end: int, work: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        batch, touched = self._batch, self._touched
        whole = {name: getattr(batch, name)[begin:end] for name in ("memory", "numbers", "gravity", "faults", "held")}
        if self._kinds:
            of_touched = {"start_poses": touched.poses, "start_bodies": touched.bodies, "wrenches": touched.wrenches}
            whole |= {name: x[begin:end] if x.shape[1] else x.new_empty(1, 1, 1) for name, x in of_touched.items()}
        return self._constant | whole | {name: x[: end - begin] for name, x in work.items()}

    def __call__(self, substeps: int) -> None:
        """Take substeps in all environments that are not stopped."""
        for arrays in self.slices:
            arrays["before"].copy_(arrays["memory"])
            self._begin(arrays)
            for substep in range(substeps):
                self._advance(arrays, substep)
            self._run(Recipe(particles.make_finish), arrays, "memory before ended faults")

    def _begin(self, arrays: dict[str, torch.Tensor]) -> None:
        of_mass, of_momentum = (2.0**bits for bits in self._bits)
        names = "numbers faults domain ended scales boxes"
        self._run(Recipe(particles.make_begin), arrays, names, of_mass, of_momentum)
        self._run(Recipe(particles.make_find_box), arrays, "memory domain nodes boxes")
        if self._kinds:
            names = "ended start_poses start_bodies poses bodies wrenches"
            self._run(Recipe(contact.make_copy_bodies), arrays, names, self._touched.bodies.shape[1])

    def _advance(self, arrays: dict[str, torch.Tensor], substep: int) -> None:
        """Take one substep."""
        phase, first = substep % 2, self._batch.first
        self._run(Recipe(grid.make_clear), arrays, "nodes ended boxes held sums", phase, substep)
        names = "memory numbers gravity domain nodes ended scales sums"
        for matter, law in enumerate(self._batch.laws):
            recipe, count = Recipe(particles.make_to_grid, (list(LAWS)[law],)), first[matter + 1] - first[matter]
            self._run(recipe, arrays, names, matter, first[matter], count, substep)
        names = "domain nodes ended scales boxes sums grid"
        self._run(Recipe(grid.make_move), arrays, names, phase, substep)
        if self._kinds:
            count = self._touched.bodies.shape[1]
            self._run(Recipe(contact.make_carry), arrays, "domain ended fields poses bodies", count, substep)
        for g, (kind, slot) in enumerate(zip(self._kinds, self._bodies, strict=True)):
            self._touch(arrays, g, kind, slot, phase, substep)
        self._run(Recipe(particles.make_from_grid), arrays, "memory domain nodes ended grid", substep)
        for g, kind in enumerate(self._kinds):
            names = "memory domain ended geoms fields values poses"
            self._run(Recipe(contact.make_put_back, (kind,)), arrays, names, g, substep)
        self._run(Recipe(particles.make_hold), arrays, "memory domain nodes ended boxes held", phase, substep)

    def _touch(self, arrays: dict[str, torch.Tensor], g: int, kind: str, slot: int, phase: int, substep: int) -> None:
        """Stop nodes at a geom; its body, if it recoils, gets what they lose."""
        names = "domain nodes ended boxes grid geoms fields values poses bodies parts"
        if slot >= 0:
            self._run(Recipe(contact.make_meeting, (kind,)), arrays, names, g, phase, substep)
            self._run(Recipe(contact.make_add_up), arrays, "ended parts totals", MET, substep)
            self._run(Recipe(contact.make_meet), arrays, "ended bodies totals kept", slot, substep)
        self._run(Recipe(contact.make_stopping, (kind,)), arrays, names, g, phase, substep)
        if slot >= 0:
            self._run(Recipe(contact.make_add_up), arrays, "ended parts totals", SIX, substep)
            self._run(Recipe(contact.make_respond), arrays, "ended bodies totals kept wrenches", slot, substep)

    def _run(self, recipe: Recipe, arrays: dict[str, torch.Tensor], names: str, *numbers: float) -> None:
        """Launch a kernel with arrays by name, then numbers."""
        kernel = self._kernels.get(recipe)
        if kernel is None:
            (kernel,) = shared_kernels(self._runtime, "f32", (recipe,), "matter")
            self._kernels[recipe] = kernel
        kernel([*(arrays[name] for name in names.split()), *numbers])


def bytes_per_environment(batch: Batch, touched: Touched) -> int:
    """Return the memory of an environment that a launch needs beside that of the batch."""
    nodes, particles = math.prod(batch.domain.nodes.tolist()), batch.first[-1] * LANES
    geoms, bodies = len(touched.table), touched.bodies.shape[1]
    of_contact = 4 * (geoms * POSE + bodies * BODY + SHARES * MET + MET + SIX) if geoms else 0
    return nodes * 4 * (8 + 4) + 4 * particles * ROWS + of_contact + 4 * (2 * 6 + 2 + 1)


def environments_that_fit(batch: Batch, touched: Touched) -> int:
    """Return the number of environments whose grids fit into memory at a time, and which kernels can address.

    Raises:
        MemoryError: not even one.
    """
    on_gpu = batch.device.type == "cuda"
    free = PART_OF_MEMORY * (torch.cuda.mem_get_info(batch.device)[0] if on_gpu else available_memory())
    needed = bytes_per_environment(batch, touched)
    require_memory(1, needed, free)
    most = max(4 * math.prod(batch.domain.nodes.tolist()), batch.first[-1] * LANES * ROWS)
    return max(1, int(min(batch.num_envs, free // needed, MOST_NUMBERS // most)))


def _constants(batch: Batch) -> dict[str, torch.Tensor]:
    """Return the arrays that all environments share: `words` says what is in them."""
    domain = batch.domain
    numbers = [batch.dt, domain.dx, *domain.origin, *domain.lower, *domain.upper]
    return {
        "domain": torch.tensor(numbers, dtype=torch.float32, device=batch.device),
        "nodes": torch.tensor(domain.nodes, dtype=torch.int32, device=batch.device),
    }


def _work(batch: Batch, touched: Touched, envs: int) -> dict[str, torch.Tensor]:
    """Return the arrays of the environments of a slice."""
    nodes = math.prod(batch.domain.nodes.tolist())
    shapes: dict[str, tuple[torch.dtype, tuple[int, ...]]] = {
        "before": (torch.float32, (envs, *batch.memory.shape[1:])),
        "ended": (torch.int32, (envs,)),
        "scales": (torch.float32, (envs, 2)),
        "boxes": (torch.int32, (envs, 2, 6)),
        "sums": (torch.int64, (envs, nodes, 4)),
        "grid": (torch.float32, (envs, nodes, 4)),
    }
    if len(touched.table):
        bodies = max(1, touched.bodies.shape[1])  # Taichi takes no empty arrays
        shapes |= {
            "poses": (torch.float32, (envs, len(touched.table), POSE)),
            "bodies": (torch.float32, (envs, bodies, BODY)),
            "parts": (torch.float32, (envs, SHARES, MET)),
            "totals": (torch.float32, (envs, MET)),
            "kept": (torch.float32, (envs, SIX)),
        }
    return {name: torch.empty(shape, dtype=dtype, device=batch.device) for name, (dtype, shape) in shapes.items()}


def geom_tables(touched: Touched, device: torch.device) -> dict[str, torch.Tensor]:
    """Return the tables of geoms: `contact` says what is in them."""
    column, numbers, fields, values, first = GEOM.column, [], [], [], 0
    for row in touched.table:
        counts = [int(row[column(name)]) for name in ("nx", "ny", "nz")]
        field = _floats(row[column("values")], math.prod(counts))
        numbers.append(_floats(row[column("numbers")], sum(GEOM_NUMBERS.values())))
        fields.append([int(row[column("body")]), *counts, first])
        values.append(field)
        first += len(field)
    assert len(fields[0]) == FIELD_NUMBERS
    flat = np.concatenate([*values, np.zeros(1, np.float32)])
    return {
        "geoms": torch.from_numpy(np.stack(numbers)).to(device),
        "fields": torch.tensor(fields, dtype=torch.int32, device=device),
        "values": torch.from_numpy(flat).to(device),
    }


def _floats(address: Any, count: int) -> np.ndarray:
    """Return a copy of the numbers at an address of this process, float32."""
    return np.array((ctypes.c_float * count).from_address(int(address)), np.float32)
