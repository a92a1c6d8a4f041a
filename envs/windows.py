"""Windows into a solver of a single environment: numpy views on its numbers, read and written without a torch call."""

import numpy as np

from ..physics import RigidSolver


class Windows:
    """Reads and writes one environment's numbers in place; quantities without a view come from `solver.get`."""

    def __init__(self, solver: RigidSolver, reads: tuple[str, ...]) -> None:
        """Open a window on the coordinates, the controls, the faults and each of `reads`."""
        self._solver = solver
        self._names = reads
        self._views: dict[str, np.ndarray] = {}
        for name in ("qpos", "qvel", "ctrl", "faults", *reads):
            view = solver.live(name)
            if view is not None:
                self._views[name] = view.numpy()
        self._shapes = {name: solver.get(name).shape for name in reads}

    def read(self, name: str) -> np.ndarray:
        """A copy of one quantity, (1, n) or (1, items, components)."""
        view = self._views.get(name)
        if view is None or (name in self._shapes and not self._solver.outputs_current):
            return self._solver.get(name).numpy() if name in self._shapes else getattr(self._solver, name).numpy()
        return view.copy().reshape(self._shapes[name]) if name in self._shapes else view.copy()

    def control(self, action: np.ndarray) -> None:
        """Set the controls (1, nu)."""
        self._views["ctrl"][:] = action
