"""The arena: one task on one solver. It moves all environments at once and knows neither episodes nor Gymnasium."""

from functools import reduce
from operator import add
from typing import Any, NamedTuple

import torch

from .. import assets
from ..physics import Model, RigidSolver
from .arrays import Array, finite_or_zero, nobody, where
from .faults import NON_FINITE
from .noise import Noise
from .task import Moment, Task
from .windows import Windows


class Outcome(NamedTuple):
    """What one environment step brought to n environments."""

    observation: Array  # (n, observation size)
    reward: Array  # (n,)
    terminated: Array  # (n,) bool
    info: dict[str, Array]  # each (n, ...)
    faults: Array  # (n,) bit masks of the solver


class Arena:
    """A batch of environments that all do the same task."""

    def __init__(self, task: Task, num_envs: int, *, numpy: bool, model_options: dict[str, Any] | None = None) -> None:
        """Load the model and make the solver.

        Args:
            task: what to do; it is bound to the model here.
            num_envs: how many environments.
            numpy: judge the task on numpy arrays instead of torch tensors: same bits, faster for one environment.
            model_options: options that override the model file's, e.g. {"timestep": 0.005, "tolerance": 1e-10}.
        """
        self.task = task
        self.num_envs = num_envs
        self.model = Model.from_mjcf(str(assets.find(task.xml_file)), **(model_options or {}))
        self.solver = RigidSolver(self.model, num_envs=num_envs, outputs=task.reads)
        self._numpy = numpy
        self._windows = Windows(self.solver, task.reads) if numpy and self.solver.live("qpos") is not None else None
        task.bind(self.model.mj, lambda numbers: self._take(self._tensor(numbers)))
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
            solver.ctrl = torch.from_numpy(action) if self._numpy else action
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
        return _held(outcome) if outcome.faults.any() else outcome

    def restart(self, rows: torch.Tensor, noise: Noise) -> tuple[Array, dict[str, Array]]:
        """Begin an episode in the environments `rows` (k,).

        Returns:
            Their observations (k, observation size) and info, each (k, ...).
        """
        solver, task = self.solver, self.task
        qpos, qvel = task.draw(noise)
        everyone = len(rows) == self.num_envs == 1
        solver.reset(None if everyone else rows, self._tensor(qpos), self._tensor(qvel))
        self._edits = solver.edits
        now = self._look_at(rows)
        self._seen = now if self._windows is not None else Moment(self._take(solver.qpos), self._take(solver.qvel), {})
        if "cfrc_ext" in now.fields:
            now.fields["cfrc_ext"][:] = 0  # v5 computes contact wrenches in its steps only
        self._remember_place(rows, task.place(now))
        return task.observation(now), task.reset_info(now)

    def state_dict(self) -> dict[str, Any]:
        """The solver's state and where everyone was, as tensors."""
        return {"solver": self.solver.state_dict(), "place": torch.as_tensor(self._place).clone()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off."""
        self.solver.load_state_dict(state["solver"])
        self._place = self._take(self._tensor(state["place"].clone()))
        self._seen, self._edits = self._look(), self.solver.edits

    def _notice_edits(self) -> None:
        """Catch up with states that were changed from outside: their rewarded velocity starts from where they are."""
        self._edits = self.solver.edits
        before, now = self._seen, self._look()
        moved = (now.qpos != before.qpos).any(1) | (now.qvel != before.qvel).any(1)
        rows = torch.as_tensor(moved).nonzero()[:, 0]
        if len(rows):
            self.solver.forward(rows)
            self._remember_place(rows, self.task.place(self._look_at(rows)))

    def _remember_place(self, rows: torch.Tensor, place: Array) -> None:
        """Note where the environments `rows` are, for the velocity of their next step."""
        self._place = self._place + 0  # a copy: it may be a part of what was looked at
        self._place[self._index(rows)] = place

    def _look(self) -> Moment:
        """Copy the state of all environments."""
        if self._windows is not None:
            read = self._windows.read
            return Moment(read("qpos"), read("qvel"), {name: read(name) for name in self.task.reads})
        solver, take = self.solver, self._take
        return Moment(take(solver.qpos), take(solver.qvel), {name: take(solver.get(name)) for name in self.task.reads})

    def _faults(self) -> Array:
        """The solver's fault bits, a copy."""
        return self._take(self.solver.faults) if self._windows is None else self._windows.read("faults")[0]

    def _look_at(self, rows: torch.Tensor) -> Moment:
        """Copy the state of the environments `rows`."""
        if self._windows is not None:
            return self._look()  # there is one, and it is meant
        get, take = self.solver.get, self._take
        fields = {name: take(get(name, rows)) for name in self.task.reads}
        return Moment(take(get("qpos", rows)), take(get("qvel", rows)), fields)

    def _index(self, rows: torch.Tensor) -> Array:
        """Rows as an index of the arena's array kind."""
        return rows.cpu().numpy() if self._numpy else rows

    def _take(self, tensor: torch.Tensor) -> Array:
        """Bring a tensor of the solver into the arena's array kind, without copying where possible."""
        if not self._numpy:
            return tensor
        return tensor.cpu().numpy() if tensor.is_cuda else tensor.numpy()

    def _tensor(self, numbers: Any) -> torch.Tensor:
        """Bring numbers to the solver's precision and device."""
        return torch.as_tensor(numbers, dtype=self.solver.dtype, device=self.solver.device)


def _held(outcome: Outcome) -> Outcome:
    """End the episodes whose state did not stay finite; nothing that is not finite leaves here."""
    broken = (outcome.faults & NON_FINITE) != 0
    observation = where(broken[:, None], finite_or_zero(outcome.observation), outcome.observation)
    reward = where(broken, finite_or_zero(outcome.reward), outcome.reward)
    info = {
        name: where(broken.reshape(-1, *[1] * (value.ndim - 1)), finite_or_zero(value), value)
        for name, value in outcome.info.items()
    }
    return outcome._replace(observation=observation, reward=reward, terminated=outcome.terminated | broken, info=info)
