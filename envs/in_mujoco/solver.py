"""MujocoSolver: a batch of environments in MuJoCo, with the names that a task's batch asks of a `RigidSolver`."""

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any

import mujoco
import numpy as np
import torch

from ...physics import Model
from ...physics.base.batch_numbers import HostNumbers
from ...physics.files.geometry.names import geom_ids
from ...physics.machine.closed import invalidate
from ...physics.machine.runtime import Runtime, ensure_runtime
from ...physics.machine.scalars import as_count
from ...physics.model.parameters import as_double, checked, require_known
from ...physics.model.parts import PARTS
from ...physics.model.tables.kernel_numbers import mujoco_numbers
from ...physics.rendering.rays.query import RayHits, as_rays
from ...physics.run.interface import CLOSED, ClosedSolverError
from .readout import prepare, read
from .saved import States
from .stepping import step
from .warned import heard
from .world import LARGEST, MujocoWorld

_SETTABLE = ("qpos", "qvel", "act")


class MujocoSolver:
    """Steps environments of one model by MuJoCo, each in one thread, in double precision on the processor.

    A name that a `RigidSolver` has too means the same. The model is the compiled one with its settings: integrator,
    cone, solver, iterations, tolerance. Tumble's own options (`max_contacts`, `broad_phase`, ...) mean nothing here,
    height fields touch as MuJoCo has it, and distance fields of meshes are MuJoCo's.

    Args:
        model: the model to simulate.
        num_envs: number of environments.
        outputs: names of derived quantities that are asked for after every step.

    Attributes:
        model (Model): the model that is simulated.
        num_envs (int): number of environments.
        runtime (Runtime): Tumble's settings when it was made; pictures are drawn with them.
        threads (int): threads that step environments, the runtime's; they change no bit.
        device (torch.device): the processor.
        dtype (torch.dtype): double precision.
        worlds (list[MujocoWorld]): the environments: `solver.worlds[3].data` is an `MjData`.
        queries (Rays): rays.
        state (States): saves and takes states of some environments.
        edits (int): number of calls that changed coordinates.

    Raises:
        NotImplementedError: MuJoCo lacks a mechanism of the model or one of the outputs.
    """

    def __init__(self, model: Model, num_envs: int, outputs: Sequence[str] = ()) -> None:
        require_mujocos(model)
        self.model, self.num_envs = model, as_count("num_envs", num_envs)
        self.runtime: Runtime = ensure_runtime()
        self.threads = self.runtime.threads
        self.device, self.dtype, self.edits = torch.device("cpu"), torch.float64, 1
        self._numbers = HostNumbers(torch.float64)
        shared = for_rays(copy.copy(model.mj))
        with heard():
            self.worlds = [MujocoWorld(shared) for _ in range(self.num_envs)]
            prepare(self.worlds, outputs)
        self.queries, self.state = Rays(model, self.chosen), States(self)
        self.runtime.adopt(self)

    def __repr__(self) -> str:
        return f"MujocoSolver({self.num_envs} environments, nq={self.model.mj.nq}, nv={self.model.mj.nv})"

    def close(self) -> None:
        """Give the memory back; all else raises ClosedSolverError."""
        self.worlds.clear()
        invalidate(self, ClosedSolverError, CLOSED, keeps=("close",))

    # -- moving -------------------------------------------------------------------------------------------------------

    def step(self, n: int = 1, ctrl: Any = None) -> None:
        """Take `n` physics steps; arguments and errors as in `RigidSolver.step`."""
        count = as_count("n", n)
        if ctrl is not None:
            self.ctrl = ctrl
        self.edits += 1
        with heard():
            step(self.worlds, count, self.threads)

    def forward(self, envs_idx: Any = None) -> None:
        """Bring the derived quantities of environments to their present state; nothing moves."""
        with heard():
            for world in self.chosen(envs_idx):
                world.forward()

    def reset(
        self,
        envs_idx: Any = None,
        qpos: Any = None,
        qvel: Any = None,
        parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """Put environments into the model's reference state, or the given one; everything else is reset, too.

        Arguments and errors as in `RigidSolver.reset`.
        """
        if parameters:
            self.update_parameters(parameters, envs_idx)
        worlds, mj = self.chosen(envs_idx), self.model.mj
        count, nq = len(worlds), int(mj.nq)
        own = np.stack([world.model.qpos0 for world in worlds]) if worlds else np.zeros((0, nq))
        starts = self._numbers.rows("qpos", own if qpos is None else qpos, count, nq)
        moving = None if qvel is None else self._numbers.rows("qvel", qvel, count, int(mj.nv))
        rows = self._numbers.side_by_side(count, starts, moving, int(mj.nv))
        self._numbers.require_start(rows, nq, LARGEST)
        arrays = self._checked_inputs(inputs or {}, count)
        self.edits += 1
        with heard():
            for k, world in enumerate(worlds):
                world.reset(rows[k, :nq], rows[k, nq:], {name: value[k] for name, value in arrays.items()})

    def set_state(self, qpos: Any = None, qvel: Any = None, envs_idx: Any = None, act: Any = None) -> None:
        """Write parts of the state, as `RigidSolver.set_state` does: warm start and faults are forgotten."""
        worlds, mj = self.chosen(envs_idx), self.model.mj
        sizes = {"qpos": int(mj.nq), "qvel": int(mj.nv), "act": int(mj.na)}
        rows = {
            name: np.broadcast_to(self._numbers.rows(name, value, len(worlds), sizes[name]), (len(worlds), sizes[name]))
            for name, value in zip(_SETTABLE, (qpos, qvel, act), strict=True)
            if value is not None
        }
        self.edits += 1
        for k, world in enumerate(worlds):
            world.put({name: value[k] for name, value in rows.items()})
            world.data.qacc_warmstart[:] = 0
            world.faults = 0

    # -- state, inputs, numbers of the model --------------------------------------------------------------------------

    def coordinates(self) -> torch.Tensor:
        """`qpos` and `qvel` side by side, (num_envs, nq + nv), a copy."""
        nq = self.model.mj.nq
        rows = np.empty((self.num_envs, nq + self.model.mj.nv))
        for row, world in zip(rows, self.worlds, strict=True):
            row[:nq], row[nq:] = world.data.qpos, world.data.qvel
        return torch.from_numpy(rows)

    @property
    def qpos(self) -> torch.Tensor:
        """Coordinates (num_envs, nq), a copy."""
        return self.get("qpos")

    @property
    def qvel(self) -> torch.Tensor:
        """Velocities (num_envs, nv), a copy."""
        return self.get("qvel")

    @property
    def time(self) -> torch.Tensor:
        """Simulated seconds since each environment's reset, (num_envs,)."""
        return torch.tensor([world.data.time for world in self.worlds], dtype=torch.float64)

    @property
    def ctrl(self) -> torch.Tensor:
        """Controls (num_envs, nu), a copy."""
        return self.get("ctrl")

    @ctrl.setter
    def ctrl(self, value: Any) -> None:
        self.set_inputs(None, ctrl=value)

    @property
    def faults(self) -> torch.Tensor:
        """Bits of errors that occurred (num_envs,), int32: `NON_FINITE`, `CONTACTS_FULL`; cleared by a reset."""
        return torch.tensor([world.faults for world in self.worlds], dtype=torch.int32)

    @property
    def any_fault(self) -> bool:
        """True if any environment has a fault."""
        return any(world.faults for world in self.worlds)

    def set_inputs(self, envs_idx: Any = None, **inputs: Any) -> None:
        """Write inputs of environments; arguments and errors as in `RigidSolver.set_inputs`."""
        worlds = self.chosen(envs_idx)
        arrays = self._checked_inputs(inputs, len(worlds))
        for k, world in enumerate(worlds):
            world.put({name: value[k] for name, value in arrays.items()})

    def update_parameters(self, parameters: Mapping[str, Any], envs_idx: Any = None) -> None:
        """Set per-environment parameters, as `solver.parameters.update` of a `RigidSolver` does.

        Each of these environments then has a separate `MjModel`.
        """
        worlds, index = self.chosen(envs_idx), self._index(envs_idx)
        numbers = {name: checked(self.model.mj, name, v, index) for name, v in as_double(parameters).items()}
        with heard():
            for k, world in enumerate(worlds):
                world.set_env_parameters({name: value[k] for name, value in numbers.items()}, self.fresh)

    def get_parameters(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """Model numbers of environments by MuJoCo's name, (n, *shape)."""
        require_known(name, writable=False)
        return torch.from_numpy(np.stack([mujoco_numbers(world.model, name) for world in self.chosen(envs_idx)]))

    # -- quantities that follow from the state ------------------------------------------------------------------------

    def get(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """A quantity by MuJoCo's name, a copy: (n, items) or (n, items, components).

        Raises:
            NotImplementedError: MuJoCo does not have it.
        """
        return self.get_many((name,), envs_idx)[name]

    def get_many(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """`get` for several quantities at once."""
        worlds = self.chosen(envs_idx)
        with heard():
            prepare(worlds, names)
            return {name: torch.from_numpy(rows) for name, rows in read(worlds, names).items()}

    def get_present(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Quantities in the present state, as `mj_step1` computes them after a step: `RigidSolver.get_present`."""
        worlds = self.chosen(envs_idx)
        with heard():
            prepare(worlds, names)
            with ExitStack() as brought:
                for world in worlds:
                    brought.enter_context(world.at_present())
                return {name: torch.from_numpy(rows) for name, rows in read(worlds, names).items()}

    # -- saving -------------------------------------------------------------------------------------------------------

    def state_dict(self, envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Everything that the future of environments depends on, to the last bit: `state.state_dict`."""
        return self.state.state_dict(envs_idx)

    def load_state_dict(self, state: Mapping[str, torch.Tensor], envs_idx: Any = None) -> None:
        """Go on where `state_dict` left off: `state.load_state_dict`.

        Raises:
            ValueError: the state is of another model or number of environments, or of Tumble's solver.
        """
        self.state.load_state_dict(state, envs_idx)

    # -- helpers ------------------------------------------------------------------------------------------------------

    @cached_property
    def _editable(self) -> mujoco.MjModel:
        """The model that environments with per-environment parameters start from."""
        return for_rays(self.model.editable())

    def fresh(self) -> mujoco.MjModel:
        """Return a model for an environment with per-environment parameters."""
        return copy.copy(self._editable)

    def _index(self, envs_idx: Any) -> np.ndarray:
        index = self._numbers.environments(envs_idx, self.num_envs)
        return np.arange(self.num_envs) if index is None else index

    def chosen(self, envs_idx: Any) -> list[MujocoWorld]:
        """Return the environments meant, all for None."""
        if envs_idx is None:
            return self.worlds
        return [self.worlds[env] for env in self._index(envs_idx)]

    def _checked_inputs(self, inputs: Mapping[str, Any], count: int) -> dict[str, np.ndarray]:
        """Return inputs of `count` environments, (count, ...) each, by name; nothing is written."""
        arrays, data = {}, self.worlds[0].data
        for name, value in inputs.items():
            if name not in _INPUTS:
                raise TypeError(f"no input is named {name!r}; there are {', '.join(_INPUTS)}")
            shape, rows = getattr(data, name).shape, self._numbers.numbers(value, name)
            if tuple(rows.shape) not in ((count, *shape), shape):
                raise ValueError(f"{name}: expected shape {(count, *shape)}, got {tuple(rows.shape)}")
            rows = np.broadcast_to(rows, (count, *shape))
            arrays[name] = rows > 0.5 if name == "eq_active" else rows
        return arrays


_INPUTS = ("ctrl", "mocap_pos", "mocap_quat", "eq_active", "qfrc_applied", "xfrc_applied")


def require_mujocos(model: Model) -> None:
    """Refuse a model that would be another one in MuJoCo.

    Raises:
        NotImplementedError: the message lists what MuJoCo lacks.
    """
    own = (part for part in PARTS if part.numbers or any(memory.is_input for memory in part.memory))
    lacking = [part.doc for part in own if part.wanted(model)]
    if len(model.ignored_pairs):
        lacking.append("pairs of geoms without contacts because they overlap at qpos0 (ignore_reference_overlaps)")
    if lacking:
        raise NotImplementedError(f"MuJoCo lacks features of this model: {'; '.join(lacking)}")


def for_rays(mj: mujoco.MjModel) -> mujoco.MjModel:
    """Take materials off the geoms of a model of our own: the alpha of a geom says whether `mj_ray` meets it."""
    mj.geom_matid[:] = -1
    return mj


class Rays:
    """Casts rays in environments.

    Args:
        model: their model.
        chosen: (environments, None for all) -> the chosen worlds.
    """

    def __init__(self, model: Model, chosen: Callable[[Any], list[MujocoWorld]]) -> None:
        self._model, self._chosen = model, chosen
        mj = model.mj
        alpha = np.where(mj.geom_matid >= 0, np.append(mj.mat_rgba[:, 3], 1.0)[mj.geom_matid], mj.geom_rgba[:, 3])
        self._visible = alpha != 0

    def ray(self, pnt: Any, vec: Any, *, geoms: Any = None, envs_idx: Any = None) -> RayHits:
        """Find where rays first meet a geom; arguments, results and errors as in `RigidSolver.ray`."""
        worlds, seen = self._chosen(envs_idx), self._visible
        if geoms is not None:
            seen = np.zeros_like(seen)
            seen[geom_ids(self._model.mj, geoms)] = True
            seen &= self._visible
        points, vectors = (rays.numpy() for rays in as_rays(pnt, vec, len(worlds), torch.float64, torch.device("cpu")))
        distance = np.full(points.shape[:2], -1.0)
        geom = np.full(points.shape[:2], -1, np.int32)
        for k, world in enumerate(worlds):
            world.model.geom_rgba[:, 3] = seen
            for i in range(points.shape[1]):
                ray, met = (points[k, i], vectors[k, i]), geom[k, i : i + 1]
                distance[k, i] = mujoco.mj_ray(world.model, world.data, *ray, None, True, -1, met)
        return RayHits(torch.from_numpy(distance), torch.from_numpy(geom), None)
