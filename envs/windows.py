"""Windows into a solver of a single environment: numpy views on its numbers, read and written without a torch call."""

import numpy as np

from ..physics import RigidSolver
from ..physics.readout.returned import Live


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
        state = self._live("qpos")
        self._add("state", state._replace(place=slice(state.place.start, self._live("qvel").place.stop)), (1, -1))
        for name in reads:
            live = solver.live(name)
            if live is None:
                self._others.append(name)
            else:
                self._add(name, live, tuple(solver.get(name).shape))
        control, faults = self._live("ctrl"), self._live("faults")
        self._control, self._faults = control.block.numpy()[:, control.place], faults.block.numpy()[:, faults.place]

    def _live(self, name: str) -> Live:
        """Where a quantity lies."""
        live = self._solver.live(name)
        if live is None:
            raise ValueError(f"no view on {name}: the solver must have one environment, in one lane")
        return live

    def _add(self, name: str, live: Live, shape: tuple[int, ...]) -> None:
        """Look at a quantity from now on."""
        address = live.block.data_ptr()
        self._blocks[address] = live.block.numpy()[0]
        self._places.append((name, address, live.place, shape))

    def look(self) -> dict[str, np.ndarray]:
        """Copies by name, (1, n) or (1, items, components): all that was asked for, and "state", qpos before qvel."""
        self._solver.refresh()
        copies = {address: block.copy() for address, block in self._blocks.items()}
        seen = {name: copies[address][place].reshape(shape) for name, address, place, shape in self._places}
        for name in self._others:
            seen[name] = self._solver.get(name).numpy()
        return seen

    def faults(self) -> np.ndarray | None:
        """The fault bits, (1,), a copy; None where there are none."""
        return self._faults[0].copy() if self._faults[0, 0] else None

    def control(self, action: np.ndarray) -> None:
        """Set the controls (1, nu)."""
        self._control[:] = action
