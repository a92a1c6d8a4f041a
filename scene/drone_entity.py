"""The former address of `scene.entity.drone_entity`."""

from .entity.drone_entity import DroneEntity

__all__ = ["DroneEntity"]
