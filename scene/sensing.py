"""The place of sensors in a scene: what a sensor's options make, and when the scene calls it."""

from typing import Any, Protocol

import torch

from .world import World


class Sensor(Protocol):
    """A sensor of a scene. The scene calls it; users read it."""

    def build(self, world: World) -> None:
        """Get ready, once the scene is built: entities have their numbers."""

    def after_step(self) -> None:
        """Note the state after a step, if the sensor remembers any."""

    def after_reset(self, envs: Any) -> None:
        """Forget what was noted of environments, in the form of `World.envs`; None: of all."""

    def read(self, envs_idx: Any = None) -> Any:
        """Return the readings of environments."""


class SensorOptions(Protocol):
    """The options of a sensor, which make it."""

    def make(self, scene: Any) -> Sensor:
        """Return the sensor of a scene that is not built yet; errors are for wrong entities and links."""


class Sensors:
    """The sensors of a scene."""

    def __init__(self) -> None:
        self._all: list[Sensor] = []

    def __len__(self) -> int:
        return len(self._all)

    def add(self, options: SensorOptions, scene: Any) -> Sensor:
        """Make and keep a sensor.

        Raises:
            TypeError: the options are none of a sensor.
        """
        if not callable(getattr(options, "make", None)):
            raise TypeError(
                f"sensor_options: expected the options of a sensor, such as gs.sensors.IMU, got {options!r}"
            )
        sensor = options.make(scene)
        self._all.append(sensor)
        return sensor

    def build(self, world: World) -> None:
        """Get all ready."""
        for sensor in self._all:
            sensor.build(world)

    def after_step(self) -> None:
        """Tell all of a step."""
        for sensor in self._all:
            sensor.after_step()

    def after_reset(self, envs: Any) -> None:
        """Tell all of a reset."""
        for sensor in self._all:
            sensor.after_reset(envs)

    def read(self, envs_idx: Any) -> list[torch.Tensor]:
        """Return the readings of all, in the order in which they were added."""
        return [sensor.read(envs_idx) for sensor in self._all]
