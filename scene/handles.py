"""Parts of an entity: links, joints and geoms, by name and by number, within the entity and in the whole scene."""

from typing import Any

import numpy as np

from .outline import JointOutline

JOINT_TYPES = ("free", "ball", "slide", "hinge")
"""Names by MuJoCo's mjtJoint."""


class RigidLink:
    """A link of an entity: a body of MuJoCo.

    Attributes:
        entity: the entity.
        name: without the entity's.
        idx_local: number within the entity.
        parent_idx_local: number of its parent within the entity, -1 for the world.
    """

    def __init__(self, entity: Any, name: str, idx_local: int, parent_idx_local: int) -> None:
        self.entity, self.name, self.idx_local, self.parent_idx_local = entity, name, idx_local, parent_idx_local

    def __repr__(self) -> str:
        return f"RigidLink('{self.entity.name}/{self.name}')"

    @property
    def idx(self) -> int:
        """Number in the scene."""
        return self.entity.link_start + self.idx_local

    @property
    def body(self) -> int:
        """Number of MuJoCo's body: link 0 is body 1."""
        return self.idx + 1

    @property
    def parent_idx(self) -> int:
        """Number of its parent in the scene, -1 for the world."""
        return -1 if self.parent_idx_local < 0 else self.entity.link_start + self.parent_idx_local

    @property
    def joints(self) -> list["RigidJoint"]:
        """The joints between it and its parent."""
        return [joint for joint in self.entity.joints if joint.link is self]

    @property
    def geoms(self) -> list["RigidGeom"]:
        """Its geoms."""
        return [geom for geom in self.entity.geoms if geom.link is self]

    @property
    def n_geoms(self) -> int:
        """Number of its geoms."""
        return len(self.geoms)

    @property
    def is_free(self) -> bool:
        """True if it is free to move."""
        return any(joint.type == "free" for joint in self.joints)


class RigidJoint:
    """A joint of an entity.

    Attributes:
        entity: the entity.
        name: without the entity's.
        idx_local: number within the entity.
        type: "free", "ball", "slide" or "hinge".
        link: the link that it moves.
        n_qs, n_dofs: number of its coordinates and dofs.
    """

    def __init__(self, entity: Any, link: RigidLink, idx_local: int, outline: JointOutline) -> None:
        self.entity, self.link, self.idx_local, self._outline = entity, link, idx_local, outline
        self.name, self.type = outline.name, JOINT_TYPES[outline.type]
        self.n_qs, self.n_dofs = outline.n_qs, outline.n_dofs

    def __repr__(self) -> str:
        return f"RigidJoint('{self.entity.name}/{self.name}', {self.type})"

    @property
    def idx(self) -> int:
        """Number in the scene."""
        return self.entity.joint_start + self.idx_local

    @property
    def dofs_idx_local(self) -> list[int]:
        """Numbers of its dofs within the entity."""
        return list(range(self._outline.dof_start, self._outline.dof_start + self.n_dofs))

    @property
    def qs_idx_local(self) -> list[int]:
        """Numbers of its coordinates within the entity."""
        return list(range(self._outline.q_start, self._outline.q_start + self.n_qs))

    @property
    def dof_idx_local(self) -> int:
        """Number of its only dof within the entity.

        Raises:
            ValueError: it has more than one.
        """
        if self.n_dofs != 1:
            raise ValueError(f"{self!r} has {self.n_dofs} dofs: use dofs_idx_local")
        return self._outline.dof_start

    @property
    def dof_start(self) -> int:
        """Number of its first dof in the scene."""
        return self.entity.dof_start + self._outline.dof_start

    @property
    def dof_end(self) -> int:
        """One more than the number of its last dof in the scene."""
        return self.dof_start + self.n_dofs

    @property
    def q_start(self) -> int:
        """Number of its first coordinate in the scene."""
        return self.entity.q_start + self._outline.q_start

    @property
    def q_end(self) -> int:
        """One more than the number of its last coordinate in the scene."""
        return self.q_start + self.n_qs

    @property
    def dofs_idx(self) -> list[int]:
        """Numbers of its dofs in the scene."""
        return list(range(self.dof_start, self.dof_end))

    @property
    def qs_idx(self) -> list[int]:
        """Numbers of its coordinates in the scene."""
        return list(range(self.q_start, self.q_end))


class RigidGeom:
    """A geom of an entity: of what touches, of what is drawn, or both.

    Attributes:
        entity: the entity.
        name: without the entity's, "" for none.
        idx_local: number within the entity.
        link: the link that it belongs to.
    """

    def __init__(self, entity: Any, link: RigidLink, idx_local: int, name: str) -> None:
        self.entity, self.link, self.idx_local, self.name = entity, link, idx_local, name

    def __repr__(self) -> str:
        return f"RigidGeom('{self.entity.name}/{self.name}', {self.idx})"

    @property
    def idx(self) -> int:
        """Number in the scene: MuJoCo's."""
        return self.entity.geom_start + self.idx_local

    def _of_model(self, name: str) -> np.ndarray:
        """A field of the compiled model."""
        return getattr(self.entity.world.model.mj, f"geom_{name}")[self.idx]

    @property
    def type(self) -> int:
        """MuJoCo's mjtGeom."""
        return int(self._of_model("type"))

    @property
    def contype(self) -> int:
        """Bit mask of what it is for others' conaffinity."""
        return int(self._of_model("contype")) & 0xFFFFFFFF

    @property
    def conaffinity(self) -> int:
        """Bit mask of others' contype that it touches."""
        return int(self._of_model("conaffinity")) & 0xFFFFFFFF
