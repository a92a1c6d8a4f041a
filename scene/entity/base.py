"""The base of entities: their objects, and the arguments that each was made with."""

from typing import Any

from ..materials import Rigid
from ..morphs import Morph
from ..surfaces import Surface
from .contacts import EntityContacts
from .control import EntityControl
from .dynamics import EntityDynamics
from .index import EntityIndex
from .names import EntityNames
from .parameters import EntityParameters
from .planning import EntityPlanning
from .state import EntityState


class EntityParts(EntityNames):
    """The objects of an entity, or of all entities as one."""

    def __init__(self, index: EntityIndex) -> None:
        self.index = index
        self.state, self.control, self.parameters = EntityState(index), EntityControl(index), EntityParameters(index)
        self.dynamics, self.contacts, self.planning = (
            EntityDynamics(index),
            EntityContacts(index),
            EntityPlanning(index),
        )


class EntityBase(EntityParts):
    """An entity without its links, joints and geoms.

    Attributes:
        scene: the scene.
        idx: number among the scene's entities.
        name: its name.
        morph, material, surface: the arguments of `Scene.add_entity`.
        visualize_contact: whether pictures show its contacts.
    """

    def __init__(self, scene: Any, idx: int, name: str, made_of: tuple[Morph, Rigid, Surface]) -> None:
        super().__init__(EntityIndex(name))
        self.scene, self.idx, self.name = scene, idx, name
        self.morph, self.material, self.surface = made_of
        self.visualize_contact = False
