"""Names on a solver for what its objects do: `solver.ctrl` is `solver.inputs.ctrl`, and so on."""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
import torch

from ..drivers.interface import View
from ..queries.distances import Distances
from ..rays.query import RayHits
from ..readout.contacts import Contacts
from .inputs import Inputs
from .joints import JointControl
from .parameters import Parameters
from .quantities import Quantities
from .queries import Queries
from .sensors import Sensors
from .state import SolverState
from .state_names import StateNames
from .tensors import StateTensors

_INTEGRATION = int(mujoco.mjtState.mjSTATE_INTEGRATION)


class Shorthand(StateNames):
    """The names of a solver that its objects answer to. Shapes, units and errors are written there."""

    state: SolverState
    inputs: Inputs
    joints: JointControl
    parameters: Parameters
    quantities: Quantities
    queries: Queries
    sensors: Sensors
    tensors: StateTensors

    # state

    @property
    def qpos(self) -> torch.Tensor:
        """Generalised coordinates: `state.qpos`."""
        return self.state.qpos

    @property
    def qvel(self) -> torch.Tensor:
        """Generalised velocities: `state.qvel`."""
        return self.state.qvel

    @property
    def act(self) -> torch.Tensor:
        """Activations of actuators: `state.act`."""
        return self.state.act

    @property
    def plastic(self) -> torch.Tensor:
        """Rest positions of plastic springs: `state.plastic`."""
        return self.state.plastic

    @property
    def qacc_warmstart(self) -> torch.Tensor:
        """Acceleration at which the constraint solver starts: `state.qacc_warmstart`."""
        return self.state.qacc_warmstart

    @property
    def time(self) -> torch.Tensor:
        """Simulated seconds: `state.time`."""
        return self.state.time

    @property
    def faults(self) -> torch.Tensor:
        """Bits of what went wrong: `state.faults`."""
        return self.state.faults

    @property
    def contacts_needed(self) -> torch.Tensor:
        """Most contacts at once: `state.contacts_needed`."""
        return self.state.contacts_needed

    @property
    def any_fault(self) -> bool:
        """True if any environment has a fault: `state.any_fault`."""
        return self.state.any_fault

    @property
    def edits(self) -> int:
        """Number of calls that changed coordinates: `state.edits`."""
        return self.state.edits

    @property
    def asleep(self) -> torch.Tensor:
        """True for trees that sleep: `state.asleep`."""
        return self.state.asleep

    def wake(self, envs_idx: Any = None) -> None:
        """Wake all trees: `state.wake`."""
        self.state.wake(envs_idx)

    def coordinates(self) -> torch.Tensor:
        """`qpos` and `qvel` side by side: `state.coordinates`."""
        return self.state.coordinates()

    def set_state(
        self, qpos: Any = None, qvel: Any = None, envs_idx: Any = None, act: Any = None, plastic: Any = None
    ) -> None:
        """Write coordinates, velocities, activations, rest positions: `state.set`."""
        self.state.set(envs_idx, qpos=qpos, qvel=qvel, act=act, plastic=plastic)

    def reset(
        self,
        envs_idx: Any = None,
        qpos: Any = None,
        qvel: Any = None,
        parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """Put environments into the reference state, or the given one: `state.reset`."""
        self.state.reset(envs_idx, qpos, qvel, parameters, inputs)

    def reset_to_keyframe(self, key: int | str, envs_idx: Any = None) -> None:
        """Put environments into a keyframe of the model: `state.reset_to_keyframe`."""
        self.state.reset_to_keyframe(key, envs_idx)

    def mj_state(self, spec: int = _INTEGRATION, envs_idx: Any = None) -> torch.Tensor:
        """Return MuJoCo's state vectors: `state.mj_state`."""
        return self.state.mj_state(spec, envs_idx)

    def set_mj_state(self, values: Any, spec: int = _INTEGRATION, envs_idx: Any = None) -> None:
        """Write MuJoCo's state vectors: `state.set_mj_state`."""
        self.state.set_mj_state(values, spec, envs_idx)

    def state_dict(self, envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Return everything that the future depends on: `state.state_dict`."""
        return self.state.state_dict(envs_idx)

    def load_state_dict(self, state: dict[str, torch.Tensor], envs_idx: Any = None) -> None:
        """Go on where `state_dict` left off: `state.load_state_dict`."""
        self.state.load_state_dict(state, envs_idx)

    def save(self, path: str | os.PathLike) -> None:
        """Write the state into a file: `state.save`."""
        self.state.save(path)

    def load(self, path: str | os.PathLike) -> None:
        """Go on where `save` left off: `state.load`."""
        self.state.load(path)

    # inputs

    @property
    def ctrl(self) -> torch.Tensor:
        """Controls: `inputs.ctrl`."""
        return self.inputs.ctrl

    @ctrl.setter
    def ctrl(self, value: Any) -> None:
        self.inputs.ctrl = value

    @property
    def mocap_pos(self) -> torch.Tensor:
        """Positions of the mocap bodies: `inputs.mocap_pos`."""
        return self.inputs.mocap_pos

    @mocap_pos.setter
    def mocap_pos(self, value: Any) -> None:
        self.inputs.mocap_pos = value

    @property
    def mocap_quat(self) -> torch.Tensor:
        """Orientations of the mocap bodies: `inputs.mocap_quat`."""
        return self.inputs.mocap_quat

    @mocap_quat.setter
    def mocap_quat(self, value: Any) -> None:
        self.inputs.mocap_quat = value

    @property
    def eq_active(self) -> torch.Tensor:
        """True for equalities that hold: `inputs.eq_active`."""
        return self.inputs.eq_active

    @eq_active.setter
    def eq_active(self, value: Any) -> None:
        self.inputs.eq_active = value

    @property
    def qfrc_applied(self) -> torch.Tensor:
        """Forces on the dofs: `inputs.qfrc_applied`."""
        return self.inputs.qfrc_applied

    @qfrc_applied.setter
    def qfrc_applied(self, value: Any) -> None:
        self.inputs.qfrc_applied = value

    @property
    def xfrc_applied(self) -> torch.Tensor:
        """Forces and torques on the bodies: `inputs.xfrc_applied`."""
        return self.inputs.xfrc_applied

    @xfrc_applied.setter
    def xfrc_applied(self, value: Any) -> None:
        self.inputs.xfrc_applied = value

    def set_inputs(self, envs_idx: Any = None, **inputs: Any) -> None:
        """Write inputs of some environments: `inputs.set`."""
        self.inputs.set(envs_idx, **inputs)

    # joints

    def control_dofs_force(self, force: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Let dofs feel forces: `joints.control_force`."""
        self.joints.control_force(force, dofs_idx, envs_idx)

    def control_dofs_velocity(self, velocity: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Let dofs come to velocities: `joints.control_velocity`."""
        self.joints.control_velocity(velocity, dofs_idx, envs_idx)

    def control_dofs_position(self, position: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Let hinges and slides come to coordinates: `joints.control_position`."""
        self.joints.control_position(position, dofs_idx, envs_idx)

    def control_dofs_position_velocity(
        self, position: Any, velocity: Any, dofs_idx: Any = None, envs_idx: Any = None
    ) -> None:
        """Let hinges and slides come to coordinates with velocities: `joints.control_position_velocity`."""
        self.joints.control_position_velocity(position, velocity, dofs_idx, envs_idx)

    def release_dofs(self, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Leave dofs to themselves and to actuators: `joints.release`."""
        self.joints.release(dofs_idx, envs_idx)

    def set_dofs_kp(self, kp: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Set gains of positions: `joints.set_kp`."""
        self.joints.set_kp(kp, dofs_idx, envs_idx)

    def set_dofs_kv(self, kv: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Set gains of velocities: `joints.set_kv`."""
        self.joints.set_kv(kv, dofs_idx, envs_idx)

    def set_dofs_force_range(self, lower: Any, upper: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Set the bounds of a control's force: `joints.set_force_range`."""
        self.joints.set_force_range(lower, upper, dofs_idx, envs_idx)

    def get_dofs_kp(self, dofs_idx: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Gains of positions: `joints.get_kp`."""
        return self.joints.get_kp(dofs_idx, envs_idx)

    def get_dofs_kv(self, dofs_idx: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Gains of velocities: `joints.get_kv`."""
        return self.joints.get_kv(dofs_idx, envs_idx)

    def get_dofs_force_range(self, dofs_idx: Any = None, envs_idx: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Lower and upper bounds of forces: `joints.get_force_range`."""
        return self.joints.get_force_range(dofs_idx, envs_idx)

    # parameters

    def set_parameters(self, name: str, values: Any, envs_idx: Any = None) -> None:
        """Give environments model numbers of their own: `parameters.set`."""
        self.parameters.set(name, values, envs_idx)

    def update_parameters(self, parameters: Mapping[str, Any], envs_idx: Any = None) -> None:
        """Give environments several model numbers of their own: `parameters.update`."""
        self.parameters.update(parameters, envs_idx)

    def get_parameters(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """Return model numbers of environments: `parameters.get`."""
        return self.parameters.get(name, envs_idx)

    # quantities

    def get(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """A quantity by MuJoCo's name: `quantities.get`."""
        return self.quantities.get(name, envs_idx)

    def get_many(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Several quantities by their names: `quantities.get_many`."""
        return self.quantities.get_many(names, envs_idx)

    def view(self, name: str) -> View | None:
        """Return the place of a quantity in memory: `quantities.view`."""
        return self.quantities.view(name)

    def refresh(self) -> None:
        """Bring the outputs to the last evaluation: `quantities.refresh`."""
        self.quantities.refresh()

    @property
    def contacts(self) -> Contacts:
        """Contacts of all environments: `quantities.contacts`."""
        return self.quantities.contacts

    @property
    def solver_niter(self) -> torch.Tensor:
        """Iterations of the constraint solver: `quantities.solver_niter`."""
        return self.quantities.solver_niter

    def inspect(self, env: int) -> dict[str, np.ndarray]:
        """Return all quantities of one environment: `quantities.inspect`."""
        return self.quantities.inspect(env)

    # sensors

    @property
    def sensordata(self) -> torch.Tensor:
        """Readings of all sensors: `sensors.data`."""
        return self.sensors.data

    def sensor(self, name: Any, envs_idx: Any = None) -> torch.Tensor:
        """Readings of one sensor: `sensors.read`."""
        return self.sensors.read(name, envs_idx)

    # queries

    def ray(
        self,
        pnt: Any,
        vec: Any,
        *,
        geomgroup: Sequence[int] | None = None,
        flg_static: bool = True,
        bodyexclude: int = -1,
        geoms: Any = None,
        envs_idx: Any = None,
        normals: bool = False,
    ) -> RayHits:
        """Find where rays first meet a geom: `queries.ray`."""
        return self.queries.ray(
            *(pnt, vec),
            geomgroup=geomgroup,
            flg_static=flg_static,
            bodyexclude=bodyexclude,
            geoms=geoms,
            envs_idx=envs_idx,
            normals=normals,
        )

    def distance(self, geom1: Any, geom2: Any, distmax: float = math.inf, envs_idx: Any = None) -> Distances:
        """Signed distances of pairs of geoms: `queries.distance`."""
        return self.queries.distance(geom1, geom2, distmax, envs_idx)

    def overlap(self, geom1: Any, geom2: Any, margin: float = 0.0, envs_idx: Any = None) -> torch.Tensor:
        """Return True for pairs of geoms no farther apart than `margin`: `queries.overlap`."""
        return self.queries.overlap(geom1, geom2, margin, envs_idx)

    def geom_aabb(self, geoms: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Bounds of geoms in the world: `queries.geom_aabb`."""
        return self.queries.geom_aabb(geoms, envs_idx)

    def geom_verts(self, geom: int | str, envs_idx: Any = None, visual: bool = False) -> torch.Tensor:
        """Vertices of a mesh or a box in the world: `queries.geom_verts`."""
        return self.queries.geom_verts(geom, envs_idx, visual)
