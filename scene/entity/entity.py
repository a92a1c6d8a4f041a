"""Entities: handles of the objects that were added to a scene, with names and numbers of their parts."""

from typing import Any

import numpy as np

from ..checks import Numbers
from ..materials import Rigid
from ..model.attaching import attach
from ..model.outline import Outline
from ..model.ranges import Ranges
from ..morphs import Morph
from ..records import Uid, part_named
from ..surfaces import Surface
from ..world import World
from .base import EntityBase
from .contacts import drawn_geoms
from .geoms import RigidGeom
from .handles import RigidJoint, RigidLink


class RigidEntity(EntityBase):
    """An entity of a scene.

    Its methods read, write and control batches of environments. They are its objects' methods: `entity.get_pos` is
    `entity.state.get_pos`. `EntityIndex` documents their common arguments and results.

    Its links and joints are known when it is added; numbers in the scene, geoms and states follow when that is built.
    A number within the entity plus the start of its range is the number in the scene: `link_start`, `joint_start`,
    `q_start`, `dof_start`, `geom_start`, `vgeom_start`, `vert_start`, `face_start`, `edge_start`, `vvert_start`,
    `vface_start`, and as many ends, which are not part of the range.

    Attributes:
        scene: the scene.
        idx: number among the scene's entities.
        name: its name.
        morph, material, surface: the arguments of `Scene.add_entity`.
        links, joints: its parts.
        geoms: its geoms; empty until the scene is built.
        visualize_contact: whether pictures show its contacts.
        vis_mode: which of its geoms are drawn, "visual" or "collision"; None: the surface's choice.
        attached_to, attached_link: the entity and link that carry it; None: it is not attached.
        index (EntityIndex): numbers of its parts in the scene.
        state (EntityState): poses and velocities.
        control (EntityControl): forces and servos of dofs.
        parameters (EntityParameters): masses, inertia, friction, springs and dampers.
        dynamics (EntityDynamics): the equations of motion, energies, pushes.
        contacts (EntityContacts): contacts, bounds, vertices.
        planning (EntityPlanning): inverse kinematics and paths.
    """

    def __init__(
        self, scene: Any, idx: int, name: str, made_of: tuple[Morph, Rigid, Surface], outline: Outline
    ) -> None:
        super().__init__(scene, idx, name, made_of)
        self.shapes = [self.morph]
        links = enumerate(zip(outline.links, outline.parents, strict=True))
        self.index.links = self.links = [RigidLink(self, link, number, parent) for number, (link, parent) in links]
        self._take_joints(outline)
        self.geoms: list[RigidGeom] = []
        self.vis_mode: str | None = None
        self.attached_to: RigidEntity | None = None
        self.attached_link: RigidLink | None = None

    def __repr__(self) -> str:
        return f"RigidEntity('{self.name}', {self.n_links} links, {self.n_dofs} dofs)"

    def _take_joints(self, outline: Outline) -> None:
        index = self.index
        index.n_qs, index.n_dofs, index.is_free = outline.n_qs, outline.n_dofs, outline.is_free
        self.joints = [
            RigidJoint(self, self.links[joint.link], number, joint) for number, joint in enumerate(outline.joints)
        ]
        for link in self.links:
            link.joints = [joint for joint in self.joints if joint.link is link]

    def attach(
        self,
        parent_entity: "RigidEntity",
        parent_link_name: str | None = None,
        pos: Numbers | None = None,
        quat: Numbers | None = None,
    ) -> None:
        """Mount it on a link of another entity, before the scene is built; its free joint goes.

        Its number among the scene's entities stays; its parts have their numbers after those of the entity that carries
        it.

        Args:
            parent_entity: the entity that carries it.
            parent_link_name: the link that does, which is on its last branch; None: the first.
            pos: its place in that link's frame, (3,) m; None: that of its morph.
            quat: its orientation there, (4,), w first; None: that of its morph.

        Raises:
            SceneOrderError: the scene is built, or it is attached already.
            TypeError: `parent_entity` is no entity of the same scene.
            ValueError: it has several trees, or carries the other one; the link is not on the last branch.
            KeyError: for an unknown name of a link, with the nearest.
        """
        piece = self.scene.piece_of(self)
        self._take_joints(attach(self, piece, parent_entity, parent_link_name, pos, quat))

    def place(self, world: World, ranges: Ranges) -> None:
        """Take its place in a built scene."""
        self.index.place(world, ranges)
        mj = world.model.mj
        for number, geom in enumerate(self.index.geoms().tolist()):
            link = self.links[int(mj.geom_bodyid[geom]) - 1 - ranges.start["link"]]
            self.geoms.append(RigidGeom(self, link, number, mj.geom(geom).name.removeprefix(f"{self.name}/")))
            link.geoms.append(self.geoms[-1])

    # parts

    def get_link(self, name: str | None = None, uid: str | None = None) -> RigidLink:
        """Return a link by its name, or its `uid`, which is its name.

        Raises:
            KeyError: for an unknown name, with the nearest.
        """
        return part_named(f"entity '{self.name}'", "link", uid if name is None else name, self.links)

    def get_joint(self, name: str | None = None, uid: str | None = None) -> RigidJoint:
        """Return a joint by its name, or its `uid`, which is its name.

        Raises:
            KeyError: for an unknown name, with the nearest.
        """
        return part_named(f"entity '{self.name}'", "joint", uid if name is None else name, self.joints)

    @property
    def base_link(self) -> RigidLink:
        """Its first link."""
        return self.links[0]

    @property
    def base_joint(self) -> RigidJoint | None:
        """The first joint of its first link, None if that has none."""
        return next(iter(self.base_link.joints), None)

    @property
    def is_attached(self) -> bool:
        """True if it is mounted on another entity."""
        return self.attached_to is not None

    @property
    def n_joints(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def vgeoms(self) -> list[RigidGeom]:
        """Its geoms that are drawn."""
        drawn = set(drawn_geoms(self.index).tolist())
        return [geom for geom in self.geoms if geom.idx in drawn]

    # its origin

    @property
    def uid(self) -> Uid:
        """Its name, of which the scene has no other."""
        return Uid(self.name)

    @property
    def morphs(self) -> list[Morph]:
        """Its morphs: one, or one for each share of the environments."""
        return list(self.shapes)

    @property
    def gravity_compensation(self) -> float:
        """Share of its weight that is taken off, as its material has it."""
        return self.material.gravity_compensation

    @property
    def init_qpos(self) -> np.ndarray:
        """Its coordinates in the model's reference state, (n_qs,) m or rad."""
        return self.world.model.mj.qpos0[self.index.all("q")].copy()

    # equalities

    @property
    def equalities(self) -> list[str]:
        """Names in the scene of the equalities among its parts, in order; "" for one without a name."""
        mj = self.world.model.mj
        return [mj.equality(i).name for i in range(self.equality_start, self.equality_end)]
