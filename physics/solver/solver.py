"""RigidSolver: a model and a batch of environments; tensors in and out, no physics in this file."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from ..base.batch_numbers import HostNumbers, numbers_for
from ..machine.closed import invalidate
from ..machine.machine import lane_width
from ..machine.runtime import Runtime, ensure_runtime
from ..machine.scalars import as_count, as_names
from ..model.features import Features
from ..model.model import Model
from ..model.state.sizes import solver_notes
from ..run.cpu import CpuArrangement
from ..run.driver import Driver
from ..run.gpu import GpuArrangement
from ..run.interface import CLOSED, STATE, ClosedSolverError
from ..run.programs import lanes_of_one
from ..run.settings import CONTACTS_FULL, NON_FINITE
from .readout.derived import sources_of
from .sensors import sensor_sources
from .user.coupling import Coupling
from .user.environments import Environments
from .user.gradients import Gradients
from .user.graph_driver import GraphDriver, GraphNumbers
from .user.inputs import Inputs
from .user.joints import JointControl
from .user.overrides import Overrides
from .user.parameters import Parameters
from .user.quantities import Quantities
from .user.queries import Queries
from .user.sensor_reader import SensorReader
from .user.sensors import Sensors
from .user.sleep import Sleep
from .user.solver_names import SolverNames
from .user.state import SolverState
from .user.tensors import StateSource, StateTensors

_MOST_STEPS = 2**31 - 1
__all__ = ["CONTACTS_FULL", "NON_FINITE", "ClosedSolverError", "RigidSolver"]


def lanes_by_default(num_envs: int, runtime: Runtime, model: Model) -> int:
    """Return the lanes of a batch whose maker does not say how many: `lanes_of_one` for a single environment."""
    if num_envs > 1 or runtime.columns:
        return runtime.lanes
    return lanes_of_one(runtime, Features.of(model, runtime.precision == "32"))


class Trajectory(NamedTuple):
    """The states after each of a sequence of steps: `qpos` (num_envs, nstep, nq) and `qvel` (num_envs, nstep, nv)."""

    qpos: torch.Tensor
    qvel: torch.Tensor


class RigidSolver(SolverNames):
    """Steps `num_envs` copies of one model at once.

    Its objects have all else: `solver.state.qpos`, `solver.inputs.set(...)`. For most of that the solver has a short
    name: `solver.qpos`, `solver.set_inputs(...)`.

    After `step()` the derived quantities (`get`, `contacts`, `inspect`) are those of the last evaluation, before the
    final integration, as MuJoCo's mj_step leaves them (with RK4: of its last stage). `forward()` brings them to the
    present state.

    Args:
        model: the model to simulate.
        num_envs: number of environments.
        outputs: names of derived quantities (see `get`) that every step delivers; any other costs an evaluation.
        lanes: environments per SIMD register; by default the runtime's. A single environment has 1 by default, or the
            runtime's if their machine code is there already and that for 1 is not.
        requires_grad: whether state and inputs are part of torch's graph: what is written there as tensors that require
            gradients, the steps, and what is read; `state`, `inputs`, `joints`, `quantities.get` and `tensors` have it.
            A step keeps its state for the backward pass (`gradients` says what is differentiated), until a reset or
            `gradients.detach`. Results are the same to the last bit. Contacts, sensors, queries and pictures are
            constants, and so are parameters.

    Attributes:
        model (Model): the model that is simulated.
        num_envs (int): number of environments.
        runtime (Runtime): the settings that the solver was made with.
        device (torch.device): where the tensors are that it returns.
        dtype (torch.dtype): their precision.
        notes (list[str]): differences between the simulation and the file's requests, in words.
        state (SolverState): coordinates, time, faults; reset, save and restore.
        inputs (Inputs): controls, mocap bodies, applied forces.
        joints (JointControl): control of joints without actuators in the file.
        parameters (Parameters): per-environment parameters of the model.
        quantities (Quantities): quantities that follow from the state, by MuJoCo's names.
        sensors (Sensors): readings.
        queries (Queries): rays, distances, bounds.
        gradients (Gradients): derivatives of steps.
        coupling (Coupling): bodies as a solver of sand or soft bodies sees them, if the model was loaded for it.
        tensors (StateTensors): state by groups of items: `links_state`, `dofs_info` and others are names of its groups.

    Raises:
        TypeError: `model` is no `Model`.
        KeyError: for an unknown output, with the nearest names.
        ValueError: for an impossible number of environments or width of lanes, or outputs that are no names.
        MemoryError: for more environments than fit.
        ModelLoadError: for a model with numbers that are infinite in single precision, if that is chosen.
        NotImplementedError: gradients are required, and steps of the model have none; the message has the reason.
    """

    def __init__(
        self,
        model: Model,
        num_envs: int,
        outputs: Sequence[str] = (),
        lanes: int | None = None,
        requires_grad: bool = False,
    ) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"model: expected a tumble.physics.Model, not {type(model).__name__}")
        outputs = as_names("outputs", outputs)
        runtime = ensure_runtime()
        self.model, self.num_envs = model, as_count("num_envs", num_envs)
        self.runtime: Runtime = runtime
        self.device, self.dtype = runtime.torch_device, runtime.torch_dtype
        if self.dtype == torch.float32:
            model.require_single()
        width = lane_width(lanes) if lanes is not None else lanes_by_default(num_envs, runtime, model)
        sources = dict.fromkeys((*sources_of(outputs), *sensor_sources(model, outputs)))
        needed = [name for name in sources if name not in STATE]
        arrangement: GpuArrangement | CpuArrangement
        if runtime.columns:
            arrangement = GpuArrangement(runtime, self.num_envs, needed)
        else:
            arrangement = CpuArrangement(runtime, model, self.num_envs, width, needed)
        self._driver: Driver = (GraphDriver if requires_grad else Driver)(runtime, model, arrangement, needed)
        self._overrides = Overrides(model, self.num_envs, runtime, self._driver)
        self._numbers: HostNumbers = numbers_for(self.device, self.dtype, runtime.columns)
        if requires_grad:
            self._numbers = GraphNumbers(self.dtype, self.device, runtime.columns)
        self.notes = [*model.notes, *solver_notes(model, self.dtype == torch.float32)]
        self._envs = Environments(model, self.num_envs, runtime, self._driver, self._numbers, self._overrides)
        self._make_objects()
        for part in (self, *self._objects):
            runtime.adopt(part)

    def _make_objects(self) -> None:
        """Make the objects, each from the environments and the other objects that it uses."""
        envs, sleep = self._envs, Sleep(self._envs)
        self._reader = SensorReader(envs)
        self.inputs, self.joints, self.parameters = Inputs(envs), JointControl(envs), Parameters(envs)
        self.state = SolverState(envs, sleep)
        self.sensors = Sensors(envs, self._reader)
        self.quantities = Quantities(envs, self._reader, sleep)
        self.queries, self.coupling = Queries(envs, self.quantities), Coupling(envs)
        self.gradients = gradients = Gradients(envs, self.state, self._reader)
        if isinstance(self._driver, GraphDriver):
            self._driver.own = lambda index: gradients.recorder.own(index)
        source = StateSource(envs, self.state, self.quantities, self.parameters, self.joints, self.queries)
        self.tensors = StateTensors(source)
        self._objects = [getattr(self, name) for name in SolverNames.__annotations__]

    def __repr__(self) -> str:
        return f"RigidSolver({self.num_envs} environments, nq={self.model.mj.nq}, nv={self.model.mj.nv}, {self.dtype})"

    def close(self) -> None:
        """Give the memory of this batch back; all else asked of the solver and its objects raises ClosedSolverError."""
        for part in (self, *self._objects):
            invalidate(part, ClosedSolverError, CLOSED, keeps=("close",))
        self._driver.close()

    def step(self, n: int = 1, ctrl: Any = None) -> None:
        """Take `n` physics steps.

        If sensors remember readings (`nsample`), they are read in each of the steps, which costs time.

        Args:
            n: how many.
            ctrl: controls (num_envs, nu), which hold from now on, as `solver.ctrl = ctrl`; None: the present ones.

        Raises:
            ValueError: n is no whole number above 0, or larger than a launch can count; or controls of a wrong shape.
        """
        self.runtime.require()
        substeps = n if type(n) is int and 0 < n <= _MOST_STEPS else as_count("n", n, most=_MOST_STEPS)
        rows = None if ctrl is None else self._numbers.rows("ctrl", ctrl, self.num_envs, self.model.mj.nu)
        self._envs.edits += 1  # before it moves, as an interrupt may come as soon as it has
        (self._reader if self._reader.remembers else self._driver).step(substeps, rows)

    def set_state(
        self, qpos: Any = None, qvel: Any = None, envs_idx: Any = None, act: Any = None, plastic: Any = None
    ) -> None:
        """Write coordinates, velocities, activations, rest positions: `state.set`, with the environments third."""
        self.state.set(envs_idx, qpos=qpos, qvel=qvel, act=act, plastic=plastic)

    def rollout(self, controls: Any) -> Trajectory:
        """Take one physics step under each of a sequence of controls, without a return to Python between them.

        The results equal those of `solver.ctrl = ...` and `step()` in turn, to the last bit, as of MuJoCo's
        `mujoco.rollout`; `ctrl` is the last of the controls afterwards.

        Args:
            controls: (num_envs, nstep, nu).

        Returns:
            Where every step ended: qpos (num_envs, nstep, nq) and qvel (num_envs, nstep, nv).

        Raises:
            ValueError: for a wrong shape, naming the expected one.
        """
        nq, nu = int(self.model.mj.nq), int(self.model.mj.nu)
        wanted = self._numbers.numbers(controls, "controls")
        if wanted.ndim != 3 or wanted.shape[::2] != (self.num_envs, nu) or not wanted.shape[1]:
            expected = f"({self.num_envs}, nstep, {nu})"
            raise ValueError(f"controls: expected shape {expected} with at least one step, got {tuple(wanted.shape)}")
        self._envs.edits += 1
        track = (self._reader if self._reader.remembers else self._driver).rollout(wanted)
        return Trajectory(track[..., :nq], track[..., nq:])

    @property
    def numbers(self) -> HostNumbers:
        """Converts users' numbers to the form that the solver's memory takes."""
        return self._numbers

    def forward_changed(self) -> None:
        """Call `forward` for the environments that changed since; it costs nothing if none has.

        A change is a step, and a write of coordinates or inputs.
        """
        self._driver.forward_stale()

    def forward(self, envs_idx: Any = None) -> None:
        """Bring the derived quantities of environments to their present state; nothing moves."""
        self._driver.forward(self._envs.chosen(envs_idx)[0])
