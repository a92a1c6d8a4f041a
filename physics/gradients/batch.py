"""Memory and launches for tangents on a CPU: tiles of states, seeds and results, always in double precision."""

import threading
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

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
from .settings import DirectionSetting as Direction

SOURCES = ("gradients",)
"""The rooms of `physics` on which units with tangents depend, beside those of `machine.codegen.keys`."""
TURN = "d_turn"
"""The unit that takes a tile through the passes of a launch."""


TWINS = (0, 2, 3)
"""Places, in `state.sizes.ARRAYS`, of the arrays of real numbers: each has a twin for the tangents of its numbers."""


class TwinScratch(HostScratch):
    """Scratch in double precision, with twins behind the arrays.

    Attributes:
        turn: held from the look at `last_user` to the end of a launch.
        last_user: what stands for the batch that launched last; tangents of another one lie in other places.
    """

    _arrays = (0, 1, 2, 3, *TWINS)

    def __init__(self, width: int) -> None:
        self.turn, self.last_user = threading.Lock(), object()
        super().__init__(width, "64")


class Passes(NamedTuple):
    """The numbers of passes of each level, in the order in which they run."""

    control: int
    velocity: int
    position: int


@dataclass(frozen=True)
class Setup:
    """The settings that all launches for derivatives of a model have in common.

    Attributes:
        runtime: the runtime of the solver.
        model: the model.
        features: the optional code of its kernels, in double precision.
        width: lanes of a tile.
        seeds: rows of the scratch that have seeds, beside qpos.
        results: rows of the scratch whose tangents are results, beside qpos.
        output_stages: names of the stages that compute fields among the results which no step needs.
        own: fields of the model of which environments have own numbers.
        own_seeds: whether own numbers have seeds.
    """

    runtime: Runtime
    model: Model
    features: Features
    width: int
    seeds: tuple[int, ...]
    results: tuple[int, ...]
    output_stages: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    own_seeds: bool = False

    @property
    def double(self) -> Runtime:
        """The runtime in double precision; tangents have it whatever the solver has."""
        return replace(self.runtime, precision="64")

    def own_rows(self) -> dict[str, range]:
        """Return the places of the environments' own fields among the model's real numbers."""
        sizes, fields = self.model.sizes, [field for field in PARAMETER_FIELDS if field.name in self.own]
        offsets, _ = layout(PARAMETER_FIELDS, sizes)
        return {f.name: range(offsets[f.name], offsets[f.name] + f.length(sizes)) for f in fields}

    def program(self) -> Program:
        """Return the code with tangents; it is made once for a lane width and features, then shared."""
        pool, scratch = self.runtime.pool, ("twin scratch", self.width)
        if scratch not in pool:
            pool[scratch] = TwinScratch(self.width)
        entries = {
            "compiler": ["tumble.physics.gradients.units", "TangentCompiler", *self.output_stages],
            "sources": hash_of(SOURCES),
            "what": "derivatives for this model",
        }
        made = Program(self.double, self.width, self.features, pool[scratch], TURN, entries)
        return pool.setdefault(("tangents", self.width, self.features, self.output_stages), made)


class DirectionBatch:
    """Tiles whose lanes are environments or directions of one environment, and the launch of their passes.

    Args:
        setup: model, code, seeds and results.
        tiles: number of tiles.
        passes: passes by level.

    Attributes:
        states: (tiles, rows of an environment's memory, lanes).
        seeds: (tiles, passes, nv + seeds + own numbers that have seeds, lanes).
        results: (tiles, passes, nv + results, lanes).
        values: the numbers whose tangents are results (tiles, results, lanes).
        own: (tiles, own numbers, lanes).
    """

    def __init__(self, setup: Setup, tiles: int, passes: Passes) -> None:
        self._setup, self._passes, width, nv = setup, passes, setup.width, setup.model.sizes["nv"]
        self._room = GrowingCapacity(setup.model, width, setup.double)
        if setup.features.parameters:
            self._room.make_differ()
        first = max(group.stop for group in memory_groups(self._room.sizes).values())
        own = [row for rows in setup.own_rows().values() for row in rows]
        count, own_seeds = sum(passes), len(own) * setup.own_seeds
        seed_rows, result_rows = nv + len(setup.seeds) + own_seeds, nv + len(setup.results)
        split = first + count * seed_rows
        behind = split + count * result_rows
        self._memory = _zeros((tiles, behind + len(setup.results), width))
        self.states, self.own = self._memory[:, :first], _zeros((tiles, max(1, len(own)), width))
        self.seeds = self._memory[:, first:split].view(tiles, count, seed_rows, width)
        self.results = self._memory[:, split:behind].view(tiles, count, result_rows, width)
        self.values = self._memory[:, behind:]
        self._user = object()  # outlives the batch as `last_user`, so that no later batch is taken for this one
        self._call = self._settings(first, len(own), own_seeds)
        self._launch = self._bind(tiles, own)

    def _settings(self, first: int, own: int, own_seeds: int) -> torch.Tensor:
        """Return the settings of a launch; the memory has seeds from row `first` on."""
        call, setup = torch.zeros(CALL_LENGTH, dtype=torch.int32), self._setup
        for name, group in memory_groups(self._room.sizes).items():
            call[Setting[name]] = group.stop - group.start
        call[Setting.PARAMETERS], call[Setting.LAST] = own, LAST
        call[Direction.FIRST], call[Direction.PASSES] = first, sum(self._passes)
        call[Direction.SEEDS], call[Direction.RESULTS] = len(setup.seeds), len(setup.results)
        call[Direction.OWN_SEEDS] = own_seeds
        return call

    def _bind(self, tiles: int, own: list[int]) -> BoundTiles:
        setup, call, room = self._setup, self._call, self._room
        counters = torch.zeros((tiles, len(Count), setup.width), dtype=torch.int32)
        reals = torch.from_numpy(flat_reals(setup.model, np.float64))
        rows, own_rows = (
            torch.tensor(list(given) or [0], dtype=torch.int32) for given in (setup.seeds + setup.results, own)
        )
        nothing, no_integers = torch.zeros((1, 1), dtype=torch.float64), torch.zeros((1, 1), dtype=torch.int32)
        periods, left = nothing[None], torch.zeros(tiles, dtype=torch.int32)
        arguments = (
            *(room.ints, reals, reals, self._memory, counters, self.own, call, rows),
            *(nothing, no_integers, periods, periods, own_rows, left),
        )
        call[Setting.TILES], call[Setting.WORKERS] = tiles, min(tiles, room.workers)
        program = setup.program()
        self._scratch = cast(TwinScratch, program.scratch)
        return BoundTiles(program, arguments, room, call, left)

    def launch(self, keep: bool, applied: int = 0, levels: bool = True) -> None:
        """Take a step with tangents.

        Args:
            keep: store the state after the step in `states`.
            applied: sum of the flags of inputs that states have (`Setting.APPLIED`).
            levels: leave stages out of passes of velocities and controls, in which they have no tangents; False if all
                tangents of the state may be nonzero.
        """
        call = self._call
        call[Direction.KEEP], call[Setting.APPLIED] = int(keep), applied
        call[Direction.CONTROL_PASSES] = self._passes.control * levels
        call[Direction.VELOCITY_PASSES] = self._passes.velocity * levels
        with self._scratch.turn:
            own = self._scratch.last_user is self._user
            call[Direction.CLEARED] = 0 if own else scratch_rows(self._room.sizes)[0]
            self._scratch.last_user = self._user
            self._launch()


def _zeros(shape: tuple[int, ...]) -> torch.Tensor:
    """Return zeros in double precision, aligned as launches need them."""
    return torch.from_numpy(aligned(int(np.prod(shape)), np.dtype("f8"))).view(shape)
