"""The classes of entities, by their morphs."""

from .entity import RigidEntity
from .morphs import Morph, Terrain
from .terrain_entity import TerrainEntity

KINDS: dict[type[Morph], type[RigidEntity]] = {Terrain: TerrainEntity}
"""The class of entities by that of the morph; others are `RigidEntity`."""


def entity_class(morph: Morph) -> type[RigidEntity]:
    """Return the class of the entity of a morph."""
    return KINDS.get(type(morph), RigidEntity)
