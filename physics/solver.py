"""RigidSolver: a model and a batch of environments; tensors in and out, no physics of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from .batch_numbers import numbers_for, on_host
from .dof_control import SolverDofControl
from .drivers.cpu import CpuArrangement
from .drivers.driver import Driver
from .drivers.gpu import GpuArrangement
from .drivers.interface import CLOSED, STATE, ClosedSolverError, View
from .drivers.settings import CONTACTS_FULL, NON_FINITE, Count
from .inputs import SolverInputs
from .machine import lane_width
from .model.model import Model
from .overrides import Overrides
from .parameters import SolverParameters
from .queries.solver_queries import SolverQueries
from .readout.contacts import SOURCES as CONTACT_SOURCES
from .readout.contacts import Contacts, batched_contacts
from .readout.derived import DERIVED, SENSORDATA, derive, sources_of
from .readout.inspection import inspect_numbers
from .readout.returned import Trajectory
from .retired import retire
from .runtime import Runtime, ensure_runtime
from .scalars import as_count, as_names, as_whole
from .sensors import SolverSensors, sensor_sources
from .state.fields import QUANTITIES
from .state.sizes import solver_notes
from .state.snapshot import LARGEST
from .states import SolverStates

_MOST_STEPS = 2**31 - 1
__all__ = ["CONTACTS_FULL", "NON_FINITE", "ClosedSolverError", "RigidSolver"]


class RigidSolver(SolverInputs, SolverDofControl, SolverStates, SolverParameters, SolverQueries, SolverSensors):
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
        TypeError: `model` is no `Model`.
        KeyError: for an unknown output, with the nearest names.
        ValueError: for an impossible number of environments or width of lanes, or outputs that are no names.
        MemoryError: for more environments than fit.
    """

    def __init__(self, model: Model, num_envs: int, outputs: Sequence[str] = (), lanes: int | None = None) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"model: expected a tumble.physics.Model, not {type(model).__name__}")
        outputs = as_names("outputs", outputs)
        runtime = ensure_runtime()
        self.model, self.num_envs = model, as_count("num_envs", num_envs)
        self.runtime: Runtime = runtime
        self.device, self.dtype = runtime.torch_device, runtime.torch_dtype
        width = lane_width(lanes) if lanes is not None else 1 if num_envs == 1 else runtime.lanes
        sources = dict.fromkeys((*sources_of(outputs), *sensor_sources(model, outputs)))
        needed = [name for name in sources if name not in STATE]
        arrangement = (
            GpuArrangement(runtime, self.num_envs) if runtime.columns else CpuArrangement(runtime, self.num_envs, width)
        )
        self._driver = Driver(runtime, model, arrangement, needed)
        self._overrides = Overrides(model, self.num_envs, self.dtype == torch.float32)
        self._numbers = numbers_for(self.device, self.dtype, runtime.columns)
        self._nq, self._nv, self._nu = int(model.mj.nq), int(model.mj.nv), int(model.mj.nu)
        self._na, self._nplastic = model.sizes["na"], model.sizes["nplastic"]
        self.notes = [*model.notes, *solver_notes(model, self.dtype == torch.float32)]
        self.edits = 1
        runtime.adopt(self)

    def __repr__(self) -> str:
        return f"RigidSolver({self.num_envs} environments, nq={self.model.mj.nq}, nv={self.model.mj.nv}, {self.dtype})"

    # state

    @property
    def qpos(self) -> torch.Tensor:
        """Generalised coordinates (num_envs, nq); m or rad, quaternions w first."""
        return self._driver.read("qpos")

    @property
    def qvel(self) -> torch.Tensor:
        """Generalised velocities (num_envs, nv); m/s or rad/s."""
        return self._driver.read("qvel")

    @property
    def act(self) -> torch.Tensor:
        """Activations of actuators (num_envs, na)."""
        return self._driver.read("act")

    @property
    def plastic(self) -> torch.Tensor:
        """Rest positions of plastic springs (num_envs, nplastic), m or rad: mjData.plastic."""
        return self._driver.read("plastic")

    @property
    def qacc_warmstart(self) -> torch.Tensor:
        """Acceleration at which the constraint solver starts (num_envs, nv)."""
        return self._driver.read("qacc_warmstart")

    @property
    def time(self) -> torch.Tensor:
        """Simulated seconds since each environment's reset (num_envs,), float64."""
        return self._driver.count(Count.STEPS).to(torch.float64) * float(self.model.mj.opt.timestep)

    @property
    def faults(self) -> torch.Tensor:
        """Bits of what went wrong (num_envs,), int32: `NON_FINITE`, `CONTACTS_FULL`; cleared by `reset`, `set_state`.

        With a full list of contacts (`Model.max_contacts`) an environment goes on with its deepest ones.
        """
        return self._driver.count(Count.FAULT)

    @property
    def contacts_needed(self) -> torch.Tensor:
        """Most contacts that an environment with the fault `CONTACTS_FULL` had at once (num_envs,), int32; else 0."""
        return self._driver.count(Count.NEEDED)

    @property
    def any_fault(self) -> bool:
        """True if any environment has a fault: quicker than all their faults."""
        return self._driver.any_fault()

    @property
    def solver_niter(self) -> torch.Tensor:
        """Iterations of the constraint solver in the last evaluation (num_envs,), int32."""
        return self._driver.count(Count.NITER)

    def coordinates(self) -> torch.Tensor:
        """`qpos` and `qvel` side by side (num_envs, nq + nv); the environments of a column lie together in memory."""
        return self._driver.coordinates()

    def set_state(
        self, qpos: Any = None, qvel: Any = None, envs_idx: Any = None, act: Any = None, plastic: Any = None
    ) -> None:
        """Write coordinates and velocities, forget the warm start and any fault of these environments.

        In single precision a state is more than `qpos` and `qvel` show (`docs/fields.md`, qpos_rest): what is written
        here is taken as exact. `state_dict` and `load_state_dict` go on to the bit.

        Values that are not finite (or beyond 1e10) stop their environment at the next step.

        Args:
            qpos: (n, nq), n being num_envs or the number of `envs_idx`; None leaves them as they are.
            qvel: (n, nv), m/s or rad/s.
            envs_idx: indices of environments; None for all.
            act: (n, na), activations.
            plastic: (n, nplastic), rest positions of plastic springs, m or rad.

        Raises:
            ValueError: for a wrong shape, naming what was expected, or what is no number; nothing is written then.
            IndexError: for an environment that does not exist.
        """
        index = self._numbers.environments(envs_idx, self.num_envs)
        count = self.num_envs if index is None else len(index)
        widths = {"qpos": self._nq, "qvel": self._nv, "act": self._na, "plastic": self._nplastic}
        given = {"qpos": qpos, "qvel": qvel, "act": act, "plastic": plastic}
        rows = {  # all of them before anything is written: it may raise
            name: self._rows_of(name, value, count, widths[name]) for name, value in given.items() if value is not None
        }
        zero, before = self._numbers.numbers(0.0), self._coordinates_before(index)
        for name, numbers in rows.items():
            self._driver.write(name, numbers, index)
            if name in ("qpos", "qvel"):
                self._driver.write(f"{name}_rest", zero, index)
        self._wake_moved(before, index)
        self._driver.write("qacc_warmstart", zero, index)
        self._driver.clear_faults(index)
        self.edits += 1

    def reset(
        self,
        envs_idx: Any = None,
        qpos: Any = None,
        qvel: Any = None,
        parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """Put environments into the model's reference state, or the given one: everything else begins anew.

        Time, warm start and faults are cleared, inputs are those given or the model's own, and the derived quantities
        belong to the new state. Model numbers of environments' own (`set_parameters`) stay, but for those that the
        reset brings; so do gains of dofs.

        Args:
            envs_idx: indices of environments; None for all.
            qpos: (n, nq), n being num_envs or the number of `envs_idx`; None for the reference.
            qvel: (n, nv), m/s or rad/s; None for zero.
            parameters: model numbers by name, (n, ...) each, as `set_parameters` takes them.
            inputs: inputs by name, (n, ...) each, as `set_inputs` takes them.

        Raises:
            ValueError: for a wrong shape, naming what was expected, and for numbers that no environment can start from.
            IndexError: for an environment that does not exist.
            KeyError: for an unknown name of a parameter.
            TypeError: for an unknown name of an input.
        """
        index = self._numbers.environments(envs_idx, self.num_envs)
        count = self.num_envs if index is None else len(index)
        start = self._start(count, qpos, qvel)  # before anything is changed: it may raise
        driven = self._rows_of_inputs(inputs, count) if inputs else {}
        if parameters:
            given = self._checked_parameters(parameters, index)
            if qpos is None and "qpos0" in given:
                self._start(count, given["qpos0"], qvel)
            self._differ(given, index)
        if qpos is None and "qpos0" in self._overrides:
            start = self._start(count, self._overrides.get("qpos0", on_host(index)), qvel)
        gains = self._keep_gains(index)
        self._driver.reset(index, start)
        self._begin_under(driven, index)
        if start is not None:
            self._wake_moved(self._reference_coordinates(), index)
        self._rest_springs(index)
        self._return_gains(gains, index)
        self.edits += 1

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Everything that the future depends on, to the last bit: (num_envs, numbers) each, whatever the lane width."""
        return self._driver.state_dict() | self._saved_parameters()

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        """Go on where `state_dict` left off.

        Raises:
            ValueError: the state is of another model, precision or number of environments; nothing is changed then.
        """
        numbers = self._saved_numbers(state)
        self._driver.load_state_dict(state)
        self._has_gains = True
        self._load_parameters(numbers)
        self.edits += 1

    def close(self) -> None:
        """Give the memory of this batch back; everything else that the solver is asked for raises ClosedSolverError."""
        retire(self, ClosedSolverError, CLOSED, keeps=("close",))
        self._driver.close()

    # motion

    def step(self, n: int = 1) -> None:
        """Take `n` physics steps under the present controls.

        Where sensors remember readings (`nsample`), they are read in each of the steps, which costs time.

        Raises:
            ValueError: n is no whole number above 0, or beyond what a launch can count.
        """
        self.runtime.require()
        substeps = n if type(n) is int and 0 < n <= _MOST_STEPS else as_count("n", n, most=_MOST_STEPS)
        self.edits += 1  # before it moves, as an interrupt may come as soon as it has
        self._take_steps(substeps)

    def rollout(self, controls: Any) -> Trajectory:
        """Take one physics step under each of a sequence of controls, without a return to Python between them.

        The results are those of `solver.ctrl = ...` and `step()` in turn, to the last bit, as of MuJoCo's
        `mujoco.rollout`; `ctrl` is the last of the controls afterwards.

        Args:
            controls: (num_envs, nstep, nu).

        Returns:
            Where every step ended: qpos (num_envs, nstep, nq) and qvel (num_envs, nstep, nv).

        Raises:
            ValueError: for a wrong shape, naming what was expected.
        """
        wanted = self._numbers.numbers(controls, "controls")
        if wanted.ndim != 3 or wanted.shape[::2] != (self.num_envs, self._nu) or not wanted.shape[1]:
            expected = f"({self.num_envs}, nstep, {self._nu})"
            raise ValueError(f"controls: expected shape {expected} with at least one step, got {tuple(wanted.shape)}")
        self.edits += 1
        track = self._take_steps_under(wanted)
        return Trajectory(track[..., : self._nq], track[..., self._nq :])

    def forward(self, envs_idx: Any = None) -> None:
        """Bring the derived quantities of environments to their present state; nothing moves."""
        self._driver.forward(self._numbers.environments(envs_idx, self.num_envs))

    # what follows from the state

    def get(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """A quantity by MuJoCo's name: (n, items) or (n, items, components) of the environments `envs_idx`, a copy.

        `xpos xquat xmat xipos geom_xpos geom_xmat site_xpos site_xmat cam_xpos cam_xmat subtree_com cinert cvel cdof
        qM qfrc_bias qfrc_passive qfrc_actuator qfrc_smooth qacc_smooth qacc qfrc_constraint actuator_force cfrc_ext
        cacc cfrc_int subtree_linvel subtree_angmom solver_niter sensordata` and every other field of `docs/fields.md`.

        Raises:
            KeyError: for an unknown name, with the nearest ones.
        """
        sources = sources_of((name,))
        index = self._numbers.environments(envs_idx, self.num_envs)
        if name == SENSORDATA:
            return self._sensordata(index)
        if name in STATE:
            return derive(self.model, name, {name: self._driver.read(name, index)})
        fields = self._driver.evaluate(sources, index)
        return derive(self.model, name, fields | self._shown(index))

    def get_many(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """`get` for several quantities at once: quicker, and those that are outputs are parts of one tensor."""
        index = self._numbers.environments(envs_idx, self.num_envs)
        sources = [name for name in sources_of(names) if name not in STATE]
        together = [name for name in sources if self._driver.delivers((name,))]
        fields = self._driver.evaluate(together, index) if together else {}
        if others := [name for name in sources if name not in fields]:
            fields |= self._driver.evaluate(others, index)
        found, shown = {}, self._shown(index)
        for name in names:
            if name == SENSORDATA:
                found[name] = self._sensordata(index)
                continue
            mine = {n: fields[n] if n in fields else self._driver.read(n, index) for n in sources_of((name,))}
            found[name] = derive(self.model, name, mine | shown)
        return found

    def view(self, name: str) -> View | None:
        """Return the place of a coordinate, an output or "faults" in memory that the next step overwrites.

        For a solver of lane width 1, where one environment's numbers lie together; writing to the place of "ctrl" sets
        the controls. Outputs are those of the last step; after a change from outside `refresh` brings them up to date.

        Returns:
            None where they do not lie together: other widths, quantities that are made from several fields.
        """
        return None if name in DERIVED else self._driver.view(name)

    def refresh(self) -> None:
        """Bring the outputs to the last evaluation of every environment; `get` sees to that by itself."""
        self._driver.refresh(None)

    @property
    def contacts(self) -> Contacts:
        """Contacts of all environments; see `Contacts`."""
        fields, indices = self._driver.evaluate_together(CONTACT_SOURCES, None)
        found = batched_contacts(self.num_envs, fields, indices, self._driver.sizes)
        return self._with_contacts_asleep(found)

    def inspect(self, env: int) -> dict[str, np.ndarray]:
        """All quantities of one environment at its last evaluation, dense, in MuJoCo's names and order.

        Raises:
            IndexError: for an environment that does not exist.
        """
        index = self._numbers.environments([as_whole("env", env)], self.num_envs)
        fields, indices = self._driver.evaluate_together([f.name for f in QUANTITIES], index)
        numbers = {name: values[:1].cpu() for name, values in (fields | self._shown(index)).items()}
        sensordata = self._readings_of_known(index)[0].cpu().numpy()
        return inspect_numbers(self.model, numbers, indices[0].cpu(), self._driver.sizes) | {SENSORDATA: sensordata}

    # what users pass

    def _start(self, count: int, qpos: Any, qvel: Any) -> Any:
        """Coordinates (count, nq + nv) in which environments start; None: those of the reference state."""
        if qpos is None and qvel is None:
            return None
        start = self.model.mj.qpos0 if qpos is None else qpos
        start = self._rows_of("qpos", start, count, self._nq)
        moving = None if qvel is None else self._rows_of("qvel", qvel, count, self._nv)
        rows = self._numbers.side_by_side(count, start, moving, self._nv)
        self._numbers.require_start(rows, self._nq, LARGEST)
        return rows

    def _rows_of(self, name: str, value: Any, count: int, width: int) -> Any:
        return self._numbers.rows(name, value, count, width)
