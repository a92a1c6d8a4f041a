"""Derivatives of steps from given states: Jacobians, and products of Jacobians with directions.

A state is a row of an environment's memory (`model.state.memory`) in double precision. The *state vector* of a
derivative has the tangent of qpos (nv numbers, as mj_differentiatePos has them), qvel, act, and what other memory
mechanisms have; its columns are followed by the controls.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

import mujoco
import numpy as np
import torch

from ..base.fields import layout
from ..machine.machine import default_lanes
from ..machine.runtime import Runtime
from ..model.features import Features
from ..model.model import Model
from ..model.solver_choice import CG, NEWTON
from ..model.state.capacity import Capacity, first_capacity
from ..model.state.fields import SCRATCH
from ..model.state.memory import FORCES, INPUTS, MEMORIES, STATE
from ..model.state.sizes import PARAMETER_FIELDS, all_sizes
from ..run.interface import APPLIED
from ..run.launches import stages_on_request
from .batch import DirectionBatch, Passes, Setup
from .levels import CONTROL, INPUT_MEMORY, OUTPUTS, POSITION, SWITCHES, VELOCITY, level_of

SEARCHED, MOST_SEARCHED = 1e-12, 500
"""The tolerance (m) and the most steps with which GJK and EPA search contacts in steps with derivatives. Then those of
curved shapes are usually within 1e-5, relative to the largest entry of the Jacobian, and seldom off by more than 1e-3;
those of shapes with corners only are exact."""
MOST_BATCHES = 4
"""The shapes of launches whose memory is kept."""


class Own(NamedTuple):
    """Numbers of the model that environments have as their own.

    Attributes:
        features: the optional code of a kernel for them, in double precision.
        numbers: by the name of the field, (environments, numbers) each.
    """

    features: Features
    numbers: dict[str, torch.Tensor]

    def in_order(self) -> "Own":
        """Return the numbers in the order in which seeds have them."""
        names = [field.name for field in PARAMETER_FIELDS if field.name in self.numbers]
        return Own(self.features, {name: self.numbers[name] for name in names})


class _Column(NamedTuple):
    """A direction of a Jacobian: its level, and its row among those of a pass's seeds."""

    level: int
    seed: int


class Steps:
    """Derivatives of the steps of a model, from any states.

    Args:
        runtime: the runtime of the solver.
        model: the model.

    Attributes:
        nstate: length of the state vector; its first 2 nv + na numbers are MuJoCo's.
        rows: rows of each field of state and inputs in the memory.
        memory: names of the fields of the state vector behind the tangent of qpos.
        control_rows: rows of the controls.
        nv: number of dofs.
        coordinates: number of rows of the memory that a state and its inputs consist of, the first ones.

    Raises:
        NotImplementedError: a step of the model has no derivative, for a reason that the message names.
    """

    def __init__(self, runtime: Runtime, model: Model) -> None:
        self._runtime, self.model = runtime, with_exact_search(with_newton(model))
        self.features = Features.of(self.model, single=False)
        _require_derivative(self.features)
        lanes = default_lanes("64")
        self._width = min(runtime.lanes, lanes) if runtime.lanes > 1 else lanes
        sizes = all_sizes(self.model, first_capacity(self.model))
        offsets, _ = layout(SCRATCH, sizes)
        self._offsets, self._lengths = offsets, {field.name: field.length(sizes) for field in SCRATCH}
        length = {field.name: field.length(sizes) for field in (*STATE, *INPUTS, *FORCES)}
        self.rows = {name: self._place(name) for name in length}
        self.coordinates = sum(length[field.name] for field in (*STATE, *INPUTS))
        others = {"act", *SWITCHES, *INPUT_MEMORY}
        memory = [memory.field.name for memory in MEMORIES if memory.field.name not in others]
        self.memory = [name for name in ("qvel", "act", *memory) if length[name]]
        self._state_rows = [row for name in self.memory for row in _range(self.rows[name])]
        self.control_rows = list(_range(self.rows["ctrl"]))
        self.nv = self.model.sizes["nv"]
        self.nstate = self.nv + len(self._state_rows)
        self._batches: dict[tuple, DirectionBatch] = {}
        self._depends: dict[tuple, torch.Tensor] = {}
        self._columns_by_inputs: dict[tuple[int, ...], list[_Column]] = {}

    def _columns(self, inputs: tuple[int, ...]) -> list[_Column]:
        """Return the directions of a Jacobian: the state vector, then inputs, which are rows of the memory."""
        if inputs not in self._columns_by_inputs:
            self._columns_by_inputs[inputs] = self._find_columns(inputs)
        return self._columns_by_inputs[inputs]

    def _find_columns(self, inputs: tuple[int, ...]) -> list[_Column]:
        """Return the same, made for these inputs.

        Later stages of a Runge-Kutta step are evaluated at positions that the first one's accelerations have moved.
        """
        levels = [VELOCITY if name != "act" else CONTROL for name in self.memory for _ in _range(self.rows[name])]
        levels = [POSITION] * self.nv + levels + [POSITION if row in self._mocap_rows else CONTROL for row in inputs]
        if int(self.model.mj.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4):
            levels = [POSITION] * len(levels)
        return [_Column(level, seed) for seed, level in enumerate(levels)]

    @cached_property
    def _mocap_rows(self) -> frozenset[int]:
        return frozenset(row for name in ("mocap_pos", "mocap_quat") for row in _range(self.rows[name]))

    def _batch(
        self,
        tiles: int,
        passes: Passes,
        own: Own | None,
        own_seeds: bool,
        inputs: tuple[int, ...],
        outputs: tuple[str, ...] = (),
    ) -> DirectionBatch:
        """Return the memory for launches of a shape; the last few are kept."""
        names, features = (tuple(own.numbers), own.features) if own else ((), self.features)
        key = (tiles, passes, names, features, own_seeds, inputs, outputs)
        if key in self._batches:
            self._batches[key] = self._batches.pop(key)  # the last one used
        else:
            seeds = (*self._state_rows, *inputs)
            results = (*self._state_rows, *(row for name in outputs for row in _range(self._place(name))))
            stages = _stages_of(outputs)
            common = (self._runtime, self.model, features, self._width)
            setup = Setup(*common, seeds, results, stages, names, own_seeds)
            while len(self._batches) >= MOST_BATCHES:
                del self._batches[next(iter(self._batches))]
            self._batches[key] = DirectionBatch(setup, tiles, passes)
        return self._batches[key]

    def jacobians(
        self,
        states: torch.Tensor,
        n: int = 1,
        own: Own | None = None,
        outputs: tuple[str, ...] = (),
        inputs: Sequence[int] | None = None,
    ) -> Iterator[torch.Tensor]:
        """Yield the Jacobians of n steps after each other, (environments, nstate + outputs, nstate + inputs) each.

        Lanes are environments, or, of few environments, directions of one.

        Args:
            states: rows of the memory, (environments, rows).
            n: number of steps under the same inputs.
            own: numbers of the model that environments have as their own.
            outputs: fields of the evaluation with which a step begins, whose numbers follow the state vector.
            inputs: rows of the memory that are controls, applied forces, numbers of dofs' controls, inputs of
                mechanisms, or places of mocap bodies; None: all controls.
        """
        inputs = tuple(self.control_rows if inputs is None else inputs)
        columns = self._columns(inputs)
        wide = self._is_wide(len(states), columns)
        tiles = -(-len(states) // (1 if wide else self._width))
        passes, places = self._spread(wide, columns)
        batch = self._batch(tiles, passes, own, False, inputs, outputs)
        depends = self._dependence(outputs, own, inputs)
        batch.seeds.zero_()
        for (at, lane), column in zip(places, columns, strict=True):
            batch.seeds[:, at, column.seed, lane] = 1.0
        order = torch.tensor([at * self._width + lane.start if wide else at for at, lane in places])
        self._put(batch.states, states, wide)
        if own:
            self._put(batch.own, torch.cat(list(own.numbers.values()), 1), wide)
        applied = self._applied(states, inputs)
        for number in range(n):
            batch.launch(number < n - 1, applied)
            found = batch.results  # (tiles, passes, nstate + outputs, lanes)
            if wide:
                found = found.transpose(1, 2).flatten(2)[:, :, order]
            else:
                found = found.permute(0, 3, 2, 1).flatten(0, 1)[: len(states), :, order]
            if outputs:
                found[:, self.nstate :].masked_fill_(~depends, 0.0)
            yield found

    def outputs(
        self, states: torch.Tensor, names: Sequence[str], own: Own | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return fields of evaluations at states, (environments, numbers), and their Jacobians by state and controls.

        The coordinates at an evaluation are eval_qpos, eval_qvel and eval_act; the others have moved.
        """
        jacobian = next(self.jacobians(states, 1, own, tuple(names)))[:, self.nstate :]
        batch = next(reversed(self._batches.values()))
        wide, skipped = self._is_wide(len(states), self._columns(tuple(self.control_rows))), self.nstate - self.nv
        values = batch.values[:, skipped:, 0] if wide else batch.values[:, skipped:].transpose(1, 2).flatten(0, 1)
        return values[: len(states)].clone(), jacobian

    def length(self, name: str) -> int:
        """Return how many numbers a field has."""
        return self._lengths[name]

    @cached_property
    def outputs_known(self) -> frozenset[str]:
        """Names of fields that may be outputs: real numbers whose place does not depend on how many contacts fit."""
        more = Capacity(*(2 * count + 1 for count in first_capacity(self.model)))
        offsets, _ = layout(SCRATCH, all_sizes(self.model, more))
        real = level_of(POSITION, self.features).fields
        return frozenset(name for name, offset in offsets.items() if name in real and offset == self._offsets[name])

    def _place(self, name: str) -> slice:
        """Return the rows of a field of the scratch."""
        return slice(self._offsets[name], self._offsets[name] + self._lengths[name])

    def _dependence(self, outputs: tuple[str, ...], own: Own | None, inputs: tuple[int, ...]) -> torch.Tensor:
        """Return whether outputs depend on directions, (numbers of the outputs, directions).

        A pass leaves the tangents of other outputs as an earlier one left them.
        """
        key = outputs, own.features if own else self.features, inputs
        if key not in self._depends:
            self._depends[key] = self._find_dependence(*key)
        return self._depends[key]

    def _find_dependence(self, outputs: tuple[str, ...], has: Features, inputs: tuple[int, ...]) -> torch.Tensor:
        """Return the same for features of a kernel; it takes longer than a Jacobian of a small model."""
        stages = _stages_of(outputs)
        fields = {number: level_of(number, has, stages).fields for number in (CONTROL, VELOCITY, POSITION)}
        rows = [[name in fields[column.level] for column in self._columns(inputs)] for name in outputs]
        lengths = torch.tensor([self._lengths[name] for name in outputs], dtype=torch.long)
        return torch.tensor(rows, dtype=torch.bool).repeat_interleave(lengths, 0)

    def _applied(self, states: torch.Tensor, inputs: Sequence[int]) -> int:
        """Return which inputs of the group FORCES some state has, or some direction changes (`Setting.APPLIED`)."""
        rows = {name: self.rows[name] for name in APPLIED}
        moved = {name for name in APPLIED if not set(_range(rows[name])).isdisjoint(inputs)}
        found = [flag for name, flag in APPLIED.items() if name in moved or states[:, rows[name]].any()]
        return reduce(or_, found, 0)

    def _is_wide(self, count: int, columns: Sequence[_Column]) -> bool:
        """Return True if lanes are to be directions: if that takes fewer evaluations and passes of a tile."""
        one_by_one = count * (1 + sum(self._spread(True, columns)[0]))
        return one_by_one < -(-count // self._width) * (1 + len(columns))

    def _spread(self, wide: bool, columns: Sequence[_Column]) -> tuple[Passes, list[tuple[int, slice]]]:
        """Return the passes of a Jacobian, and the pass and lanes of each of its columns."""
        lanes = self._width if wide else 1
        counts = {level: sum(c.level == level for c in columns) for level in (CONTROL, VELOCITY, POSITION)}
        passes = Passes(*(-(-count // lanes) for count in counts.values()))
        first = dict(zip(counts, np.cumsum((0, *passes[:2])) * lanes, strict=True))
        places, taken = [], dict.fromkeys(counts, 0)
        for column in columns:
            at, lane = divmod(int(first[column.level]) + taken[column.level], lanes)
            places.append((at, slice(lane, lane + 1) if wide else slice(None)))
            taken[column.level] += 1
        return passes, places

    def _put(self, tiled: torch.Tensor, rows: torch.Tensor, wide: bool) -> None:
        """Write rows (environments, numbers) into tiles; spare lanes repeat the first environment."""
        if wide:
            tiled[:, : rows.shape[1]] = rows[:, :, None]
            return
        spare = len(tiled) * self._width - len(rows)
        full = torch.cat((rows, rows[:1].expand(spare, -1))) if spare else rows
        tiled[:, : rows.shape[1]] = full.view(len(tiled), self._width, -1).transpose(1, 2)

    def products(self, states: torch.Tensor, seeds: torch.Tensor, n: int = 1, own: Own | None = None) -> torch.Tensor:
        """Return the products of the Jacobian of n steps with directions, (environments, directions, nstate).

        Args:
            states: rows of the memory, (environments, rows).
            seeds: (environments, directions, nstate + nu + numbers in `own`): a direction has the state vector, the
                controls, and the numbers in `own`.
            n: number of steps under the same controls.
            own: numbers of the model that environments have as their own.
        """
        tiles, count = -(-len(states) // self._width), seeds.shape[1]
        batch = self._batch(tiles, Passes(0, 0, count), own, own is not None, tuple(self.control_rows))
        self._put(batch.states, states, False)
        self._put(batch.seeds.flatten(1, 2), seeds.flatten(1), False)
        if own:
            self._put(batch.own, torch.cat(list(own.numbers.values()), 1), False)
        applied = self._applied(states, ())
        for number in range(n):
            batch.launch(number < n - 1, applied)
            if number < n - 1:
                batch.seeds[:, :, : self.nstate] = batch.results
        found = batch.results.permute(0, 3, 1, 2)  # (tiles, lanes, directions, nstate)
        return found.flatten(0, 1)[: len(states)].clone()


def with_newton(model: Model) -> Model:
    """Return the model, solved by Newton's method: conjugate gradients have the same optimum and no Hessian."""
    if model.solver != CG:
        return model
    other = copy(model)
    other.solver = NEWTON
    return other


def with_exact_search(model: Model) -> Model:
    """Return the model, whose contacts of curved shapes are searched to `SEARCHED`.

    A search that ends at MuJoCo's usual 1e-6 m knows a depth, but hardly how it changes: the corners of its last face
    are far apart.
    """
    has = Features.of(model, single=False)
    if not (has.convex or has.terrain) or model.mj.opt.ccd_tolerance <= SEARCHED:
        return model
    other = copy(model)
    other.mj = copy(model.mj)
    other.mj.opt.ccd_tolerance = SEARCHED
    other.mj.opt.ccd_iterations = max(MOST_SEARCHED, other.mj.opt.ccd_iterations)
    other.values = model.values | {"ccd_tolerance": np.array([SEARCHED])}
    return other


def _stages_of(outputs: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the stages that compute outputs, which no step needs."""
    return (*OUTPUTS, *(stage.name for stage in stages_on_request(outputs))) if outputs else ()


def _require_derivative(has: Features) -> None:
    """Raise NotImplementedError if a step of models with these features has no derivative."""
    for feature, reason in REFUSED.items():
        if getattr(has, feature):
            raise NotImplementedError(f"gradients: {reason}")


REFUSED = {
    "noslip": "the option noslip_iterations changes forces after the solver's optimum, so that no condition defines "
    "them; set it to 0",
    "sleeping": "bodies that fall asleep have no derivative; switch the flag `sleep` off",
}
"""Features whose steps have no derivatives, with the reason."""


def _range(rows: slice) -> range:
    return range(rows.start, rows.stop)
