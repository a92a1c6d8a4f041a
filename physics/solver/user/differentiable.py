"""Steps of a solver as a function that torch differentiates."""

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from ...gradients.steps import Own, Steps
from ...gradients.tangent_space import TangentSpace
from ...machine.memory import require_memory
from ...run.interface import STATE
from ..readout.derived import SENSORDATA, derive, sources_of
from .environments import Environments
from .graph_driver import GraphDriver
from .quantities import OWN_OF_QUANTITIES
from .sensor_gradients import SmoothReadings
from .sensor_reader import OWN_OF_READINGS, SensorReader

ALWAYS_THERE = 1 << 24
"""Bytes of states for which free memory is not looked up."""


class RolloutResult(NamedTuple):
    """The states in which the periods of a rollout ended.

    Attributes:
        qpos: (num_envs, periods, nq), m or rad.
        qvel: (num_envs, periods, nv), m/s or rad/s.
        act: (num_envs, periods, na).
        fields: derived quantities by name, (num_envs, periods, items[, components]) each, at the last evaluation of the
            period, before its final integration.
    """

    qpos: torch.Tensor
    qvel: torch.Tensor
    act: torch.Tensor
    fields: dict[str, torch.Tensor]


class Recording(NamedTuple):
    """The data that the backward pass of a rollout needs.

    Attributes:
        steps: derivatives of steps.
        space: the tangent space of qpos.
        states: state and inputs at the start of each period, and after the last, (periods + 1, num_envs, numbers) on
            the processor, in double precision.
        rest: the other rows of the environments' memory, (num_envs, rows).
        own: numbers of the model that environments have as their own.
        n: steps of a period.
        fields: fields of the scratch among the results.
    """

    steps: Steps
    space: TangentSpace
    states: torch.Tensor
    rest: torch.Tensor
    own: Own | None
    n: int
    fields: tuple[str, ...]


_EVALUATED = frozenset(("eval_qpos", "eval_qvel", "eval_act", "eval_ctrl"))
"""Fields of the memory that are computed with derivatives: the coordinates of an evaluation."""


class RolloutRecorder:
    """Takes rollouts and records what their backward passes need."""

    def __init__(self, envs: Environments, reader: SensorReader) -> None:
        self._envs, self._reader = envs, reader
        driver = envs.driver
        self.steps = driver.steps if isinstance(driver, GraphDriver) else Steps(envs.runtime, envs.model)
        self.space = TangentSpace(envs.model.mj)

    def record(
        self, start: Sequence[torch.Tensor], controls: torch.Tensor, n: int, names: Sequence[str]
    ) -> RolloutResult:
        """Take periods of n steps from the present state, of which `start` has qpos, qvel and act.

        Args:
            start: (num_envs, ...) each; gradients flow to these tensors.
            controls: (num_envs, periods, nu).
            n: steps of a period.
            names: derived quantities.

        Raises:
            MemoryError: the states of so many periods do not fit into memory.
        """
        envs, steps, periods = self._envs, self.steps, controls.shape[1]
        if envs.num_envs * (periods + 1) * 8 * steps.coordinates > ALWAYS_THERE:  # looking costs as much as a step
            require_memory(envs.num_envs * (periods + 1), 8 * steps.coordinates)
        sources = self._sources(names)
        rest = self.states(None)[0][:, steps.coordinates :]
        kept = torch.empty((periods + 1, envs.num_envs, steps.coordinates), dtype=torch.float64)
        ends: dict[str, list[torch.Tensor]] = {name: [] for name in ("qpos", "qvel", "act", *sources)}
        driver = self._reader if self._reader.remembers else envs.driver
        evaluated = [name for name in sources if name not in STATE]
        for period in range(periods):
            kept[period] = self.present()
            ctrl = controls[:, period].detach()
            kept[period][:, steps.rows["ctrl"]] = ctrl.cpu().double()
            with torch.no_grad():
                driver.step(n, envs.numbers.rows("controls", ctrl, envs.num_envs, ctrl.shape[1]))
                fields = envs.driver.evaluate(evaluated, None) if evaluated else {}
                for name, rows in ends.items():
                    rows.append(fields[name] if name in fields else envs.driver.read(name))
        kept[periods] = self.present()
        envs.edits += 1
        recording = Recording(steps, self.space, kept, rest, self.own(None), n, tuple(sources))
        results = [torch.stack(rows, 1) for rows in ends.values()]
        qpos, qvel, act, *found = Periods.apply(recording, results, *start, controls)
        return RolloutResult(qpos, qvel, act, self._derived(names, dict(zip(sources, found, strict=True))))

    @cached_property
    def _readings(self) -> SmoothReadings:
        return SmoothReadings(self._envs.model)

    def _sources(self, names: Sequence[str]) -> list[str]:
        """Return the fields with derivatives from which quantities follow."""
        found = [*sources_of(names), *(self._readings.sources if SENSORDATA in names else ())]
        return list(dict.fromkeys(name for name in found if name not in STATE or name in _EVALUATED))

    def _derived(self, names: Sequence[str], fields: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return quantities (num_envs, periods, ...) from their fields; inputs are those of the end."""
        envs, own = self._envs, self._envs.own(OWN_OF_QUANTITIES, None)
        own |= {name: envs.driver.read(name) for name in sources_of(names) if name in STATE}
        numbers = envs.own(OWN_OF_READINGS, None) if SENSORDATA in names else {}
        periods = next(iter(fields.values())).shape[1] if fields else 0
        found: dict[str, list[torch.Tensor]] = {name: [] for name in names}
        for period in range(periods):
            at = {name: rows[:, period] for name, rows in fields.items()}
            for name, rows in found.items():
                reads = name == SENSORDATA
                rows.append(self._readings.read(at, numbers) if reads else derive(envs.model, name, own | at))
        return {name: torch.stack(rows, 1) for name, rows in found.items()}

    def present(self) -> torch.Tensor:
        """Return the present states and inputs, (num_envs, numbers), double precision on the processor."""
        return self._whole(self._envs.driver.first_rows(self.steps.coordinates), None)

    def states(self, index: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Return rows of the memory of environments, double precision on the processor, and a mask of bad ones.

        Bad ones have numbers that are not finite; they get zeros, which do no harm in their lanes.
        """
        memory = self._whole(self._envs.driver.state_dict(index)["memory"], index)
        bad = ~memory.sum(1).isfinite()
        memory[bad] = 0.0
        return memory, bad

    def _whole(self, memory: torch.Tensor, index: Any) -> torch.Tensor:
        """Return rows of the memory with the rounding errors of coordinates added."""
        found = memory.cpu().double()
        if self._envs.dtype == torch.float32:
            for name in ("qpos", "qvel"):
                found[:, self.steps.rows[name]] += self._envs.driver.read(f"{name}_rest", index).cpu().double()
        return found

    def own(self, index: Any, given: Mapping[str, np.ndarray] | None = None) -> Own | None:
        """Return the numbers of the model that environments have as their own, `given` ones too, if there are any."""
        overrides = self._envs.overrides
        if not overrides and given is None:
            return None
        fields = overrides.fields_with(given or {}, index)
        numbers = {name: torch.from_numpy(np.ascontiguousarray(rows, np.float64)) for name, rows in fields.items()}
        return Own(overrides.features_with(given or (), self.steps.model, single=False), numbers).in_order()


class Periods(torch.autograd.Function):
    """A rollout's results as functions of its start and controls; backward recomputes each period from its start.

    Only states at the starts of periods are kept. Going back, the gradient by a state is multiplied by the Jacobian of
    the steps before it: reverse accumulation over time, with forward tangents within a step.
    """

    @staticmethod
    def forward(
        ctx: Any, recording: Recording, results: list[torch.Tensor], *inputs: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Return the results of a rollout that was taken from `inputs`: qpos, qvel, act, fields."""
        ctx.recording = recording
        ctx.save_for_backward(*inputs)  # torch refuses the backward pass if one of them was changed in place
        return tuple(results)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *by_results: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradients by qpos, qvel, act and controls."""
        inputs = ctx.saved_tensors
        found = _backward(ctx.recording, [part.detach().cpu().double() for part in by_results])
        _warn_of_nonfinite(found[3])
        return None, None, *(x.to(like.device, like.dtype) for x, like in zip(found, inputs, strict=True))


def _backward(recording: Recording, by_results: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Return the gradients by the first qpos, qvel and act, and by all controls."""
    steps, space, states, rest, own, n, fields = recording
    (by_qpos, by_qvel, by_act), by_fields = by_results[:3], by_results[3:]
    nv, na, nstate, qpos = steps.nv, by_act.shape[2], steps.nstate, steps.rows["qpos"]
    by_controls = torch.zeros((len(by_qpos), len(states) - 1, len(steps.control_rows)), dtype=torch.float64)
    adjoint = torch.zeros((len(by_qpos), nstate), dtype=torch.float64)
    for period in reversed(range(len(states) - 1)):
        adjoint[:, :nv] += space.gradient_by_velocity(states[period + 1][:, qpos], by_qpos[:, period])
        adjoint[:, nv : 2 * nv] += by_qvel[:, period]
        adjoint[:, 2 * nv : 2 * nv + na] += by_act[:, period]
        start = torch.cat((states[period], rest), 1)
        jacobians = [found.clone() for found in steps.jacobians(start, n, own, fields)]
        whole = torch.cat((adjoint, *(part[:, period] for part in by_fields)), 1)  # fields are those of the last step
        for jacobian in reversed(jacobians):
            back = torch.einsum("er,erd->ed", whole, jacobian[:, : whole.shape[1]])
            whole = back[:, :nstate]
            by_controls[:, period] += back[:, nstate:]
        adjoint = whole
    by_start = space.gradient_by_coordinates(states[0][:, qpos], adjoint[:, :nv])
    return by_start, adjoint[:, nv : 2 * nv], adjoint[:, 2 * nv : 2 * nv + na], by_controls


def _warn_of_nonfinite(by_controls: torch.Tensor) -> None:
    """Warn of environments whose gradients are not finite."""
    wrong = (~by_controls.isfinite()).any(2)
    if wrong.any():
        env = int(wrong.any(1).nonzero()[0])
        last = int(wrong[env].nonzero()[-1])
        warnings.warn(
            f"rollout: the gradient of environment {env} is not finite from period {last} back; the motion is unstable "
            "over so long a horizon, or the environment was stopped by a fault: take shorter rollouts",
            RuntimeWarning,
            stacklevel=2,
        )
