"""Entities: handles of what was added to a scene, with names and numbers of their parts."""

from typing import Any

import numpy as np

from .attaching import attach
from .controllers import Controllers
from .counts import count
from .dynamics import Dynamics
from .errors import SceneOrderError
from .geoms import RigidGeom
from .handles import RigidJoint, RigidLink
from .outline import Outline
from .parameters import PhysicalNumbers
from .planning import Planning
from .ranges import Ranges
from .records import Uid, nearest
from .touching import Touching
from .world import World
from .writing import Writing


class RigidEntity(Dynamics, Writing, Controllers, PhysicalNumbers, Touching, Planning):
    """An entity of a scene.

    Its methods read, write and control batches of environments: `reading.py`, `writing.py`, `controllers.py`,
    `parameters.py`, `touching.py`, `dynamics.py` and `planning.py` have them. `access.py` says what all of them take
    and return.

    Its links and joints are known when it is added; numbers in the scene, geoms and states follow when that is built.
    A number within the entity plus the start of its range is the number in the scene: `link_start`, `joint_start`,
    `q_start`, `dof_start`, `geom_start`, `vgeom_start`, `vert_start`, `face_start`, `edge_start`, `vvert_start`,
    `vface_start`, and as many ends, which are not part of the range.

    Attributes:
        scene: the scene.
        idx: number among the scene's entities.
        name: its name.
        morph, material, surface: what it was made of.
        links, joints: its parts.
        geoms: its geoms; empty until the scene is built.
        visualize_contact: whether pictures show its contacts.
        vis_mode: which of its geoms are drawn, "visual" or "collision"; None: those that its surface says.
        attached_to, attached_link: the entity and link that carry it; None: it is attached to none.
    """

    def __init__(self, scene: Any, idx: int, name: str, made_of: tuple[Any, Any, Any], outline: Outline) -> None:
        self.scene, self.idx, self.name = scene, idx, name
        self.morph, self.material, self.surface = made_of
        self.shapes: list[Any] = [self.morph]
        self.links = [
            RigidLink(self, link, number, parent)
            for number, (link, parent) in enumerate(zip(outline.links, outline.parents, strict=True))
        ]
        self._take_joints(outline)
        self.geoms: list[RigidGeom] = []
        self.visualize_contact = False
        self.vis_mode: str | None = None
        self.attached_to: RigidEntity | None = None
        self.attached_link: RigidLink | None = None
        self._world: World | None = None
        self._ranges: Ranges | None = None

    def __repr__(self) -> str:
        return f"RigidEntity('{self.name}', {self.n_links} links, {self.n_dofs} dofs)"

    def _take_joints(self, outline: Outline) -> None:
        self._outline = outline
        self.joints = [
            RigidJoint(self, self.links[joint.link], number, joint) for number, joint in enumerate(outline.joints)
        ]

    def attach(
        self, parent_entity: Any, parent_link_name: str | None = None, pos: Any = None, quat: Any = None
    ) -> None:
        """Mount it on a link of another entity, before the scene is built; a free joint of its own goes.

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
        """Give it its place in a built scene."""
        self._world, self._ranges = world, ranges
        mj = world.model.mj
        for number, geom in enumerate(range(ranges.start["geom"], ranges.end["geom"])):
            link = self.links[int(mj.geom_bodyid[geom]) - 1 - ranges.start["link"]]
            self.geoms.append(RigidGeom(self, link, number, mj.geom(geom).name.removeprefix(f"{self.name}/")))

    def __getattr__(self, name: str) -> Any:
        """Return the start or end of a range, such as `link_start`, or how much there is of a kind, such as `n_geoms`.

        Raises:
            SceneOrderError: the scene is not built yet.
        """
        kind, _, end = name.rpartition("_")
        if name.startswith("_") or end not in ("start", "end"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        ranges = self.__dict__.get("_ranges")
        if ranges is None:
            raise SceneOrderError(f"entity '{self.name}': {name} is known after scene.build()")
        found = (ranges.start if end == "start" else ranges.end).get(kind)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return found

    # parts

    def get_link(self, name: str | None = None, uid: str | None = None) -> RigidLink:
        """Return a link by its name, or its `uid`, which is its name.

        Raises:
            KeyError: for an unknown name, with the nearest.
        """
        return self._part("link", name if name is not None else uid, self.links)

    def get_joint(self, name: str | None = None, uid: str | None = None) -> RigidJoint:
        """Return a joint by its name, or its `uid`, which is its name.

        Raises:
            KeyError: for an unknown name, with the nearest.
        """
        return self._part("joint", name if name is not None else uid, self.joints)

    def _part(self, kind: str, name: str | None, parts: list) -> Any:
        for part in parts:
            if part.name == name:
                return part
        raise KeyError(f"entity '{self.name}' has no {kind} {name!r}{nearest(name, [part.name for part in parts])}")

    @property
    def base_link(self) -> RigidLink:
        """Its first link."""
        return self.links[0]

    @property
    def base_joint(self) -> RigidJoint | None:
        """The first joint of its first link, None if that has none."""
        return next(iter(self.base_link.joints), None)

    @property
    def base_link_idx(self) -> int:
        """Number of its first link in the scene."""
        return self.base_link.idx

    @property
    def joints_by_links(self) -> list[list[RigidJoint]]:
        """The joints of each link."""
        return [link.joints for link in self.links]

    @property
    def is_built(self) -> bool:
        """True if the scene is built."""
        return self._world is not None

    @property
    def is_attached(self) -> bool:
        """True if it is mounted on another entity."""
        return self.attached_to is not None

    @property
    def is_free(self) -> bool:
        """True if its first link is free to move."""
        return self.base_link.is_free

    @property
    def n_links(self) -> int:
        """Number of links."""
        return len(self.links)

    @property
    def n_joints(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def n_qs(self) -> int:
        """Number of coordinates."""
        return self._outline.n_qs

    @property
    def n_dofs(self) -> int:
        """Number of dofs."""
        return self._outline.n_dofs

    n_geoms = count("geom", "geoms")
    n_vgeoms = count("vgeom", "geoms that are drawn")
    n_verts = count("vert", "vertices of its meshes that touch")
    n_faces = count("face", "triangles of its meshes that touch")
    n_edges = count("edge", "edges of its meshes that touch")
    n_vverts = count("vvert", "vertices of its meshes that are drawn")
    n_vfaces = count("vface", "triangles of its meshes that are drawn")

    @property
    def vgeoms(self) -> list[RigidGeom]:
        """Its geoms that are drawn."""
        drawn = set(self._drawn().tolist())
        return [geom for geom in self.geoms if geom.idx in drawn]

    # what it was made of

    @property
    def uid(self) -> Uid:
        """Its name, of which the scene has no other."""
        return Uid(self.name)

    @property
    def main_morph(self) -> Any:
        """Its morph."""
        return self.morph

    @property
    def morphs(self) -> list:
        """Its morphs: one, or those of shares of the environments."""
        return list(self.shapes)

    @property
    def gravity_compensation(self) -> float:
        """Share of its weight that is taken off, as its material has it."""
        return self.material.gravity_compensation

    @property
    def init_qpos(self) -> np.ndarray:
        """Its coordinates in the model's reference state, (n_qs,) m or rad."""
        return self.world.model.mj.qpos0[self._start("q") : self._end("q")].copy()

    # equalities

    @property
    def equalities(self) -> list[str]:
        """Names in the scene of the equalities among its parts, in order; "" for one without a name."""
        mj = self.world.model.mj
        return [mj.equality(i).name for i in range(self.equality_start, self.equality_end)]

    n_equalities = count("equality", "the equalities among its parts")
