"""What a batch sees of its solver, and how it moves it: copies in the batch's arrays, in the order of environments."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..physics import RigidSolver
from ..physics.readout.returned import Live
from .arrays import Array, ArrayKind
from .noise import Noise
from .task import CameraView, TaskState

Memories = Mapping[str, Array]
_NO_IMAGES: dict[str, Array] = {}


class BatchView:
    """A solver of any number of environments. What it sees becomes a `TaskState` with the memory and noise given."""

    def __init__(
        self, solver: RigidSolver, reads: Sequence[str], cameras: Mapping[str, CameraView], kind: ArrayKind
    ) -> None:
        """Look at coordinates, at the derived quantities `reads` and through `cameras`."""
        self._solver, self._reads, self._kind = solver, tuple(reads), kind
        self._nq = solver.model.mj.nq
        self._cameras, self._renderers = cameras, dict[str, Any]()

    def coordinates(self) -> Array:
        """Copy all coordinates, (num_envs, nq + nv)."""
        return self._kind.from_tensor(self._solver.coordinates())

    def look(self, memory: Memories, noise: Noise, rows: Array | None = None) -> TaskState:
        """Copy the state of the environments `rows` (k,); None for all."""
        coordinates = self.coordinates()
        return self._state(coordinates if rows is None else coordinates[rows], self._fields(rows), memory, noise, rows)

    def _fields(self, rows: Array | None) -> dict[str, Array]:
        """The derived quantities by name."""
        if not self._reads:
            return {}
        return {name: self._kind.from_tensor(found) for name, found in self._solver.look(self._reads, rows).items()}

    def _state(
        self, coordinates: Array, fields: dict[str, Array], memory: Memories, noise: Noise, rows: Array | None
    ) -> TaskState:
        images = {name: self._picture(name, rows) for name in self._cameras} if self._cameras else _NO_IMAGES
        nq = self._nq
        return TaskState(coordinates, coordinates[:, :nq], coordinates[:, nq:], fields, images, memory, noise)

    def _picture(self, name: str, rows: Array | None) -> Array:
        """What a camera of the task sees, (k, height, width, 3) uint8."""
        if name not in self._renderers:
            from ..physics.rendering import BatchRenderer

            width, height, camera = self._cameras[name]
            self._renderers[name] = BatchRenderer(self._solver.model, width, height, camera=camera)
        return self._kind.from_tensor(self._renderers[name].render(self._solver, rows))

    def control(self, controls: Array) -> None:
        """Set the controls (num_envs, nu)."""
        self._solver.ctrl = controls

    def restart(self, rows: Array, coordinates: Array, memory: Memories, noise: Noise) -> TaskState:
        """Begin anew in the environments `rows` (k,), from states (k, nq + nv); look at them."""
        nq = self._nq
        self._solver.reset(rows, coordinates[:, :nq], coordinates[:, nq:])
        return self._state(coordinates, self._fields(rows), memory, noise, rows)

    def faults(self) -> Array | None:
        """The fault bits (num_envs,), a copy; None where there are none."""
        return self._kind.from_tensor(self._solver.faults) if self._solver.any_fault else None


class SingleEnvView(BatchView):
    """A solver of one environment on a CPU: numpy views on its numbers, read and written without a torch call.

    Numbers lie in a few blocks, so a look at everything is a copy of each block, and views on the copies. Quantities
    without a view come from `solver.get`.
    """

    def __init__(
        self, solver: RigidSolver, reads: Sequence[str], cameras: Mapping[str, CameraView], kind: ArrayKind
    ) -> None:
        """Open a view on the coordinates, the controls, the faults and each of `reads`."""
        super().__init__(solver, reads, cameras, kind)
        self._blocks: dict[int, np.ndarray] = {}  # address -> (numbers,)
        self._places: list[tuple[str, int, slice, tuple[int, ...]]] = []  # name, block, place in it, shape
        self._others: list[str] = []
        qpos, qvel = self._live("qpos"), self._live("qvel")
        self._place = qpos.block.data_ptr(), slice(qpos.place.start, qvel.place.stop)
        self._blocks[self._place[0]] = qpos.block.numpy()[0]
        for name in reads:
            live = solver.live(name)
            if live is None:
                self._others.append(name)
            else:
                self._blocks[live.block.data_ptr()] = live.block.numpy()[0]
                self._places.append((name, live.block.data_ptr(), live.place, tuple(solver.get(name).shape)))
        control, faults = self._live("ctrl"), self._live("faults")
        self._control, self._faults = control.block.numpy()[:, control.place], faults.block.numpy()[:, faults.place]

    def _live(self, name: str) -> Live:
        """Where a quantity lies."""
        live = self._solver.live(name)
        if live is None:
            raise ValueError(f"no view on {name}: the solver must have one environment, in one lane")
        return live

    def look(self, memory: Memories, noise: Noise, rows: Array | None = None) -> TaskState:
        """Copy the state."""
        self._solver.refresh()
        copies = {address: block.copy() for address, block in self._blocks.items()}
        fields = {name: copies[address][place].reshape(shape) for name, address, place, shape in self._places}
        for name in self._others:
            fields[name] = self._solver.get(name).numpy()
        address, place = self._place
        return self._state(copies[address][place][None], fields, memory, noise, rows)

    def control(self, controls: np.ndarray) -> None:
        """Set the controls (1, nu)."""
        self._control[:] = controls

    def restart(self, rows: Array, coordinates: Array, memory: Memories, noise: Noise) -> TaskState:
        """Begin anew from a state (1, nq + nv); look at it."""
        nq = self._nq
        self._solver.reset(None, coordinates[:, :nq], coordinates[:, nq:])
        return self.look(memory, noise)

    def faults(self) -> np.ndarray | None:
        """The fault bits (1,), a copy; None where there are none."""
        return self._faults[0].copy() if self._faults[0, 0] else None


def make_view(
    solver: RigidSolver, reads: Sequence[str], cameras: Mapping[str, CameraView], kind: ArrayKind
) -> BatchView:
    """The quickest view of a solver."""
    single = solver.num_envs == 1 and kind.in_numpy
    return (SingleEnvView if single else BatchView)(solver, reads, cameras, kind)
