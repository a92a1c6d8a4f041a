# fmt: off
# ruff: noqa
"""Flat names of `SolverNames`, for editors and type checkers: written by `python -m tests.flat_names`."""

import collections.abc
import mujoco
import numpy
import os
import torch
import tumble.physics.rendering.rays.query
import tumble.physics.run.interface
import tumble.physics.solver.queries.distances
import tumble.physics.solver.readout.contacts
import tumble.physics.solver.user.coupling
import tumble.physics.solver.user.gradients
import tumble.physics.solver.user.inputs
import tumble.physics.solver.user.joints
import tumble.physics.solver.user.parameters
import tumble.physics.solver.user.quantities
import tumble.physics.solver.user.queries
import tumble.physics.solver.user.sensors
import tumble.physics.solver.user.state
import tumble.physics.solver.user.tensors
import typing

class SolverNames:
    state: tumble.physics.solver.user.state.SolverState
    inputs: tumble.physics.solver.user.inputs.Inputs
    joints: tumble.physics.solver.user.joints.JointControl
    parameters: tumble.physics.solver.user.parameters.Parameters
    quantities: tumble.physics.solver.user.quantities.Quantities
    queries: tumble.physics.solver.user.queries.Queries
    sensors: tumble.physics.solver.user.sensors.Sensors
    tensors: tumble.physics.solver.user.tensors.StateTensors
    gradients: tumble.physics.solver.user.gradients.Gradients
    coupling: tumble.physics.solver.user.coupling.Coupling
    @property
    def qpos(self) -> torch.Tensor: """Generalised coordinates (num_envs, nq); m or rad, quaternions w first."""
    @property
    def qvel(self) -> torch.Tensor: """Generalised velocities (num_envs, nv); m/s or rad/s."""
    @property
    def act(self) -> torch.Tensor: """Activations of actuators (num_envs, na)."""
    @property
    def plastic(self) -> torch.Tensor: """Rest positions of plastic springs (num_envs, nplastic), m or rad: mjData.plastic."""
    @property
    def qacc_warmstart(self) -> torch.Tensor: """Acceleration at which the constraint solver starts (num_envs, nv)."""
    @property
    def time(self) -> torch.Tensor: """Simulated seconds since each environment's reset (num_envs,), float64."""
    @property
    def faults(self) -> torch.Tensor: """Bits of errors that occurred (num_envs,), int32: `NON_FINITE`, `CONTACTS_FULL`; cleared by `reset` and `set`."""
    @property
    def contacts_needed(self) -> torch.Tensor: """Most contacts that an environment with the fault `CONTACTS_FULL` had at once (num_envs,), int32; else 0."""
    @property
    def any_fault(self) -> bool: """True if any environment has a fault: quicker than all their faults."""
    @property
    def edits(self) -> int: """Number of calls that changed coordinates: `step`, `rollout`, and the writing calls of this class."""
    @property
    def asleep(self) -> torch.Tensor: """True where a kinematic tree sleeps (num_envs, ntree), bool, trees in MuJoCo's order."""
    def wake(self, envs_idx: typing.Any = None) -> None: """Wake all trees of environments."""
    def coordinates(self) -> torch.Tensor: """`qpos` and `qvel` side by side (num_envs, nq + nv); the environments of a column lie together in memory."""
    def reset(self, envs_idx: typing.Any = None, qpos: typing.Any = None, qvel: typing.Any = None, parameters: collections.abc.Mapping[str, typing.Any] | None = None, inputs: collections.abc.Mapping[str, typing.Any] | None = None) -> None: """Put environments into the model's reference state, or the given one; everything else is reset, too."""
    def reset_to_keyframe(self, key: int | str, envs_idx: typing.Any = None) -> None: """Reset environments, then put them into a keyframe of the model, as MuJoCo's `mj_resetDataKeyframe` does."""
    def mj_state(self, spec: int = ..., envs_idx: typing.Any = None) -> torch.Tensor: """States as MuJoCo's `mj_getState` gives them, (n, `mujoco.mj_stateSize(model.mj, spec)`), float64."""
    def set_mj_state(self, values: typing.Any, spec: int = ..., envs_idx: typing.Any = None) -> None: """Write states as MuJoCo's `mj_setState` does; `forward` then brings the derived quantities to them."""
    def state_dict(self, envs_idx: typing.Any = None) -> dict[str, torch.Tensor]: """Everything that the future depends on, to the last bit: (n, numbers) each, whatever the lane width."""
    def load_state_dict(self, state: dict[str, torch.Tensor], envs_idx: typing.Any = None) -> None: """Go on where `state_dict` left off: each environment where one was, or all of them where a single one was."""
    def save(self, path: str | os.PathLike) -> None: """Write everything that the future depends on into a file: `load` goes on to the last bit, in any process."""
    def load(self, path: str | os.PathLike) -> None: """Go on where `save` left off."""
    @property
    def ctrl(self) -> torch.Tensor: """Controls (num_envs, nu)."""
    @ctrl.setter
    def ctrl(self, value: typing.Any) -> None: ...
    @property
    def mocap_pos(self) -> torch.Tensor: """Positions of the mocap bodies (num_envs, nmocap, 3), m, world frame."""
    @mocap_pos.setter
    def mocap_pos(self, value: typing.Any) -> None: ...
    @property
    def mocap_quat(self) -> torch.Tensor: """Orientations of the mocap bodies (num_envs, nmocap, 4), w first; of any length but 0."""
    @mocap_quat.setter
    def mocap_quat(self, value: typing.Any) -> None: ...
    @property
    def eq_active(self) -> torch.Tensor: """True where an equality of the model holds (num_envs, neq), bool; a file's `active` is the first value."""
    @eq_active.setter
    def eq_active(self, value: typing.Any) -> None: ...
    @property
    def qfrc_applied(self) -> torch.Tensor: """Forces on the dofs (num_envs, nv), N or N m."""
    @qfrc_applied.setter
    def qfrc_applied(self, value: typing.Any) -> None: ...
    @property
    def xfrc_applied(self) -> torch.Tensor: """On every body a force at its centre of mass (N) and a torque (N m), world frame (num_envs, nbody, 6)."""
    @xfrc_applied.setter
    def xfrc_applied(self, value: typing.Any) -> None: ...
    def set_inputs(self, envs_idx: typing.Any = None, **inputs: typing.Any) -> None: """Write inputs of some environments: `set([3, 5], xfrc_applied=pushes)`."""
    def control_dofs_force(self, force: typing.Any, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> None: """Apply forces (N or N m) to dofs, within their force ranges."""
    def control_dofs_velocity(self, velocity: typing.Any, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> None: """Drive dofs to velocities v* (m/s or rad/s): the force is kv (v* - v), within the force range."""
    def control_dofs_position(self, position: typing.Any, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> None: """Drive hinges and slides to coordinates q* (rad or m): the force is kp (q* - q) - kv v, within the range."""
    def control_dofs_position_velocity(self, position: typing.Any, velocity: typing.Any, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> None: """Drive hinges and slides to coordinates q* with velocities v*: the force is kp (q* - q) + kv (v* - v)."""
    def release_dofs(self, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> None: """Leave dofs to themselves and to actuators."""
    def set_dofs_kp(self, kp: typing.Any, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> None: """Set gains of positions (N/m or N m/rad); 0 at first."""
    def set_dofs_kv(self, kv: typing.Any, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> None: """Set gains of velocities (N s/m or N m s/rad); 0 at first. Errors as in `set_kp`."""
    def set_dofs_force_range(self, lower: typing.Any, upper: typing.Any, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> None: """Set the bounds of a control's force (N or N m), which may be infinite; at first there are no bounds."""
    def get_dofs_kp(self, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> torch.Tensor: """Gains of positions (n, k), N/m or N m/rad. Raises IndexError as `set_kp` does."""
    def get_dofs_kv(self, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> torch.Tensor: """Gains of velocities (n, k), N s/m or N m s/rad. Raises IndexError as `set_kp` does."""
    def get_dofs_force_range(self, dofs_idx: typing.Any = None, envs_idx: typing.Any = None) -> tuple[torch.Tensor, torch.Tensor]: """Lower and upper bounds of forces (n, k) each, N or N m; +-1e30 where there is no bound."""
    def set_parameters(self, name: str, values: typing.Any, envs_idx: typing.Any = None) -> None: """Set per-environment parameters, by MuJoCo's name, in its shape, units and frames."""
    def update_parameters(self, parameters: collections.abc.Mapping[str, typing.Any], envs_idx: typing.Any = None) -> None: """`set` for several names at once: what follows from them is found once, and all are set or none."""
    def get_parameters(self, name: str, envs_idx: typing.Any = None) -> torch.Tensor: """Model numbers of environments by MuJoCo's name, (n, *shape) float64; shared ones where none are set."""
    def get(self, name: str, envs_idx: typing.Any = None) -> torch.Tensor: """A quantity by MuJoCo's name: (n, items) or (n, items, components) of the environments `envs_idx`, a copy."""
    def get_many(self, names: collections.abc.Sequence[str], envs_idx: typing.Any = None) -> dict[str, torch.Tensor]: """`get` for several quantities at once: quicker, and outputs are parts of one tensor."""
    def get_present(self, names: collections.abc.Sequence[str], envs_idx: typing.Any = None) -> dict[str, torch.Tensor]: """Quantities in the present state, after the final integration, by name; their shapes are those of `get`."""
    def view(self, name: str) -> tumble.physics.run.interface.InPlaceColumns | None: """Return the place of a coordinate, an output or "faults" in memory that the next step overwrites."""
    def refresh(self) -> None: """Bring the outputs to the last evaluation of every environment; `get` does it, too."""
    @property
    def contacts(self) -> tumble.physics.solver.readout.contacts.Contacts: """Contacts of all environments; see `Contacts`."""
    @property
    def solver_niter(self) -> torch.Tensor: """Iterations of the constraint solver in the last evaluation (num_envs,), int32."""
    def inspect(self, env: int) -> dict[str, numpy.ndarray]: """All quantities of one environment at its last evaluation, dense, in MuJoCo's names and order."""
    @property
    def sensordata(self) -> torch.Tensor: """Readings of all sensors (num_envs, nsensordata), a copy, in MuJoCo's order."""
    def sensor(self, name: typing.Any, envs_idx: typing.Any = None) -> torch.Tensor: """Readings of one sensor (n, dim), a copy."""
    def ray(self, pnt: typing.Any, vec: typing.Any, *, geomgroup: collections.abc.Sequence[int] | None = None, flg_static: bool = True, bodyexclude: int = ..., geoms: typing.Any = None, envs_idx: typing.Any = None, normals: bool = False) -> tumble.physics.rendering.rays.query.RayHits: """Find where rays first meet a geom, as MuJoCo's `mj_ray` does."""
    def distance(self, geom1: typing.Any, geom2: typing.Any, distmax: float = ..., envs_idx: typing.Any = None) -> tumble.physics.solver.queries.distances.Distances: """Signed distances of pairs of geoms, and their nearest points, as MuJoCo's `mj_geomDistance` has them."""
    def overlap(self, geom1: typing.Any, geom2: typing.Any, margin: float = ..., envs_idx: typing.Any = None) -> torch.Tensor: """Return True for pairs of geoms no farther apart than `margin`, (n, npairs) bool: quicker than `distance`."""
    def geom_aabb(self, geoms: typing.Any = None, envs_idx: typing.Any = None) -> torch.Tensor: """Bounds of geoms in the world, as tight as their types allow (n, k, 2, 3), m; see `get` for when."""
    def geom_verts(self, geom: int | str, envs_idx: typing.Any = None, visual: bool = False) -> torch.Tensor: """Vertices of a mesh or a box in the world (n, vertices, 3), m; see `get` for when."""
    dyn_state: tumble.physics.solver.user.tensors.DynState
    links_state: tumble.physics.solver.user.tensors.StateGroup
    joints_state: tumble.physics.solver.user.tensors.StateGroup
    dofs_state: tumble.physics.solver.user.tensors.StateGroup
    geoms_state: tumble.physics.solver.user.tensors.StateGroup
    vgeoms_state: tumble.physics.solver.user.tensors.StateGroup
    contacts_state: tumble.physics.solver.user.tensors.StateGroup
    constraints_state: tumble.physics.solver.user.tensors.StateGroup
    links_info: tumble.physics.solver.user.tensors.StateGroup
    joints_info: tumble.physics.solver.user.tensors.StateGroup
    dofs_info: tumble.physics.solver.user.tensors.StateGroup
    geoms_info: tumble.physics.solver.user.tensors.StateGroup
    vgeoms_info: tumble.physics.solver.user.tensors.StateGroup
    constraints: tumble.physics.solver.user.tensors.StateGroup
