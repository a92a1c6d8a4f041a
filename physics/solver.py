"""RigidSolver: a model and a batch of environments; tensors in and out, no physics of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from . import kernel as driver
from .arguments import as_count, as_numbers, as_rows, require_start
from .launches import ClosedSolverError, Launches
from .model.model import Model
from .outputs import Bound, Outputs
from .readout.contacts import SOURCES as CONTACT_SOURCES
from .readout.contacts import Contacts, batched_contacts
from .readout.derived import DERIVED, derive, sources_of
from .readout.inspection import inspect_numbers
from .readout.returned import Live, Trajectory
from .retired import retire
from .runtime import Runtime, ensure_runtime, lane_width
from .state.fields import COORDINATES, EVALUATION, NOT_INTEGRATED, QUANTITIES, REMAINDERS
from .state.sizes import solver_notes
from .state.snapshot import LARGEST

NON_FINITE = 1
"""Bit of `RigidSolver.faults`: the state stopped being finite; the environment waits for a reset."""
_STATE = {f.name for f in (*COORDINATES, *EVALUATION, *REMAINDERS)}


class RigidSolver:
    """Steps `num_envs` copies of one model at once.

    After `step()` the derived quantities (`get`, `contacts`, `inspect`) are those of the last evaluation, before the
    final integration, as MuJoCo's mj_step leaves them (with RK4: of its last stage). `forward()` brings them to the
    present state. Properties return copies; `set_state` and `solver.ctrl = ...` write. `edits` counts the calls that
    changed coordinates: `step`, `rollout`, `set_state`, `reset`, `load_state_dict`. `notes` says in words what is done
    differently from what the file asks.

    Args:
        model: what to simulate.
        num_envs: number of environments.
        outputs: names of derived quantities (see `get`) that every step delivers; any other costs an evaluation.
        lanes: environments per SIMD register; by default the runtime's, 1 for a single environment.

    Raises:
        ValueError: for an unknown output, an impossible number of environments or width of lanes.
        MemoryError: for more environments than fit.
    """

    def __init__(self, model: Model, num_envs: int, outputs: Sequence[str] = (), lanes: int | None = None) -> None:
        runtime = ensure_runtime()
        self.model, self.num_envs = model, as_count("num_envs", num_envs)
        self.runtime: Runtime = runtime
        self.device, self.dtype = torch.device(runtime.device), runtime.torch_dtype
        self.width = lane_width(lanes) if lanes is not None else 1 if num_envs == 1 else runtime.lanes
        self._launches = here = Launches(runtime, model, self.num_envs, self.width)
        self.tiles, self._offsets, self._widths, self._coords = here.tiles, here.offsets, here.widths, here.coords
        self._memory, self._counters = here.memory, here.counters
        self._numbers, self._integers = here.memory.numpy(), here.counters.numpy()  # views
        self._eval_qacc, self._eval_rest = self._rows("eval_qacc"), self._rows("eval_rest")
        shape = (self._offsets, self._widths, self.tiles, self._memory, self._counters)
        self._outputs = Outputs([name for name in sources_of(outputs) if name not in _STATE], *shape)
        self._call, self._launch = self._bind(self._memory, self._counters, self._outputs.values, replay=False)
        self._call[driver.SUBSTEPS] = self._substeps = 1
        self._fresh = self._reference_rows()
        self._no_counts = np.zeros(driver.COUNTERS, np.int32)
        self.notes = [*model.notes, *solver_notes(model, self.dtype == torch.float32)]
        self.edits = 0
        self.reset()
        self._counters[:, driver.FAULT].masked_fill_(~self.tiles.used, NON_FINITE)  # spare lanes of the last tile rest
        runtime.solvers.add(self)

    def __repr__(self) -> str:
        return f"RigidSolver({self.num_envs} environments, nq={self.model.mj.nq}, nv={self.model.mj.nv}, {self.dtype})"

    # state

    @property
    def qpos(self) -> torch.Tensor:
        """Generalised coordinates (num_envs, nq); m or rad, quaternions w first."""
        return self._read("qpos")

    @property
    def qvel(self) -> torch.Tensor:
        """Generalised velocities (num_envs, nv); m/s or rad/s."""
        return self._read("qvel")

    @property
    def qacc_warmstart(self) -> torch.Tensor:
        """Acceleration at which the constraint solver starts (num_envs, nv)."""
        return self._read("qacc_warmstart")

    @property
    def ctrl(self) -> torch.Tensor:
        """Controls (num_envs, nu)."""
        return self._read("ctrl")

    @ctrl.setter
    def ctrl(self, value: Any) -> None:
        self._write("ctrl", self._rows_of("ctrl", value, self.num_envs), None)

    @property
    def time(self) -> torch.Tensor:
        """Simulated seconds since each environment's reset (num_envs,), float64."""
        return self._count(driver.STEPS).to(torch.float64) * float(self.model.mj.opt.timestep)

    @property
    def faults(self) -> torch.Tensor:
        """Bits of what went wrong (num_envs,), int32: `NON_FINITE`. Cleared by `reset` and `set_state`."""
        return self._count(driver.FAULT)

    @property
    def any_fault(self) -> bool:
        """Whether any environment has a fault, sooner told than what each has."""
        return bool(np.count_nonzero(self._integers[:, driver.FAULT])) and bool(self.faults.any())

    @property
    def solver_niter(self) -> torch.Tensor:
        """Iterations of the constraint solver in the last evaluation (num_envs,), int32."""
        return self._count(driver.NITER)

    def coordinates(self) -> torch.Tensor:
        """`qpos` and `qvel` side by side (num_envs, nq + nv); the environments of a column lie together in memory."""
        return self.tiles.columns(self._numbers, slice(0, self._widths["qpos"] + self._widths["qvel"]))

    def set_state(self, qpos: Any = None, qvel: Any = None, envs_idx: Any = None) -> None:
        """Write coordinates and velocities, forget the warm start and any fault of these environments.

        In single precision a state is more than `qpos` and `qvel` show (`docs/fields.md`, qpos_rest): what is written
        here is taken as exact. `state_dict` and `load_state_dict` go on to the bit.

        Values that are not finite (or beyond 1e10) stop their environment at the next step.

        Args:
            qpos: (n, nq), n being num_envs or the number of `envs_idx`; None leaves them as they are.
            qvel: (n, nv), likewise.
            envs_idx: indices of environments; None for all.

        Raises:
            ValueError: for a wrong shape, naming what was expected.
            IndexError: for an environment that does not exist.
        """
        index = self.tiles.index(envs_idx)
        count = self.num_envs if index is None else len(index)
        zero = np.zeros((), self._fresh.dtype)
        for name, value in (("qpos", qpos), ("qvel", qvel)):
            if value is not None:
                self._write(name, self._rows_of(name, value, count), index)
                self._write(f"{name}_rest", zero, index)
        self._write("qacc_warmstart", zero, index)
        self._set_count(driver.FAULT, index, 0)
        self.edits += 1

    def reset(self, envs_idx: Any = None, qpos: Any = None, qvel: Any = None) -> None:
        """Put environments into the model's reference state, or the given one: everything else begins anew.

        Control, time, warm start and faults are cleared, and the derived quantities belong to the new state.

        Args:
            envs_idx: indices of environments; None for all.
            qpos: (n, nq), n being num_envs or the number of `envs_idx`; None for the reference.
            qvel: (n, nv), likewise; None for zero.

        Raises:
            ValueError: for a wrong shape, naming what was expected, and for numbers that no environment can start from.
            IndexError: for an environment that does not exist.
        """
        index = self.tiles.index(envs_idx)
        rows = self._fresh_rows(self.num_envs if index is None else len(index), qpos, qvel)
        self.tiles.write(self._numbers, 0, rows, rows.shape[1], index)
        self.tiles.write(self._integers, 0, self._no_counts, driver.COUNTERS, index)
        self._outputs.mark(index)
        self.edits += 1

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Everything that the future depends on, to the last bit: (num_envs, numbers) each, whatever the lane width."""
        return {"memory": self.tiles.read(self._numbers), "counters": self.tiles.read(self._integers)}

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        """Go on where `state_dict` left off.

        Raises:
            ValueError: the state is of another model, precision or number of environments.
        """
        for name, mine in (("memory", self._memory), ("counters", self._counters)):
            theirs = state[name]
            shape = (self.num_envs, mine.shape[1])
            if tuple(theirs.shape) != shape or theirs.dtype != mine.dtype:
                raise ValueError(
                    f"{name}: saved as {tuple(theirs.shape)} {theirs.dtype}, this solver has {shape} {mine.dtype}; "
                    "use the model, precision, num_envs and version of Tumble it was saved with"
                )
            self.tiles.write(mine.numpy(), 0, theirs.cpu().numpy(), mine.shape[1], None)
        self._counters[:, driver.FAULT].masked_fill_(~self.tiles.used, NON_FINITE)
        self._outputs.mark(None)
        self.edits += 1

    def close(self) -> None:
        """Give the memory of this batch back; everything else that the solver is asked for raises ClosedSolverError."""
        self._launches.close()
        for name in ("_launch", "_outputs", "_memory", "_counters", "_numbers", "_integers"):
            vars(self).pop(name, None)
        retire(self, ClosedSolverError, "this solver was closed; make a new one", keeps=("close",))

    # motion

    def step(self, n: int = 1) -> None:
        """Take `n` physics steps under the present controls.

        Raises:
            ValueError: n is no whole number above 0.
        """
        self.runtime.require()
        if n != self._substeps:
            self._call[driver.SUBSTEPS] = self._substeps = as_count("n", n)
        self._launch()
        self._outputs.mark_current()
        self.edits += 1

    def rollout(self, controls: Any) -> Trajectory:
        """Take one physics step under each of a sequence of controls, without a return to Python between them.

        What `solver.ctrl = ...` and `step()` would do one after the other, to the last bit, as MuJoCo's
        `mujoco.rollout` does; `ctrl` is the last of the controls afterwards.

        Args:
            controls: (num_envs, nstep, nu).

        Returns:
            Where every step ended: qpos (num_envs, nstep, nq) and qvel (num_envs, nstep, nv).

        Raises:
            ValueError: for a wrong shape, naming what was expected.
        """
        wanted = as_numbers(controls, self._fresh.dtype)
        if wanted.ndim != 3 or wanted.shape[::2] != (self.num_envs, self.model.mj.nu) or not wanted.shape[1]:
            expected = f"({self.num_envs}, nstep, {self.model.mj.nu})"
            raise ValueError(f"controls: expected shape {expected} with at least one step, got {wanted.shape}")
        nq, nv = self._widths["qpos"], self._widths["qvel"]
        track = torch.empty((*wanted.shape[:2], nq + nv), dtype=self.dtype)
        self._launches.follow(self._call, self._outputs, torch.from_numpy(np.ascontiguousarray(wanted)), track)
        self.ctrl = wanted[:, -1]
        self._outputs.mark_current()
        self.edits += 1
        return Trajectory(track[..., :nq], track[..., nq:])

    def forward(self, envs_idx: Any = None) -> None:
        """Bring the derived quantities of environments to their present state; nothing moves."""
        index = self.tiles.index(envs_idx)
        present, last = self._memory[:, : self._coords], self._memory[:, self._coords : 2 * self._coords]
        sound = (present.abs() <= LARGEST).all(dim=1, keepdim=True)
        chosen = sound & self.tiles.mask(index)
        last.copy_(torch.where(chosen, present, last))
        self._memory[:, self._eval_qacc].masked_fill_(chosen, NOT_INTEGRATED)
        self._memory[:, self._eval_rest].masked_fill_(chosen, 0.0)
        self._outputs.mark(index)

    # what follows from the state

    def get(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """A quantity by MuJoCo's name: (n, items) or (n, items, components) of the environments `envs_idx`, a copy.

        `xpos xquat xmat xipos geom_xpos geom_xmat site_xpos site_xmat cam_xpos cam_xmat subtree_com cinert cvel cdof
        qM qfrc_bias qfrc_passive qfrc_actuator qfrc_smooth qacc_smooth qacc qfrc_constraint actuator_force cfrc_ext
        solver_niter` and every other field of `docs/fields.md`.

        Raises:
            KeyError: for an unknown name, with the nearest ones.
        """
        index = self.tiles.index(envs_idx)
        if name in _STATE:
            return self._read(name, index)
        names = sources_of((name,))
        if all(n in self._outputs for n in names):
            self.refresh()
            fields = {n: self.tiles.pick(self._outputs[n], index) for n in names}
        else:
            found, _ = self._launches.evaluate(names)
            fields = {n: self.tiles.pick(values, index) for n, values in found.items()}
        return derive(self.model, name, fields)

    def look(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """`get` for several quantities at once: quicker, and those that are outputs are parts of one tensor."""
        index = self.tiles.index(envs_idx)
        together = [name for name in names if name in self._outputs and name not in DERIVED]
        found = {name: self.get(name, index) for name in names if name not in together}
        if together:
            self.refresh()
            block = self.tiles.pick(self._outputs.values, index)
            for name in together:
                found[name] = derive(self.model, name, {name: block[:, self._outputs.places[name]]})
        return found

    def preview(self, names: Sequence[str], qpos: Any, qvel: Any) -> dict[str, torch.Tensor]:
        """`look` at environments that a reset would put into these states; no environment is touched.

        Args:
            names: outputs of this solver, or parts of the state.
            qpos: (n, nq), for any number of states.
            qvel: (n, nv).

        Raises:
            ValueError: for a wrong shape, naming what was expected.
            KeyError: for a quantity that is no output.
        """
        self.runtime.require()
        memory, needed = self._fresh_rows(len(qpos), qpos, qvel), sources_of(names)
        fields = {n: torch.from_numpy(memory[:, self._rows(n)]) for n in needed if n in _STATE}
        fields |= self._outputs.at([n for n in needed if n not in _STATE], memory, self._bind)
        return {name: derive(self.model, name, {n: fields[n] for n in sources_of((name,))}) for name in names}

    def live(self, name: str) -> Live | None:
        """Where a coordinate, an output or "faults" lies in memory that the next step overwrites.

        For a solver of lane width 1, where one environment's numbers lie together; writing to the place of "ctrl" sets
        the controls. Outputs are those of the last step; after a change from outside `refresh` brings them up to date.

        Returns:
            None where they do not lie together: other widths, quantities that are made from several fields.
        """
        if self.width != 1 or name in DERIVED:
            return None
        if name == "faults":
            return Live(self._counters[:, :, 0], slice(driver.FAULT, driver.FAULT + 1))
        if name in _STATE:
            return Live(self._memory[:, :, 0], self._rows(name))
        return Live(self._outputs.values, self._outputs.places[name]) if name in self._outputs else None

    def refresh(self) -> None:
        """Bring the outputs to the last evaluation of every environment; `get` sees to that by itself."""
        if not self._outputs.current:
            self.runtime.require()
            self._outputs.refresh(self._bind)

    @property
    def contacts(self) -> Contacts:
        """Contacts of all environments; see `Contacts`."""
        fields, dump = self._launches.evaluate(CONTACT_SOURCES, with_indices=True)
        return batched_contacts(self.model, self.num_envs, fields, dump)

    def inspect(self, env: int) -> dict[str, np.ndarray]:
        """All quantities of one environment at its last evaluation, dense, in MuJoCo's names and order.

        Raises:
            IndexError: for an environment that does not exist.
        """
        self.tiles.index([env])
        index = int(env)
        tile = torch.tensor([index // self.width], dtype=torch.int32)
        fields, dump = self._launches.evaluate([f.name for f in QUANTITIES], tile, with_indices=True)
        lane = index % self.width
        numbers = {name: values[lane : lane + 1] for name, values in fields.items()}
        return inspect_numbers(self.model, numbers, dump[0], self._launches.sizes)

    # plumbing

    def _reference_rows(self) -> np.ndarray:
        """The memory (numbers,) of an environment in the model's reference state."""
        rows = np.zeros(self._memory.shape[1], np.float32 if self.dtype == torch.float32 else np.float64)
        rows[: self._widths["qpos"]] = self.model.mj.qpos0
        rows[self._eval_qacc] = NOT_INTEGRATED
        return rows

    def _fresh_rows(self, count: int, qpos: Any, qvel: Any) -> np.ndarray:
        """The memory (count, numbers) of environments right after a reset."""
        nq, nv = self._widths["qpos"], self._widths["qvel"]
        rows = np.empty((count, len(self._fresh)), self._fresh.dtype)
        rows[:] = self._fresh
        for first, width, name, value in ((0, nq, "qpos", qpos), (nq, nv, "qvel", qvel)):
            if value is not None:
                rows[:, first : first + width] = self._rows_of(name, value, count)
        if qpos is not None or qvel is not None:
            require_start(rows[:, : nq + nv], nq, LARGEST)
        rows[:, self._coords : self._coords + nq + nv] = rows[:, : nq + nv]
        return rows

    def _bind(self, memory: torch.Tensor, counters: torch.Tensor, values: torch.Tensor, replay: bool) -> Bound:
        return self._launches.bind(self._outputs, memory, counters, values, replay)

    def _rows_of(self, name: str, value: Any, count: int) -> np.ndarray:
        return as_rows(name, value, count, self._widths[name], self._fresh.dtype)

    def _read(self, name: str, index: np.ndarray | None = None) -> torch.Tensor:
        return self.tiles.read(self._numbers, index, self._rows(name))

    def _rows(self, name: str) -> slice:
        """Where a part of the state lies in the memory."""
        return slice(self._offsets[name], self._offsets[name] + self._widths[name])

    def _write(self, name: str, rows: np.ndarray, index: np.ndarray | None) -> None:
        self.tiles.write(self._numbers, self._offsets[name], rows, self._widths[name], index)

    def _count(self, row: int) -> torch.Tensor:
        return self.tiles.columns(self._integers, slice(row, row + 1))[:, 0]

    def _set_count(self, row: int, index: np.ndarray | None, value: int) -> None:
        self._counters[:, row].masked_fill_(self.tiles.used & self.tiles.mask(index)[:, 0], value)
