"""The classes of entities, by their morphs."""

from ..morphs import Drone, Morph, Terrain
from .drone_entity import DroneEntity
from .entity import RigidEntity
from .terrain_entity import TerrainEntity

KINDS: dict[type[Morph], type[RigidEntity]] = {Terrain: TerrainEntity, Drone: DroneEntity}
"""The class of entities by that of the morph; others are `RigidEntity`."""


def entity_class(morph: Morph) -> type[RigidEntity]:
    """Return the class of the entity of a morph."""
    return KINDS.get(type(morph), RigidEntity)
