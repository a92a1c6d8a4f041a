"""Reading and writing a batch's solver: copies in the batch's arrays, rows in the order of environments."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ...physics import RigidSolver
from ...physics.base.arguments import CheckedEnvs
from ...physics.rendering.cameras.camera import check_camera, require_pixels
from ...physics.run.interface import InPlaceColumns
from ..arrays import Array, ArrayKind, indices, row_all
from ..simulators import Simulator
from ..task.noise import Noise
from ..task.scans import RayScan, Scanner
from ..task.task import CameraView, Start, StepResult, TaskState

if TYPE_CHECKING:
    from ..matter.coupled import CoupledSolver

Memories = Mapping[str, Array]
_NONE: dict[str, Array] = {}


class LazyArrays(Mapping[str, Array]):
    """Arrays of a state by name, each computed when it is first read: an error after another step."""

    def __init__(
        self, solver: Simulator, names: Sequence[str] | Mapping[str, Any], read: Callable[[str], Array]
    ) -> None:
        """Take the names, and a function that computes the array of one."""
        self._solver, self._names, self._read = solver, names, read
        self._edits, self._found = solver.edits, dict[str, Array]()

    def __getitem__(self, name: str) -> Array:
        if name not in self._found:
            if name not in self._names:
                raise KeyError(name)
            if self._solver.edits != self._edits:
                raise RuntimeError(
                    f"{name!r} of a state is computed when it is first read, and the environments have moved on since: "
                    "read it in the method that is given the state"
                )
            self._found[name] = self._read(name)
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class BatchView:
    """Reads a solver of any number of environments into a `TaskState`, with the memory and noise that it is given."""

    def __init__(
        self,
        solver: Simulator,
        reads: Sequence[str],
        cameras: Mapping[str, CameraView],
        rays: Mapping[str, RayScan],
        kind: ArrayKind,
        present: Sequence[str] = (),
    ) -> None:
        """Set what states hold: coordinates, quantities `reads`, pictures of `cameras`, distances along `rays`.

        `present` are the quantities of `Task.reads_present`.
        """
        self._solver, self._reads, self._kind, self._present = solver, reads, kind, tuple(present)
        self._nq = solver.model.mj.nq
        self._cameras, self._renderers = cameras, dict[str, Any]()
        self._scanners = {name: Scanner(solver, name, scan, kind) for name, scan in rays.items()}
        poses = (name for scanner in self._scanners.values() for name in scanner.quantities)
        self._wanted = tuple(dict.fromkeys((*reads, *poses)))
        for name, camera in cameras.items():
            _check_view(name, camera, solver.model.mj)

    def step(self, n: int, controls: Any) -> None:
        """Take `n` physics steps under controls (num_envs, nu)."""
        self._solver.step(n, controls)

    def detach(self) -> None:
        """Cut the graph of a differentiable view."""

    def coordinates(self) -> Array:
        """Copy all coordinates, (num_envs, nq + nv)."""
        return self._kind.from_tensor(self._solver.coordinates())

    def look(self, memory: Memories, noise: Noise, rows: Array | None = None) -> TaskState:
        """Return a copy of the state of the environments `rows` (k,), or of all."""
        coordinates = self.coordinates()
        return self._state(coordinates if rows is None else coordinates[rows], self._found(rows), memory, noise, rows)

    def look_ahead(self, memory: Memories, noise: Noise) -> TaskState:
        """Return the state of all environments for `Task.control`: derived quantities are read when they are asked for.

        Most tasks read none there, and have them from the step before.
        """
        read = cache(lambda: self._found(None))
        quantities, fields = (
            LazyArrays(self._solver, n, lambda name: read()[name]) for n in (self._wanted, self._reads)
        )
        return self._state(self.coordinates(), quantities, memory, noise, None, fields)

    def _found(self, rows: Array | None) -> dict[str, Array]:
        """Return the derived quantities of the environments `rows` by name, including the inputs of scans."""
        if not self._wanted:
            return {}
        known = None if rows is None else CheckedEnvs(rows)
        return {
            name: self._kind.from_tensor(tensor) for name, tensor in self._solver.get_many(self._wanted, known).items()
        }

    def _state(
        self,
        coordinates: Array,
        found: Memories,
        memory: Memories,
        noise: Noise,
        rows: Array | None,
        fields: Memories | None = None,
    ) -> TaskState:
        """Return a state from the result of `_found`; its pictures and distances along rays are computed when read."""
        solver, cameras, scanners, nq = self._solver, self._cameras, self._scanners, self._nq
        known = None if rows is None else CheckedEnvs(rows)
        if fields is None:
            fields = {name: found[name] for name in self._reads}
        images = LazyArrays(solver, cameras, lambda name: self._picture(name, known)) if cameras else _NONE
        rays = LazyArrays(solver, scanners, lambda name: scanners[name].distances(found, known)) if scanners else _NONE
        parts = coordinates, coordinates[:, :nq], coordinates[:, nq:], fields, images, memory, noise, rays
        return TaskState(*parts, self._present_quantities(known) if self._present else _NONE)

    def _present_quantities(self, known: CheckedEnvs | None) -> LazyArrays:
        """Return the quantities of the present state, all computed when one is read."""
        solver, like = self._solver, self._kind.from_tensor
        read = cache(lambda: solver.get_present(self._present, known))
        return LazyArrays(solver, self._present, lambda name: like(read()[name]))

    def _picture(self, name: str, known: CheckedEnvs | None) -> Array:
        """Return the picture of a camera of the task, (k, height, width, 3) uint8."""
        if name not in self._renderers:
            from ...physics.rendering import BatchRenderer, Show

            width, height, camera, sites = self._cameras[name]
            show = Show(sites=sites)
            self._renderers[name] = BatchRenderer(self._solver.model, width, height, camera=camera, show=show)
        return self._kind.from_tensor(self._renderers[name].render(self._solver, known))

    def set_env_parameters(self, parameters: Mapping[str, Any], rows: Array) -> None:
        """Set per-environment parameters of the environments `rows` (k,), each (k, ...)."""
        self._solver.update_parameters(parameters, CheckedEnvs(rows))

    def push(self, result: StepResult, state: TaskState) -> Array | None:
        """Write the coordinates of a step's result to environments in which they differ from the state's.

        Return the coordinates of all environments then, (num_envs, nq + nv); None if there are no others.
        """
        if result.qvel is None and result.qpos is None:
            return None
        pushed = self._kind.xp.concat(
            (
                state.qpos if result.qpos is None else result.qpos,
                state.qvel if result.qvel is None else result.qvel,
            ),
            axis=1,
        )
        rows = indices(~row_all(pushed == state.coordinates))
        if not len(rows):
            return None
        nq, moved = self._nq, pushed[rows]
        if result.qpos is None:
            self._solver.set_state(qvel=moved[:, nq:], envs_idx=CheckedEnvs(rows))
        else:
            self._solver.set_state(moved[:, :nq], moved[:, nq:], envs_idx=CheckedEnvs(rows))
        return pushed

    def drive(self, inputs: Mapping[str, Array], rows: Array | None = None) -> None:
        """Set inputs of the solver, each (k, ...) or (...) for all, in the environments `rows` (k,), or in all."""
        self._solver.set_inputs(None if rows is None else CheckedEnvs(rows), **inputs)

    def restart(self, rows: Array, coordinates: Array, start: Start, noise: Noise) -> TaskState:
        """Put the environments `rows` (k,) into given coordinates (k, nq + nv); return their state.

        Memory and inputs are taken from `start`.
        """
        nq = self._nq
        self._solver.reset(CheckedEnvs(rows), coordinates[:, :nq], coordinates[:, nq:], inputs=start.inputs)
        self._activate(rows, start)
        return self._state(coordinates, self._found(rows), start.memory, noise, rows)

    def _activate(self, rows: Array, start: Start) -> None:
        """Write the activations of a start, if it has any."""
        if start.act is not None:
            self._solver.set_state(act=start.act, envs_idx=CheckedEnvs(rows))
            self._solver.forward(CheckedEnvs(rows))

    def moved(self, before: Array) -> Array:
        """Return the environments (k,) whose coordinates are not those of (num_envs, nq + nv) before."""
        return indices(~row_all(self.coordinates() == before))

    def faults(self) -> Array | None:
        """The fault bits (num_envs,), a copy; None if no fault is pending; does not synchronise."""
        if self._solver.device.type == "cpu" and not self._solver.any_fault:
            return None
        return self._kind.from_tensor(self._solver.faults)


def _check_view(name: str, view: CameraView, mj: mujoco.MjModel) -> None:
    """Refuse a camera of a task that the model does not have, or a picture that cannot be; errors name it."""
    if not isinstance(view, tuple) or len(view) != len(CameraView._fields):
        raise TypeError(f"cameras[{name!r}] is {view!r}; needed is a CameraView")
    width, height, camera, _ = view
    try:
        require_pixels(width, height)
        check_camera(mj, camera)
    except (ValueError, TypeError) as error:
        raise type(error)(f"cameras[{name!r}]: {error}") from error


class SingleEnvView(BatchView):
    """Reads a solver of one environment on a CPU by numpy views of its memory, without a call of torch.

    The solver keeps its numbers in a few blocks of memory, so that a state is a copy of each block, with views of the
    quantities in the copies. Quantities outside of these blocks come from `solver.get`.
    """

    def __init__(
        self,
        solver: RigidSolver,
        reads: Sequence[str],
        cameras: Mapping[str, CameraView],
        rays: Mapping[str, RayScan],
        kind: ArrayKind,
        present: Sequence[str] = (),
    ) -> None:
        """Find where the coordinates, the controls, the faults and each of `reads` lie in the solver's memory."""
        super().__init__(solver, reads, cameras, rays, kind, present)
        self._memory = solver
        self._blocks: dict[int, np.ndarray] = {}  # address -> (numbers,)
        self._places: list[tuple[str, int, slice, tuple[int, ...]]] = []  # name, block, place in it, shape
        self._others: list[str] = []
        qpos, qvel = self._place_of("qpos"), self._place_of("qvel")
        self._place = qpos.block.data_ptr(), slice(qpos.place.start, qvel.place.stop)
        self._blocks[self._place[0]] = qpos.block.numpy()[0]
        for name in self._wanted:
            view = solver.view(name)
            if view is None:
                self._others.append(name)
            else:
                self._blocks[view.block.data_ptr()] = view.block.numpy()[0]
                self._places.append((name, view.block.data_ptr(), view.place, tuple(solver.get(name).shape)))
        control, faults = self._place_of("ctrl"), self._place_of("faults")
        self._control, self._faults = control.block.numpy()[:, control.place], faults.block.numpy()[:, faults.place]

    def _place_of(self, name: str) -> InPlaceColumns:
        """Return where a quantity lies in the solver's memory.

        Raises:
            ValueError: it has no separate memory there.
        """
        view = self._memory.view(name)
        if view is None:
            raise ValueError(f"no view on {name}: the solver must have one environment")
        return view

    def look(self, memory: Memories, noise: Noise, rows: Array | None = None) -> TaskState:
        """Return a copy of the state."""
        self._memory.refresh()
        copies = {address: block.copy() for address, block in self._blocks.items()}
        quantities = {name: copies[address][place].reshape(shape) for name, address, place, shape in self._places}
        for name in self._others:
            quantities[name] = self._solver.get(name).numpy()
        address, place = self._place
        return self._state(copies[address][place][None], quantities, memory, noise, rows)

    def look_ahead(self, memory: Memories, noise: Noise) -> TaskState:
        """Return the result of `look`; here it copies memory that lies side by side."""
        return self.look(memory, noise)

    def step(self, n: int, controls: np.ndarray) -> None:
        """Take `n` physics steps under controls (1, nu)."""
        self._control[:] = controls
        self._solver.step(n)

    def restart(self, rows: Array, coordinates: Array, start: Start, noise: Noise) -> TaskState:
        """Put the environment into given coordinates (1, nq + nv); return its state."""
        nq = self._nq
        self._solver.reset(None, coordinates[:, :nq], coordinates[:, nq:], inputs=start.inputs)
        self._activate(rows, start)
        return self.look(start.memory, noise)

    def faults(self) -> np.ndarray | None:
        """The fault bits (1,), a copy; None if there is no fault."""
        return self._faults[0].copy() if self._faults[0, 0] else None


class MatterView(BatchView):
    """Reads a solver of bodies and matter."""

    _solver: "CoupledSolver"

    def restart(self, rows: Array, coordinates: Array, start: Start, noise: Noise) -> TaskState:
        """Put the environments `rows` (k,) into given coordinates and particles; return their state."""
        nq, parts = self._nq, {"inputs": start.inputs, "particles": start.particles}
        self._solver.state.reset(CheckedEnvs(rows), coordinates[:, :nq], coordinates[:, nq:], **parts)
        self._activate(rows, start)
        return self._state(coordinates, self._found(rows), start.memory, noise, rows)

    def moved(self, before: Array) -> Array:
        """Return the environments (k,) whose coordinates are others than before, or whose particles were written."""
        same = row_all(self.coordinates() == before)
        return indices(~same | self._kind.from_tensor(self._solver.state.written))


def sensed_by_steps(present: Sequence[str], mj: mujoco.MjModel) -> list[str]:
    """Return the quantities that steps deliver for a task that reads `present` ones: sensors of forces, if any."""
    late = mj.sensor_needstage == int(mujoco.mjtStage.mjSTAGE_ACC)
    return ["sensordata"] if "sensordata" in present and late.any() else []


def make_view(
    solver: Simulator,
    reads: Sequence[str],
    cameras: Mapping[str, CameraView],
    rays: Mapping[str, RayScan],
    kind: ArrayKind,
    present: Sequence[str] = (),
) -> BatchView:
    """Return the quickest way to read a solver."""
    view: type[BatchView] = BatchView
    if hasattr(solver, "coupler"):
        view = MatterView
    elif isinstance(solver, RigidSolver) and solver.num_envs == 1 and kind.in_numpy:
        view = SingleEnvView
    return view(solver, reads, cameras, rays, kind, present)
