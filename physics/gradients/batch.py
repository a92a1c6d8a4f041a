"""Memory and launches for tangents on a CPU: tiles of states, seeds and results, always in double precision."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from ..base.fields import layout
from ..machine.codegen.keys import hash_of
from ..machine.runtime import Runtime
from ..model.features import Features
from ..model.model import Model
from ..model.state.sizes import PARAMETER_FIELDS, flat_reals, memory_groups, scratch_rows
from ..run.bound_kernel import BoundTiles
from ..run.programs import HostScratch, Program, aligned
from ..run.settings import CALL_LENGTH, Count, Setting
from ..run.step import LAST
from ..run.tiles.growing import GrowingCapacity
from ..run.tiles.tiles import Tiles
from .settings import DirectionSetting as Direction

SOURCES = ("gradients",)
"""The rooms of `physics` on which units with tangents depend, beside those of `machine.codegen.keys`."""
TURN = "d_turn"
"""The unit that takes a tile through the passes of a launch."""


class Passes(NamedTuple):
    """The numbers of passes of each level, in the order in which they run."""

    control: int
    velocity: int
    position: int


def shared_program(runtime: Runtime, width: int, features: Features) -> Program:
    """Return the code with tangents for a lane width and features; it is made once, then shared.

    Args:
        runtime: the runtime, in double precision.
        width: the lane width.
        features: of the models.
    """
    pool, scratch = runtime.pool, ("twin scratch", width)
    if scratch not in pool:
        pool[scratch] = HostScratch(width, "64", twins=True)
    entries = {
        "compiler": ["tumble.physics.gradients.units", "TangentCompiler"],
        "sources": hash_of(SOURCES),
        "what": "derivatives for this model",
    }
    made = Program(runtime, width, features, pool[scratch], TURN, entries)
    return pool.setdefault(("tangents", width, features), made)


class DirectionBatch(Tiles):
    """Environments, or environments times directions, in the lanes of tiles, and the launch of their passes.

    Args:
        runtime: the runtime of the solver.
        model: the model.
        features: the optional code of its kernels, in double precision.
        lanes_used: lanes that hold something.
        passes: passes by level.
        seeds: rows of the scratch that have seeds, beside qpos.
        results: rows of the scratch whose tangents are results, beside qpos.
        own: fields of the model that environments have as their own.
        own_seeds: whether these have seeds.

    Attributes:
        seeds: (tiles, passes, nv + seeds + own seeds, lanes), a view of the memory.
        results: (tiles, passes, nv + results, lanes), a view of the memory.
    """

    def __init__(
        self,
        runtime: Runtime,
        model: Model,
        features: Features,
        lanes_used: int,
        width: int,
        passes: Passes,
        seeds: Sequence[int],
        results: Sequence[int],
        own: Sequence[str] = (),
        own_seeds: bool = False,
    ) -> None:
        super().__init__(lanes_used, width)
        self._runtime = runtime
        double = replace(runtime, precision="64")
        room = GrowingCapacity(model, width, double)
        if features.parameters:
            room.make_differ()
        self.room, groups = room, memory_groups(room.sizes)
        first = max(group.stop for group in groups.values())
        fields = [field for field in PARAMETER_FIELDS if field.name in own]
        offsets, _ = layout(PARAMETER_FIELDS, model.sizes)
        self.own_places, own_rows = {}, list[int]()
        for field in fields:
            count = field.length(model.sizes)
            self.own_places[field.name] = slice(len(own_rows), len(own_rows) + count)
            own_rows += range(offsets[field.name], offsets[field.name] + count)
        nv, count = model.sizes["nv"], sum(passes)
        seed_rows = nv + len(seeds) + own_seeds * len(own_rows)
        result_rows = nv + len(results)
        self.memory = _aligned((self.count, first + count * (seed_rows + result_rows), width))
        self.states = self.memory[:, :first]
        split = first + count * seed_rows
        self.seeds = self.memory[:, first:split].view(self.count, count, seed_rows, width)
        self.results = self.memory[:, split:].view(self.count, count, result_rows, width)
        self.own = _aligned((self.count, max(1, len(own_rows)), width))
        counters = torch.zeros((self.count, len(Count), width), dtype=torch.int32)
        call = torch.zeros(CALL_LENGTH, dtype=torch.int32)
        for name, group in groups.items():
            call[Setting[name]] = group.stop - group.start
        call[Setting.PARAMETERS], call[Setting.LAST] = len(own_rows), LAST
        call[Setting.TILES] = self.count
        call[Direction.FIRST], call[Direction.PASSES] = first, count
        call[Direction.CONTROL_PASSES], call[Direction.VELOCITY_PASSES] = passes.control, passes.velocity
        call[Direction.SEEDS], call[Direction.RESULTS] = len(seeds), len(results)
        call[Direction.OWN_SEEDS] = own_seeds * len(own_rows)
        call[Direction.CLEARED] = scratch_rows(room.sizes)[0]
        self.call = call
        left = torch.zeros(self.count, dtype=torch.int32)
        reals = torch.from_numpy(flat_reals(model, np.float64))
        rows = torch.tensor([*seeds, *results] or [0], dtype=torch.int32)
        nothing = torch.zeros((1, 1), dtype=torch.float64), torch.zeros((1, 1), dtype=torch.int32)
        periods = torch.zeros((1, 1, 1), dtype=torch.float64)
        own_at = torch.tensor(own_rows or [0], dtype=torch.int32)
        batch = self.memory, counters, self.own
        arguments = (room.ints, reals, reals, *batch, call, rows, *nothing, periods, periods, own_at, left)
        call[Setting.WORKERS] = min(self.count, room.workers)
        self._launch = BoundTiles(shared_program(double, width, features), arguments, room, call, left)

    def launch(self, keep: bool = False) -> None:
        """Take a step with tangents; with `keep` the states become those after it."""
        self.call[Direction.KEEP] = int(keep)
        self._launch()


def _aligned(shape: tuple[int, ...]) -> torch.Tensor:
    """Return zeros in double precision, aligned as launches need them."""
    return torch.from_numpy(aligned(int(np.prod(shape)), np.dtype("f8"))).view(shape)
