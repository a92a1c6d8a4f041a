"""Windows into a solver of a single environment: numpy views on its numbers, read and written without a torch call."""

import numpy as np

from ..physics import RigidSolver


class Windows:
    """Reads and writes one environment's numbers in place; quantities without a view come from `solver.get`.

    Numbers lie in a few blocks, so a look at everything is a copy of each block, and views on the copies.
    """

    def __init__(self, solver: RigidSolver, reads: tuple[str, ...]) -> None:
        """Open a window on the coordinates, the controls, the faults and each of `reads`."""
        self._solver = solver
        self._blocks: dict[int, np.ndarray] = {}  # address -> (numbers,)
        self._places: list[tuple[str, int, slice, tuple[int, ...]]] = []  # name, block, place in it, shape
        self._others: list[str] = []
        for name in ("qpos", "qvel", *reads):
            live, shape = solver.live(name), tuple(solver.get(name).shape)
            if live is None:
                self._others.append(name)
            else:
                address = live.block.data_ptr()
                self._blocks[address] = live.block.numpy()[0]
                self._places.append((name, address, live.place, shape))
        self._control, self._faults = self._view("ctrl"), self._view("faults")

    def _view(self, name: str) -> np.ndarray:
        """One quantity of the environment in place, (1, n)."""
        live = self._solver.live(name)
        if live is None:
            raise ValueError(f"no view on {name}: the solver must have one environment, in one lane")
        return live.block.numpy()[:, live.place]

    def look(self) -> dict[str, np.ndarray]:
        """Copies of qpos, qvel and all that was asked for, by name: (1, n) or (1, items, components)."""
        self._solver.refresh()
        copies = {address: block.copy() for address, block in self._blocks.items()}
        seen = {name: copies[address][place].reshape(shape) for name, address, place, shape in self._places}
        for name in self._others:
            seen[name] = self._solver.get(name).numpy()
        return seen

    def faults(self) -> np.ndarray:
        """The fault bits, (1,), a copy."""
        return self._faults[0].copy()

    def control(self, action: np.ndarray) -> None:
        """Set the controls (1, nu)."""
        self._control[:] = action
