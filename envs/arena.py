"""The arena: one task on one solver. It moves all environments at once and knows neither episodes nor Gymnasium."""

from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
import torch

from .. import assets
from ..physics import Model, RigidSolver
from ..physics.runtime import ensure_runtime
from .arrays import Array, copy, finite_or_zero, indices, nobody, where
from .faults import NON_FINITE
from .noise import Noise
from .starts import Start
from .task import Moment, Task
from .windows import Windows


class Outcome(NamedTuple):
    """What one environment step brought to n environments."""

    observation: Array  # (n, observation size)
    reward: Array  # (n,)
    terminated: Array  # (n,) bool
    info: dict[str, Array]  # each (n, ...)
    faults: Array | None  # (n,) bit masks of the solver; None where nobody has a fault


class Arena:
    """A batch of environments that all do the same task."""

    def __init__(self, task: Task, num_envs: int, *, numpy: bool, model_options: dict[str, Any] | None = None) -> None:
        """Load the model and make the solver.

        Args:
            task: what to do; it is bound to the model here.
            num_envs: how many environments.
            numpy: judge the task on numpy arrays instead of torch tensors: same bits, and faster for batches that are
                not large. The solver must lie on a CPU.
            model_options: options that override the model file's, e.g. {"timestep": 0.005, "tolerance": 1e-10}.
        """
        self.task = task
        self.num_envs = num_envs
        self.model = Model.from_mjcf(str(assets.find(task.xml_file)), **(model_options or {}))
        self._runtime, self._numpy = ensure_runtime(), numpy
        self.dtype = np.dtype(np.float32 if self._runtime.precision == "32" else np.float64)
        task.bind(self.model.mj, self.numbers)
        self.solver = RigidSolver(self.model, num_envs=num_envs, outputs=task.reads)
        self._windows = Windows(self.solver, task.reads) if numpy and num_envs == 1 else None
        self._reads = task.reads
        self._reads_of_starts = [name for name in task.reads if name != "cfrc_ext"]
        self._seen = self._look()  # what all were like at the end of the last step or reset
        self._place = task.place(self._seen)  # where they were then, (n, k) m
        self._edits = self.solver.edits

    @property
    def actuator_names(self) -> list[str]:
        """The names of the action's components; actuators without a name are called by their number."""
        mj = self.model.mj
        return [mj.actuator(i).name or f"actuator {i}" for i in range(mj.nu)]

    def advance(self, action: Array) -> Outcome:
        """Take one environment step under checked actions (num_envs, nu), of the arena's array kind."""
        task, solver = self.task, self.solver
        if solver.edits != self._edits:
            self._notice_edits()
        if self._windows is not None:
            self._windows.control(action)
        else:
            solver.ctrl = action
        solver.step(task.frame_skip)
        self._edits = solver.edits
        now = self._look()
        place = task.place(now)
        velocity = (place - self._place) / task.dt
        self._place, self._seen = place, now
        terms, terminated, info = task.judge(now, velocity, action)
        reward = reduce(add, terms.values())
        if terminated is None:
            terminated = nobody(reward)
        outcome = Outcome(task.observation(now), reward, terminated, info | terms, self._faults())
        return outcome if outcome.faults is None else _held(outcome, outcome.faults)

    def draw(self, noise: Noise) -> Start:
        """Draw where as many episodes begin as there is noise for, and see what is to be seen there."""
        solver, task = self.solver, self.task
        state, nq = self.numbers(np.concatenate(task.draw(noise), 1)), task.nq
        previewed = solver.preview(self._reads_of_starts, state[:, :nq], state[:, nq:])
        fields = {name: self.array(found) for name, found in previewed.items()}
        if "cfrc_ext" in self._reads:  # v5 computes contact wrenches in its steps only
            fields["cfrc_ext"] = self.numbers(np.zeros((len(state), self.model.mj.nbody, 6)))
        now = Moment(state, state[:, :nq], state[:, nq:], fields)
        return Start(state, task.place(now), task.observation(now), task.reset_info(now))

    def restart(self, rows: Array, start: Start) -> None:
        """Begin an episode in each of the environments `rows` (k,)."""
        solver, nq = self.solver, self.task.nq
        solver.reset(None if self._windows is not None else rows, start.state[:, :nq], start.state[:, nq:])
        self._edits = solver.edits
        self._seen.state[rows] = start.state
        self._place[rows] = start.place

    def state_dict(self) -> dict[str, Any]:
        """The solver's state and where everyone was, as tensors."""
        return {"solver": self.solver.state_dict(), "place": torch.as_tensor(copy(self._place))}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off."""
        self.solver.load_state_dict(state["solver"])
        self._place = self.numbers(state["place"].clone())
        self._seen, self._edits = self._look(), self.solver.edits

    def _notice_edits(self) -> None:
        """Catch up with states that were changed from outside: their rewarded velocity starts from where they are."""
        self._edits = self.solver.edits
        before, now = self._seen, self._look()
        moved = (now.state != before.state).any(1)
        rows = indices(moved)
        if len(rows):
            self.solver.forward(rows)
            self._place[rows] = self.task.place(self._look())[rows]

    def _look(self) -> Moment:
        """Copy everyone's state."""
        if self._windows is not None:  # there is one environment, and all is copied at once
            fields = self._windows.look()
            state = fields["state"]
        else:
            state = self.array(self.solver.coordinates())
            found = self.solver.look(self._reads) if self._reads else {}
            fields = {name: self.array(quantity) for name, quantity in found.items()}
        nq = self.task.nq
        return Moment(state, state[:, :nq], state[:, nq:], fields)

    def _faults(self) -> Array | None:
        """The solver's fault bits, a copy; None where there are none."""
        if self._windows is not None:
            return self._windows.faults()
        return self.array(self.solver.faults) if self.solver.any_fault else None

    def array(self, tensor: torch.Tensor) -> Array:
        """View a tensor of the solver as the arena's array kind."""
        return tensor.numpy() if self._numpy else tensor

    def numbers(self, values: Any) -> Array:
        """Bring numbers to the arena's array kind and the solver's precision and device."""
        if self._numpy:
            return np.asarray(values, self.dtype)
        return torch.as_tensor(values, dtype=self._runtime.torch_dtype, device=self._runtime.device)


def _held(outcome: Outcome, faults: Array) -> Outcome:
    """End the episodes whose state did not stay finite; nothing that is not finite leaves here."""
    broken = (faults & NON_FINITE) != 0
    observation = where(broken[:, None], finite_or_zero(outcome.observation), outcome.observation)
    reward = where(broken, finite_or_zero(outcome.reward), outcome.reward)
    info = {
        name: where(broken.reshape(-1, *[1] * (value.ndim - 1)), finite_or_zero(value), value)
        for name, value in outcome.info.items()
    }
    return outcome._replace(observation=observation, reward=reward, terminated=outcome.terminated | broken, info=info)
