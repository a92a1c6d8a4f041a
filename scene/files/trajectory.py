"""A recorded movement of a scene."""

from collections.abc import Mapping

import numpy as np

from ...physics.machine.scalars import as_whole
from ...physics.solver.solver import RigidSolver


class SceneTrajectory:
    """The positions of all entities in all environments at some times; `show` puts the scene there.

    Attributes:
        times: since the reset, (frames,) s.
        qpos: (frames, environments, nq) m, rad.

    Args:
        solver: of the scene.
        times, qpos: the attributes.
        inputs: mocap bodies, (frames, environments, ...), by their names in the solver's inputs.

    Raises:
        ValueError: it is of another scene.
    """

    def __init__(
        self, solver: RigidSolver, times: np.ndarray, qpos: np.ndarray, inputs: Mapping[str, np.ndarray]
    ) -> None:
        expected = (len(times), *solver.qpos.shape)
        if qpos.shape != expected:
            raise ValueError(f"trajectory: expected positions {expected}, got {qpos.shape}")
        self._solver, self.times, self.qpos, self._inputs = solver, times, qpos, inputs

    def __len__(self) -> int:
        """Return the number of frames."""
        return len(self.times)

    def show(self, frame: int) -> None:
        """Put all environments where they were, at rest; -1 is the last frame.

        Raises:
            IndexError: there is no such frame.
        """
        number = as_whole("frame", frame)
        if not -len(self) <= number < len(self):
            raise IndexError(f"frame={number}: there are {len(self)}")
        self._solver.reset(
            qpos=self.qpos[number], inputs={name: values[number] for name, values in self._inputs.items()} or None
        )
