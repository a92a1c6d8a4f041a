"""All sensors of a scene: added one by one, and read after each step."""

from collections.abc import Mapping, Sequence

import torch

from ...physics.machine.normal_mode import normal_mode
from .. import machine
from ..checks import Indices
from ..entity.entity import RigidEntity
from ..entity.mpm_entity import MPMEntity
from ..recorders.manager import RecorderManager
from ..records import nearest
from ..world import Envs, World
from . import options as kinds
from .contact import ContactForceSensor, ContactSensor
from .evaluated_envs import EvaluatedEnvs
from .imu import IMUSensor
from .joint_torque import JointTorqueSensor
from .options import SensorOptions
from .raycaster import DepthCameraSensor, RaycasterSensor
from .sensor import Sensor

SENSORS: dict[type[SensorOptions], type[Sensor]] = {
    kinds.IMU: IMUSensor,
    kinds.Contact: ContactSensor,
    kinds.ContactForce: ContactForceSensor,
    kinds.JointTorque: JointTorqueSensor,
    kinds.Raycaster: RaycasterSensor,
    kinds.DepthCamera: DepthCameraSensor,
}
"""The class of a sensor by that of its options."""
PREFIX = "sensors/"
"""Prefix of the names of sensors' parts of a scene's state."""


def split(state: Mapping[str, torch.Tensor]) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Return the parts of a scene's state that belong to sensors, and the other parts."""
    own = {name: tensor for name, tensor in state.items() if name.startswith(PREFIX)}
    return own, {name: tensor for name, tensor in state.items() if name not in own}


class SensorManager:
    """The sensors of a scene.

    Attributes:
        dt: seconds of a step of the scene, in which delays and histories count; 0 without sensors.
    """

    def __init__(self) -> None:
        self.sensors: list[Sensor] = []
        self._world: World | None = None
        self.dt = 0.0

    def add(
        self, options: SensorOptions, entities: Sequence[RigidEntity | MPMEntity], dt: float, recorders: RecorderManager
    ) -> Sensor:
        """Return a new sensor of a scene with some entities, which takes steps of `dt` seconds.

        Raises:
            TypeError: these are no options of a sensor.
            IndexError: its entity, link or dof does not exist.
            ValueError: it needs an entity, or that is matter.
        """
        kind = SENSORS.get(type(options))
        if kind is None:
            if isinstance(options, type) and options in SENSORS:
                raise TypeError(f"sensor_options={options.__name__}: make one, with parentheses")
            known = [option.__name__ for option in SENSORS]
            raise TypeError(f"sensor_options: expected one of gs.sensors{nearest(type(options).__name__, known)}")
        name = type(options).__name__
        if options.entity >= len(entities):
            raise IndexError(f"{name}: entity_idx={options.entity}: the scene has {len(entities)} entities so far")
        entity = None if options.entity < 0 else entities[options.entity]
        if isinstance(entity, MPMEntity):
            raise ValueError(
                f"{name}: entity_idx={options.entity}: '{entity.name}' is matter, which carries no sensors"
            )
        sensor = kind(options, len(self.sensors), entity)
        sensor.recorders = recorders
        self.sensors.append(sensor)
        self.dt = dt
        return sensor

    @property
    def reads(self) -> tuple[str, ...]:
        """Quantities that the sensors need, by MuJoCo's names."""
        return tuple(dict.fromkeys(name for sensor in self.sensors for name in sensor.reads))

    @normal_mode
    @torch.no_grad()
    def build(self, world: World) -> None:
        """Give all sensors their places in a built scene; errors as in `Sensor.bind`."""
        self._world = world
        for sensor in self.sensors:
            sensor.bind(world, machine.seed(), self.dt)

    @torch.no_grad()
    def after_step(self) -> None:
        """Read all sensors after a step."""
        if self.sensors and self._world:
            evaluated = EvaluatedEnvs(self._world, self.reads, None)
            for sensor in self.sensors:
                sensor.step(evaluated)

    @torch.no_grad()
    def after_reset(self, envs: Envs) -> None:
        """Restart all sensors in environments that were reset, in the form of `World.envs`."""
        if self.sensors and self._world:
            rows = self._world.indices(envs)
            evaluated = EvaluatedEnvs(self._world, self.reads, rows)
            for sensor in self.sensors:
                sensor.restart(evaluated, rows)

    def close(self) -> None:
        """Make all sensors refuse to read on: their scene is closed."""
        self._world = None
        for sensor in self.sensors:
            sensor.close()

    def read(self, entity_idx: int | None, envs_idx: Indices, truth: bool) -> dict[str, torch.Tensor]:
        """Return the readings of all sensors, side by side, by the names of their kinds: `Scene.read_sensors`.

        Raises:
            ValueError: sensors of one kind have histories of different lengths.
        """
        by_kind: dict[str, list[Sensor]] = {}
        for sensor in self.sensors:
            if entity_idx is None or sensor.options.entity == entity_idx:
                by_kind.setdefault(type(sensor.options).__name__, []).append(sensor)
        readings = {}
        for name, sensors in by_kind.items():
            if len({sensor.options.history_length for sensor in sensors}) > 1:
                raise ValueError(f"read_sensors: sensors of kind {name} have different history_length; read each alone")
            flat = torch.cat([sensor.flat(envs_idx, truth) for sensor in sensors], -1)
            assert self._world is not None
            readings[name] = self._world.out(flat > 0.5 if name == "Contact" else flat)
        return readings

    def state_dict(self, envs: Envs) -> dict[str, torch.Tensor]:
        """Return the state that future readings in environments depend on, (k, ...) each."""
        rows = self._world.indices(envs) if self._world and envs is not None else None
        return {
            f"{PREFIX}{sensor.idx}/{name}": tensor
            for sensor in self.sensors
            for name, tensor in sensor.state_dict(rows).items()
        }

    def check_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Refuse a state that is of other sensors.

        Raises:
            ValueError: the message lists the present and the missing parts.
        """
        saved = {int(name.split("/")[1]) for name in state}
        if saved != set(range(len(self.sensors))):
            raise ValueError(f"state: it is of {len(saved)} sensors, and the scene has {len(self.sensors)}")

    def load_state_dict(self, state: Mapping[str, torch.Tensor], envs: Envs) -> None:
        """Write the result of `state_dict`, of as many environments or of one, into environments."""
        for sensor in self.sensors:
            assert self._world is not None
            rows = self._world.indices(envs)
            start = f"{PREFIX}{sensor.idx}/"
            own = {name.removeprefix(start): tensor for name, tensor in state.items() if name.startswith(start)}
            many = {name: tensor.expand(len(rows), *tensor.shape[1:]) for name, tensor in own.items()}
            sensor.load_state_dict(many, rows)
