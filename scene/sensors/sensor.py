"""The base class of sensors: from true values to measured ones, and to readings after a delay."""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch

from ..checks import Indices, Numbers, Rows
from ..entity.entity import RigidEntity
from ..errors import SceneOrderError
from ..recorders.manager import FunctionRecorder, RecorderManager
from ..recorders.options import RecorderOptions
from ..world import World
from . import draws
from .evaluated_envs import EvaluatedEnvs
from .flaws import Flaws
from .timeline import Timeline


class Sensor(ABC):
    """A sensor of a scene, in all of its environments.

    It reads after each `Scene.step`, at the evaluation that the last physics step made before it moved, and at the
    start after `Scene.build` and `Scene.reset`. Measured values have flaws, drawn per environment, and
    are read after a delay. Subclasses define the true values (`sense`), and the form of readings (`deliver`).

    Attributes:
        options: the options it was made with.
        idx: number among the scene's sensors.
        recorders: the scene's recorders.
    """

    reads: tuple[str, ...] = ()
    """Quantities that it needs, by MuJoCo's names."""
    data: ClassVar[Any] = None
    """The named tuple that `read` returns; None: a tensor."""

    def __init__(self, options: Any, idx: int, entity: RigidEntity | None) -> None:
        self.options, self.idx, self._entity = options, idx, entity
        self.recorders: RecorderManager | None = None
        self._world: World | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"sensor {self.idx} ({type(self.options).__name__})"

    # methods of a subclass

    @property
    @abstractmethod
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the readings of one environment."""

    @abstractmethod
    def place(self, world: World) -> None:
        """Look up the parts of a built scene that it needs."""

    @abstractmethod
    def sense(self, evaluated: EvaluatedEnvs) -> Any:
        """Return the true values in the evaluated environments; `numbers` selects the measured ones."""

    def numbers(self, sensed: Any) -> torch.Tensor:
        """Return the numbers that are measured, (k, width), from the result of `sense`."""
        return sensed

    def couple(self, numbers: torch.Tensor, rows: Rows) -> torch.Tensor:
        """Return the numbers (k, width) as the axes of the sensor see them."""
        return numbers

    def deliver(self, numbers: torch.Tensor, sensed: Any, measured: bool) -> torch.Tensor:
        """Return the readings from numbers (k, width), measured or true, (k, m)."""
        return numbers

    # life

    def bind(self, world: World, seed: int, dt: float) -> None:
        """Give it its place in a built scene, and let it read for the first time.

        Raises:
            ValueError: it has more or fewer flaws than numbers.
        """
        self._world, self._dt, options = world, dt, self.options
        device, count = world.solver.device, world.count
        self.place(world)
        self._key = draws.keys(seed, self.idx, torch.arange(count, device=device))
        self._tick = torch.zeros(count, dtype=torch.int64, device=device)
        steps = self._steps("delay", options.delay, bool(options.jitter))
        self._delay = torch.full((count,), steps, dtype=torch.float64, device=device)
        self._jitter = torch.full_like(self._delay, options.jitter / dt)
        self._jitters = options.jitter > 0.0
        sensed = self.sense(EvaluatedEnvs(world, self.reads, None))
        numbers = self.numbers(sensed)
        self._flaws = Flaws(numbers, {name: self._fitting(name, v, numbers) for name, v in options.flaws().items()})
        self._truth = self.deliver(numbers, sensed, False)
        self._shown = self._measure(numbers, sensed, slice(None))
        self._timeline = Timeline(self._depth(), self._shown)
        length = options.history_length
        self._past = (Timeline(length, self._shown), Timeline(length, self._truth)) if length else None

    def step(self, evaluated: EvaluatedEnvs) -> None:
        """Read all environments after a step."""
        self._tick += 1
        sensed = self.sense(evaluated)
        numbers = self.numbers(sensed)
        self._truth = self.deliver(numbers, sensed, False)
        self._timeline.push(self._measure(numbers, sensed, slice(None)))
        self._shown = self._delayed()
        if self._past:
            self._past[0].push(self._shown)
            self._past[1].push(self._truth)

    def restart(self, evaluated: EvaluatedEnvs, rows: torch.Tensor) -> None:
        """Restart in environments `rows` (k,): drifts at zero, delays and histories full of the first reading."""
        self._tick[rows] += 1
        self._flaws.walk[rows] = 0.0
        sensed = self.sense(evaluated)
        numbers = self.numbers(sensed)
        truth, measured = self.deliver(numbers, sensed, False), self._measure(numbers, sensed, rows)
        self._truth = self._truth.index_copy(0, rows, truth)
        self._shown = self._shown.index_copy(0, rows, measured)
        self._timeline.fill(measured, rows)
        if self._past:
            self._past[0].fill(measured, rows)
            self._past[1].fill(truth, rows)

    def _measure(self, numbers: torch.Tensor, sensed: Any, rows: Rows) -> torch.Tensor:
        seen = self.couple(numbers, rows)
        return self.deliver(self._flaws.apply(seen, rows, self._key[rows], self._tick[rows]), sensed, True)

    def _delayed(self) -> torch.Tensor:
        """Return the measured readings that are shown now, (n, m)."""
        age = self._delay
        if self._jitters:
            age = age + self._jitter * draws.uniform(draws.at(self._key, self._tick, draws.JITTER), 1)[:, 0]
        if self.options.interpolate:
            return self._timeline.between(age)
        if self._jitters:  # one of two steps, so that the mean delay is as asked for
            age = age + draws.uniform(draws.at(self._key, self._tick, draws.ROUNDING), 1)[:, 0]
        return self._timeline.at(age.floor().long())

    def _fitting(self, name: str, value: Numbers, numbers: torch.Tensor) -> Numbers:
        width = numbers.shape[1]
        if np.ndim(value) and np.shape(value)[0] != width:
            raise ValueError(f"{self!r}: {name} has {np.shape(value)[0]} numbers, and the sensor measures {width}")
        return value

    def _steps(self, name: str, seconds: float, jitters: bool) -> float:
        """Return a time in steps: whole ones, with a warning, unless times between them make a difference."""
        steps = seconds / self._dt
        whole = float(round(steps))
        if math.isclose(steps, whole, abs_tol=1e-6):
            return whole
        if self.options.interpolate or jitters:
            return steps
        warnings.warn(
            f"{self!r}: {name}={seconds:g} s is no multiple of dt={self._dt:g} s; it is {whole * self._dt:g} s. "
            "interpolate=True takes it as it is",
            UserWarning,
            stacklevel=2,
        )
        return whole

    def _depth(self) -> int:
        """Return how many readings delays need: the oldest, its neighbor, and the newest."""
        return int((self._delay + self._jitter).max()) + 3

    # readings for users

    def read(self, envs_idx: Indices = None) -> Any:
        """Return the measured values, with flaws and delay; see the class for shapes.

        Args:
            envs_idx: which environments; None: all.

        Raises:
            SceneOrderError: the scene is not built.
            IndexError: for an environment that does not exist.
        """
        self._require_world()
        return self._given(self.flat(envs_idx, False))

    def read_ground_truth(self, envs_idx: Indices = None) -> Any:
        """Return the true values, without flaws and delay; arguments and errors as in `read`."""
        self._require_world()
        return self._given(self.flat(envs_idx, True))

    def flat(self, envs_idx: Indices, truth: bool) -> torch.Tensor:
        """Return the results of `read` or `read_ground_truth`, side by side, (k, m), or (k, history, m)."""
        rows = self._rows(envs_idx)
        if self._past:
            return self._past[truth].all(rows)
        timeline = self._truth if truth else self._shown
        return timeline.clone() if rows is None else timeline[rows]

    def _given(self, flat: torch.Tensor) -> Any:
        """Return readings (k, ..., m) in their shapes, without the first dimension if the scene has no batch."""
        flat, parts, first = self._require_world().out(flat), [], 0
        for shape in self.shapes:
            size = math.prod(shape)
            parts.append(flat[..., first : first + size].unflatten(-1, shape))
            first += size
        return parts[0] if self.data is None else self.data(*parts)

    def start_recording(self, rec_options: RecorderOptions) -> FunctionRecorder:
        """Keep the results of `read` after steps from now on, in one of `gs.recorders`: `Scene.add_recorder`.

        Raises:
            TypeError: these are no options of a recorder.
        """

        def reading() -> Any:
            data = self.read()
            return data._asdict() if hasattr(data, "_asdict") else data

        assert self.recorders is not None
        return self.recorders.add(reading, rec_options)

    # settings of users

    def set_resolution(self, resolution: Numbers, envs_idx: Indices = None) -> None:
        """Write the resolution of environments: one number, (width,), or (k, width); it holds from the next step on.

        Raises:
            SceneOrderError: the scene is not built.
            ValueError: for another shape, or numbers that are not finite or below 0.
            IndexError: for an environment that does not exist.
        """
        self._set_flaw("resolution", resolution, envs_idx)

    def set_bias(self, bias: Numbers, envs_idx: Indices = None) -> None:
        """Write the bias of environments, as `set_resolution` does; it may be below 0."""
        self._set_flaw("bias", bias, envs_idx)

    def set_noise(self, noise: Numbers, envs_idx: Indices = None) -> None:
        """Write the standard deviation of the white noise of environments, as `set_resolution` does."""
        self._set_flaw("noise", noise, envs_idx)

    def set_random_walk(self, random_walk: Numbers, envs_idx: Indices = None) -> None:
        """Write the standard deviation of the drift's steps of environments, as `set_resolution` does."""
        self._set_flaw("random_walk", random_walk, envs_idx)

    def set_delay(self, delay: Numbers, envs_idx: Indices = None) -> None:
        """Write the delay of environments, one number or (k,), s.

        Raises:
            SceneOrderError: the scene is not built.
            ValueError: for another shape, for times that are not finite or below 0, or below the jitter.
            IndexError: for an environment that does not exist.
        """
        steps = self._times("delay", delay, envs_idx)
        rows, whole = self._index(envs_idx), steps.round()
        if not (self.options.interpolate or self._jitters):
            steps = whole
        steps = torch.where((steps - whole).abs() < 1e-6, whole, steps)
        if bool((steps < self._jitter[rows]).any()):
            raise ValueError(f"{self!r}: delay={delay!r}: it must not be below the jitter")
        self._delay[rows] = steps
        self._timeline.deepen(self._depth())

    def set_jitter(self, jitter: Numbers, envs_idx: Indices = None) -> None:
        """Write the largest random delay of environments, as `set_delay` does; it is at most the delay."""
        steps, rows = self._times("jitter", jitter, envs_idx), self._index(envs_idx)
        if bool((steps > self._delay[rows] + 1e-6).any()):
            raise ValueError(f"{self!r}: jitter={jitter!r}: it must not be above the delay")
        self._jitter[rows] = steps
        self._jitters = bool(self._jitter.any())
        self._timeline.deepen(self._depth())

    def _set_flaw(self, name: str, values: Numbers, envs_idx: Indices) -> None:
        self._require_world()
        rows = self._index(envs_idx)
        self._flaws.set(name, self._numbers_of(name, values, self._flaws.get(name)[rows]), rows)

    def _times(self, name: str, values: Numbers, envs_idx: Indices) -> torch.Tensor:
        self._require_world()
        present = self._delay[self._index(envs_idx)]
        return self._numbers_of(name, values, present) / self._dt

    def _numbers_of(self, name: str, values: Numbers, like: torch.Tensor, signed: bool = False) -> torch.Tensor:
        """Return a user's numbers in the shape, precision and place of others, (k, ...).

        Raises:
            ValueError: for another shape, and for numbers that are not finite or, unless signed, below 0.
        """
        given = torch.as_tensor(np.asarray(values) if isinstance(values, list | tuple) else values)
        try:
            numbers = given.to(like.device, like.dtype).expand_as(like)
        except RuntimeError:
            shape = tuple(like.shape)
            raise ValueError(
                f"{self!r}: {name}: expected shape {shape}, or one that can be repeated to it, got {tuple(given.shape)}"
            ) from None
        if not bool(numbers.isfinite().all()):
            raise ValueError(f"{self!r}: {name}={values!r}: it must be finite")
        if name != "bias" and not signed and bool((numbers < 0.0).any()):
            raise ValueError(f"{self!r}: {name}={values!r}: it must not be below 0")
        return numbers

    # helpers

    def close(self) -> None:
        """Refuse to read from now on."""
        self._world, self._closed = None, True

    def _require_world(self) -> World:
        if self._world is None:
            reason = "its scene is closed; make a new one" if self._closed else "call scene.build() first"
            raise SceneOrderError(f"{self!r}: {reason}")
        return self._world

    def _rows(self, envs_idx: Indices) -> torch.Tensor | None:
        """Return environments as indices (k,) int64 on the device, None for all; errors as in `read`."""
        world = self._require_world()
        envs = world.envs(envs_idx)
        return None if envs is None else world.indices(envs)

    def _index(self, envs_idx: Indices) -> Rows:
        rows = self._rows(envs_idx)
        return slice(None) if rows is None else rows

    # saving

    def state_dict(self, rows: torch.Tensor | None) -> dict[str, torch.Tensor]:
        """Return the sensor's state, which future readings in environments `rows` (k,) depend on, (k, ...) each."""
        rows_idx = slice(None) if rows is None else rows
        state = {"tick": self._tick, "delay": self._delay, "jitter": self._jitter}
        state |= {"shown": self._shown, "truth": self._truth}
        lines = {"timeline": self._timeline}
        if self._past:
            lines |= {"past": self._past[0], "past_truth": self._past[1]}
        tensors = {name: tensor[rows_idx].clone() for name, tensor in state.items()} | self._flaws.state_dict(rows_idx)
        return tensors | {name: line.all(rows).clone() for name, line in lines.items()}

    def load_state_dict(self, state: Mapping[str, torch.Tensor], rows: torch.Tensor) -> None:
        """Write the result of `state_dict` into environments `rows` (k,)."""
        self._flaws.load_state_dict(state, rows)
        self._tick[rows], self._delay[rows], self._jitter[rows] = state["tick"], state["delay"], state["jitter"]
        self._jitters = bool(self._jitter.any())
        self._shown = self._shown.index_copy(0, rows, state["shown"])
        self._truth = self._truth.index_copy(0, rows, state["truth"])
        self._timeline.deepen(max(self._depth(), state["timeline"].shape[1]))
        self._timeline.put(state["timeline"], rows)
        if self._past:
            self._past[0].put(state["past"], rows)
            self._past[1].put(state["past_truth"], rows)
