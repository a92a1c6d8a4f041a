"""Our tasks beside the originals: the same states and actions, and what each makes of them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

import tumble

from .originals import Original, side_by_side

TIGHT = {"tolerance": 1e-12, "iterations": 200}
TASK, PHYSICS = 1e-12, 1e-9
"""Bounds of errors of numbers of size 1: of a task in a given state; and of a step, where constraint solvers stop."""
State = tuple[np.ndarray, np.ndarray]


class Found(NamedTuple):
    """The result of a comparison: the largest errors, and the rewards that occurred."""

    task: float
    physics: float
    rewards: list[float]


def relative(ours: Any, theirs: Any) -> np.ndarray:
    """Return the sizes of errors of numbers of size 1; angles of half a turn may have either sign."""
    gap = np.abs(ours - theirs)
    half_turn = np.isclose(gap, 2 * np.pi, rtol=0, atol=1e-6)
    return np.where(half_turn, np.abs(gap - 2 * np.pi), gap) / (1 + np.abs(theirs))


class Pair:
    """A batch of ours and an original.

    Args:
        identity: of both.
        place: brings the goals or fixed things in the memory of one of our environments into the original.
        lasting: quantities that a step leaves behind, and which the original reads in the next one.
        widen: makes the original's coordinates of one environment of ours.
        observed: returns the coordinates that a step's observation is of, from it and those after the step.
    """

    num_envs = 6

    def __init__(
        self,
        identity: str,
        place: Callable[[Original, dict[str, np.ndarray]], None],
        lasting: tuple[str, ...] = (),
        widen: Callable[[np.ndarray, np.ndarray], State] = lambda qpos, qvel: (qpos, qvel),
        observed: Callable[[Any, State], State] = lambda seen, after: after,
        **options: Any,
    ) -> None:
        make = {"output": "numpy", "autoreset_mode": "DISABLED", "model_options": TIGHT, "max_episode_steps": 1000}
        self.envs = tumble.make_vec(identity, self.num_envs, **make, **options)
        self.seen, _ = self.envs.reset(seed=5)
        self.batch, self.solver = self.envs.unwrapped.batch, self.envs.unwrapped.solver
        self.task = self.batch.task
        self.theirs = Original(identity, **options)
        self.place, self.lasting, self.widen, self.observed = place, lasting, widen, observed
        self.rng = np.random.default_rng(1)
        self.task_errors: list[float] = []
        self.physics_errors: list[float] = []
        self.rewards: list[float] = []

    @property
    def memory(self) -> dict[str, np.ndarray]:
        """The memory of our task, which may be written to."""
        return self.batch._memory.arrays

    def state(self) -> State:
        """Copy our coordinates."""
        return self.solver.qpos.numpy().copy(), self.solver.qvel.numpy().copy()

    def set_state(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Change our coordinates."""
        self.solver.set_state(torch.as_tensor(qpos), torch.as_tensor(qvel))

    def fields(self, names: tuple[str, ...]) -> dict[str, np.ndarray]:
        """Copy quantities of our last evaluation."""
        return {name: self.solver.get(name).numpy().copy() for name in names}

    def put(self, i: int, state: State, fields: dict[str, np.ndarray], memory: dict) -> None:
        """Put the original into the state of our environment i."""
        self.place(self.theirs, {name: values[i] for name, values in memory.items()})
        self.theirs.put(*self.widen(*(part[i] for part in state)))
        self.theirs.take({name: values[i] for name, values in fields.items()}, self.solver.model.mj)

    def step(self, action: np.ndarray, compared: bool = True, columns: slice = slice(None)) -> Any:
        """Take a step, compare it with the original's, and return what ours is observed then.

        Args:
            action: of all environments, in double precision.
            compared: False: only take it.
            columns: of observations, compared after a step of both.
        """
        before, lasting = self.state(), self.fields(self.lasting)
        memory = {name: values.copy() for name, values in self.memory.items()}
        self.seen, reward, _, _, info = self.envs.step(action)
        if not compared:
            return self.seen
        after, fields = self.observed(self.seen, self.state()), self.fields(tuple(self.task.reads))
        for i in range(self.num_envs):
            ours = side_by_side(self.seen, i)
            self.put(i, after, fields, memory)
            seen, worth, facts = self.theirs.see(action[i])
            self.task_errors += [relative(ours, side_by_side(seen)).max(), abs(reward[i] - worth) / (1 + abs(worth))]
            for name in ("success", "is_success"):
                assert name not in facts or bool(facts[name]) == info[name][i]
            self.put(i, before, lasting, memory)
            seen, worth, _ = self.theirs.step(action[i])
            self.physics_errors += [relative(ours, side_by_side(seen))[columns].max()]
            if columns == slice(None):
                self.physics_errors += [abs(reward[i] - worth) / (1 + abs(worth))]
            self.rewards.append(worth)
        return self.seen

    def found(self) -> Found:
        """Close the environments, and return what was found."""
        self.envs.close()
        found = Found(float(max(self.task_errors)), float(max(self.physics_errors)), self.rewards)
        paid = f"rewards {min(found.rewards):.3f} to {max(found.rewards):.3f}"
        print(f"{type(self.task).__name__:24s} task {found.task:.1e}, physics {found.physics:.1e}, {paid}")
        return found
