"""A batch that a viewer shows, and moves unless a program does. It knows no browser."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .movers import BY_HAND, mover_of
from .sources import is_scene, model_of, numbers_of, solver_of

__all__ = ["BY_HAND", "Session"]


class Session:
    """A batch, which takes one frame after the other.

    Args:
        source: environments of Tumble, a built scene, or a `RigidSolver`.
        act: returns actions for observations; for a solver or a scene it is called with that before each frame.
        seed: of resets and random actions.
        driven: True: the caller moves the batch; it goes on from where it is.

    Attributes:
        solver, mj: the solver and its compiled model.
        dt: simulated seconds of a frame.
        ways: names of the ways to move the batch, such as "random"; `way` is the chosen one.
        controls: names, lower and upper bounds of the numbers that sliders set.
        wanted: (num_envs, controls) values of the sliders.
        info: numbers of the last step by name, (num_envs,) each; the reward is among them.
    """

    def __init__(
        self, source: Any, act: Callable[[Any], Any] | None = None, seed: int | None = 0, driven: bool = False
    ) -> None:
        self.solver = solver_of(source)
        self.mj = model_of(self.solver)
        self.num_envs = int(self.solver.num_envs)
        mover = self._mover = mover_of(source, act, seed)
        self.dt, self.controls = mover.dt, mover.controls
        self.ways = [] if driven else mover.ways
        self.way = "policy" if act is not None else mover.ways[0]
        self.info: dict[str, np.ndarray] = {}
        self.wanted = mover.start()
        self._lags = driven or is_scene(source)
        if not driven:
            mover.begin()

    def reset(self) -> None:
        """Reset all environments."""
        self.info = {}
        self._mover.reset()

    def advance(self) -> None:
        """Take one frame."""
        self.record_info(self._mover.step(self.way, self.wanted))

    def record_info(self, info: Mapping[str, Any]) -> None:
        """Take note of the numbers of a step that every environment has one of."""
        self.info = numbers_of(info, self.num_envs)

    def refresh(self) -> None:
        """Bring poses to the present state, in a scene and where a program may have written since."""
        if self._lags:
            self.solver.forward_changed()

    def want(self, env: int, index: int, value: float) -> None:
        """Set a control of an environment by a slider, which takes all controls over."""
        self.wanted[env, index] = value
        self.way = BY_HAND
        self._mover.write(env, index, value)

    def set_joint(self, env: int, address: int, value: float) -> None:
        """Write one number of an environment's coordinates, and update the derived quantities."""
        qpos = self.solver.qpos[env : env + 1].clone()
        qpos[0, address] = value
        self.solver.set_state(qpos=qpos, envs_idx=[env])
        self.solver.forward([env])

    def to_keyframe(self, key: int, env: int) -> None:
        """Put an environment into a keyframe of the model."""
        self.solver.reset_to_keyframe(key, [env])
        self.solver.forward([env])
