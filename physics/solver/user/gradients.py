"""Derivatives of steps, as users ask for them."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch

from ...base.arguments import on_host
from ...gradients.steps import Own, Steps
from ...machine.scalars import as_count, as_names
from ...model.parameters import require_known
from ..readout.derived import sources_of
from .differentiable import RolloutRecorder, RolloutResult
from .environments import Environments
from .graph_driver import GraphDriver
from .sensor_gradients import SmoothReadings
from .sensor_reader import OWN_OF_READINGS, SensorReader
from .state import SolverState

_DISTANCE = 3e-6
"""The distance of the differences by which numbers of the model follow from parameters, relative to the parameter:
most follow linearly, and the error of others is of the fourth order."""
_WEIGHTS = {1: 8.0 / 12.0, -1: -8.0 / 12.0, 2: -1.0 / 12.0, -2: 1.0 / 12.0}
"""Weights of the central difference of fourth order (Fornberg, Generation of finite difference formulas, 1988)."""


class Transition(NamedTuple):
    """The derivatives of the state after a step, in MuJoCo's order: qpos (nv, in the tangent space), qvel, act.

    Attributes:
        A: by the state before it, (n, 2 nv + na, 2 nv + na).
        B: by the controls, (n, 2 nv + na, nu).
    """

    A: torch.Tensor
    B: torch.Tensor


class SensorTransition(NamedTuple):
    """The derivatives of the state after a step, and of the sensors' readings before it, as mjd_transitionFD has them.

    Attributes:
        A: of the state by the state, (n, 2 nv + na, 2 nv + na).
        B: of the state by the controls, (n, 2 nv + na, nu).
        C: of the readings by the state, (n, nsensordata, 2 nv + na).
        D: of the readings by the controls, (n, nsensordata, nu).
    """

    A: torch.Tensor
    B: torch.Tensor
    C: torch.Tensor
    D: torch.Tensor


class StateTangents(NamedTuple):
    """Tangents of states: how they change along each of k directions.

    Attributes:
        qpos: (n, k, nv), in the tangent space as of mj_differentiatePos, m or rad.
        qvel: (n, k, nv), m/s or rad/s.
        act: (n, k, na).
    """

    qpos: torch.Tensor
    qvel: torch.Tensor
    act: torch.Tensor


class Gradients:
    """Derivatives of the solver's steps, contacts included, in double precision whatever the solver has.

    They are computed on the processor, by the solver's stages traced with tangents; the code is compiled at the first
    call. The state stays as it is. Derivatives of an environment whose state is not finite are NaN. At a contact that
    just closes, or a limit that is just reached, they are those of one side or the mean of both.

    Calls raise NotImplementedError, with the reason, for a model whose steps have no derivatives: with noslip
    iterations, or with bodies that sleep.
    """

    def __init__(self, envs: Environments, state: SolverState, reader: SensorReader) -> None:
        self._envs, self._state, self._reader = envs, state, reader

    @property
    def recorder(self) -> RolloutRecorder:
        """The recorder of rollouts."""
        return self._recorder

    @cached_property
    def _recorder(self) -> RolloutRecorder:
        return RolloutRecorder(self._envs, self._reader)

    @property
    def _steps(self) -> Steps:
        return self.recorder.steps

    @cached_property
    def _sensors(self) -> SmoothReadings:
        return SmoothReadings(self._envs.model)

    def detach(self) -> None:
        """Cut torch's graph of a solver with `requires_grad=True`: its present state and inputs become constants."""
        if isinstance(self._envs.driver, GraphDriver):
            self._envs.driver.detach()

    def transition(self, envs_idx: Any = None, n: int = 1) -> Transition:
        """Return the Jacobians of n steps under the present controls, from the present states: mjd_transitionFD, exact.

        Args:
            envs_idx: indices of environments, or a mask; None for all.
            n: number of steps.

        Raises:
            IndexError: for an environment that does not exist.
            ValueError: n is no whole number above 0.
        """
        states, bad = self._states(envs_idx)
        total = None
        for found in self._steps.jacobians(states, as_count("n", n), self._own(envs_idx)):
            nstate = self._steps.nstate
            if total is None:
                total = found.clone()
            else:
                by_state = found[:, :, :nstate] @ total
                by_state[:, :, nstate:] += found[:, :, nstate:]
                total = by_state
        assert total is not None
        total[bad] = torch.nan
        size, nstate = 2 * self._steps.nv + int(self._envs.model.mj.na), self._steps.nstate
        return Transition(self._given(total[:, :size, :size]), self._given(total[:, :size, nstate:]))

    def transition_and_sensors(self, envs_idx: Any = None) -> SensorTransition:
        """Return the Jacobians of one step, and those of the sensors' readings at the present states.

        Raises:
            NotImplementedError: a sensor casts rays, measures distances or has a delay, or the integrator is
                Runge-Kutta's.
            IndexError: for an environment that does not exist.
        """
        states, bad = self._states(envs_idx)
        own, index = self._own(envs_idx), self._envs.chosen(envs_idx)[0]
        numbers = self._envs.own_in_double(OWN_OF_READINGS, index)
        found = self._sensors.jacobian(self._steps, states, own, numbers)
        found[bad] = torch.nan
        size = 2 * self._steps.nv + int(self._envs.model.mj.na)
        of_state = self.transition(envs_idx)
        readings = (self._given(part) for part in (found[:, :, :size], found[:, :, self._steps.nstate :]))
        return SensorTransition(*of_state, *readings)

    def jvp(
        self,
        qpos: Any = None,
        qvel: Any = None,
        act: Any = None,
        ctrl: Any = None,
        parameters: Mapping[str, Any] | None = None,
        n: int = 1,
        envs_idx: Any = None,
    ) -> StateTangents:
        """Return how the state after n steps changes if the present state, controls and parameters do.

        Each argument has a tangent for each of k directions, (k, ...) for all of the n environments or (n, k, ...); a
        missing one is zero. A direction costs about 1.2 steps more.

        Args:
            qpos: (nv,) for each, in the tangent space as of mj_integratePos, m or rad.
            qvel: (nv,) for each, m/s or rad/s.
            act: (na,) for each.
            ctrl: (nu,) for each; the change lasts for all steps.
            parameters: by the names of `solver.parameters.set`, (*shape) for each. Constants that follow from them
                change as with `set`: masses move body_subtreemass and body_invweight0, for example.
            n: number of steps under the same controls.
            envs_idx: indices of environments, or a mask; None for all.

        Raises:
            ValueError: for a wrong shape, numbers of directions that differ, or no tangent at all.
            KeyError: for an unknown parameter.
            IndexError: for an environment that does not exist.
        """
        states, bad = self._states(envs_idx)
        steps, mj = self._steps, self._envs.model.mj
        sizes = {"qpos": int(mj.nv), "qvel": int(mj.nv), "act": int(mj.na), "ctrl": int(mj.nu)}
        given = {"qpos": qpos, "qvel": qvel, "act": act, "ctrl": ctrl}
        rows = {name: _directions(name, x, len(states), (sizes[name],)) for name, x in given.items() if x is not None}
        own, seeds = self._own(envs_idx), None
        if parameters:
            own, seeds = self._parameter_seeds(parameters, envs_idx, len(states))
        count = _same_count({name: x.shape[1] for name, x in rows.items()}, None if seeds is None else seeds.shape[1])
        if seeds is None and own is not None:
            seeds = torch.zeros((1, 1, sum(x.shape[1] for x in own.numbers.values())), dtype=torch.float64)
        nothing = torch.zeros((len(states), count, 1), dtype=torch.float64)
        parts = [rows.get(name, nothing.expand(-1, -1, size)) for name, size in sizes.items()]
        memory = steps.nstate - sum(sizes[name] for name in ("qpos", "qvel", "act"))
        parts.insert(3, nothing.expand(-1, -1, memory))
        if seeds is not None:
            parts.append(seeds.expand(len(states), count, -1))
        found = steps.products(
            states, torch.cat([x.expand(len(states), count, -1) for x in parts], 2), as_count("n", n), own
        )
        found[bad] = torch.nan
        nv, na = sizes["qpos"], sizes["act"]
        return StateTangents(*(self._given(x) for x in found[:, :, : 2 * nv + na].split([nv, nv, na], 2)))

    def rollout(
        self,
        qpos: Any = None,
        qvel: Any = None,
        controls: Any = None,
        act: Any = None,
        n: int = 1,
        fields: Sequence[str] = (),
    ) -> RolloutResult:
        """Take periods of n steps, and return where each ended, as tensors that torch differentiates.

        The solver moves, as by `set_state` and `step(n, ctrl=...)`. Gradients flow to those of the arguments that
        require them. The backward pass computes the steps' Jacobians, from the states at the starts of periods. Nothing
        else is kept: 8 bytes for each number of state and inputs, for each environment and period.

        Args:
            qpos: where to start (num_envs, nq), m or rad; None: the present coordinates.
            qvel: (num_envs, nv), m/s or rad/s; None: the present velocities.
            controls: (num_envs, periods, nu).
            act: activations (num_envs, na); None: the present ones.
            n: steps of a period, under the same controls.
            fields: derived quantities by the names of `solver.get`, such as "site_xpos".

        Raises:
            ValueError: for a wrong shape; or if gradients are enabled, and no argument requires one.
            KeyError: for an unknown quantity.
            MemoryError: the states of so many periods do not fit into memory.
        """
        count, names = as_count("n", n), as_names("fields", fields)
        sources_of(names)
        *start, controls = self._inputs(qpos, qvel, act, controls)
        parts = dict(zip(("qpos", "qvel", "act"), start, strict=True))
        self._state.set(**{name: x.detach() for name, x in parts.items() if x.shape[1]})
        return self.recorder.record(start, controls, count, names)

    def _inputs(self, qpos: Any, qvel: Any, act: Any, controls: Any) -> list[torch.Tensor]:
        """Return the start and the controls of a rollout as tensors of the solver; errors as in `rollout`."""
        envs, mj = self._envs, self._envs.model.mj
        sizes = {"qpos": int(mj.nq), "qvel": int(mj.nv), "act": int(mj.na)}
        found = []
        for (name, size), given in zip(sizes.items(), (qpos, qvel, act), strict=True):
            rows = envs.driver.read(name) if given is None else torch.as_tensor(given).to(envs.device, envs.dtype)
            if tuple(rows.shape) != (envs.num_envs, size):
                raise ValueError(f"{name}: expected shape ({envs.num_envs}, {size}), got {tuple(rows.shape)}")
            found.append(rows)
        wanted = f"({envs.num_envs}, periods, {int(mj.nu)})"
        if controls is None:
            raise ValueError(f"controls: expected shape {wanted}, got None")
        found.append(torch.as_tensor(controls).to(envs.device, envs.dtype))
        shape = tuple(found[3].shape)
        if len(shape) != 3 or shape[::2] != (envs.num_envs, int(mj.nu)) or not shape[1]:
            raise ValueError(f"controls: expected shape {wanted} with at least one period, got {shape}")
        if torch.is_grad_enabled() and not any(x.requires_grad for x in found):
            raise ValueError(
                "rollout: no argument requires a gradient, or all were detached; call requires_grad_() on one, or use "
                "solver.rollout"
            )
        return found

    def _given(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return numbers on the solver's device, in its precision."""
        return numbers.to(self._envs.device, self._envs.dtype).contiguous()

    def _states(self, envs_idx: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Return rows of the memory of environments, and a mask of bad ones (`RolloutRecorder.states`)."""
        return self.recorder.states(self._envs.chosen(envs_idx)[0])

    def _own(self, envs_idx: Any) -> Own | None:
        """Return the numbers of the model that environments have as their own, if there are any."""
        return self.recorder.own(self._envs.chosen(envs_idx)[0])

    def _own_with(self, given: Mapping[str, np.ndarray], envs_idx: Any) -> Own:
        """Return all numbers that environments have as their own with others `given`."""
        own = self.recorder.own(self._envs.chosen(envs_idx)[0], given)
        assert own is not None
        return own

    def _parameter_seeds(self, parameters: Mapping[str, Any], envs_idx: Any, count: int) -> tuple[Own, torch.Tensor]:
        """Return own numbers of environments, and their tangents (n, k, numbers) along changes of parameters.

        Numbers of the model follow from parameters on the host, so their tangents are differences of fourth order.
        """
        overrides, index = self._envs.overrides, on_host(self._envs.chosen(envs_idx)[0])
        present, tangents = dict[str, np.ndarray](), dict[str, np.ndarray]()
        for name, given in parameters.items():
            require_known(name, writable=True)
            present[name] = overrides.get(name, index)
            tangents[name] = _directions(name, given, count, present[name].shape[1:]).numpy()
        k = _same_count({name: rows.shape[1] for name, rows in tangents.items()}, None)
        own = self._own_with(present, envs_idx)
        # environments with the same numbers have the same differences
        if all((x == x[:1]).all() for x in own.numbers.values()) and all((x == x[:1]).all() for x in tangents.values()):
            envs_idx = [0] if index is None else index[:1]
            present = {name: rows[:1] for name, rows in present.items()}
            tangents = {name: rows[:1] for name, rows in tangents.items()}
        seeds = []
        for direction in range(k):
            along = {name: rows[:, min(direction, rows.shape[1] - 1)] for name, rows in tangents.items()}
            h = _DISTANCE * _typical_share(present, along)
            moved = {at: {name: present[name] + at * h * rate for name, rate in along.items()} for at in _WEIGHTS}
            rows = {at: torch.cat(list(self._own_with(moved[at], envs_idx).numbers.values()), 1) for at in _WEIGHTS}
            seeds.append(torch.stack([rows[at] * (weight / h) for at, weight in _WEIGHTS.items()]).sum(0))
        return own, torch.stack(seeds, 1)


def _typical_share(present: Mapping[str, np.ndarray], rates: Mapping[str, np.ndarray]) -> float:
    """Return the median of numbers over the rates at which they change; a number that is 0 counts as 1."""
    shares = [np.where(present[name] == 0.0, 1.0, np.abs(present[name])) for name in rates]
    moving = [np.abs(np.broadcast_to(rate, present[name].shape)) for name, rate in rates.items()]
    found = [share[rate > 0.0] / rate[rate > 0.0] for share, rate in zip(shares, moving, strict=True)]
    together = np.concatenate(found)
    return float(np.median(together)) if len(together) else 1.0


def _directions(name: str, given: Any, count: int, shape: tuple[int, ...]) -> torch.Tensor:
    """Return tangents as (n or 1, k, *shape), double precision on the processor.

    Raises:
        ValueError: they have another shape.
    """
    numbers = torch.as_tensor(given).detach().to("cpu", torch.float64)
    if numbers.ndim == len(shape) + 1:
        numbers = numbers[None]
    if numbers.ndim != len(shape) + 2 or tuple(numbers.shape[2:]) != shape or numbers.shape[0] not in (1, count):
        expected = ", ".join(map(str, ("k", *shape)))
        raise ValueError(
            f"{name}: expected tangents along k directions, ({expected}) or ({count}, {expected}), got "
            f"{tuple(numbers.shape)}"
        )
    return numbers


def _same_count(counts: Mapping[str, int], more: int | None) -> int:
    """Return the number of directions.

    Raises:
        ValueError: there is none, or arguments have different numbers.
    """
    found = {*counts.values(), *(() if more is None else (more,))} - {1} or {1}
    if not counts and more is None:
        raise ValueError("jvp: give the tangent of at least one of qpos, qvel, act, ctrl and parameters")
    if len(found) > 1:
        raise ValueError(f"jvp: all tangents have one number of directions, or 1, got {dict(counts)}")
    return found.pop()
