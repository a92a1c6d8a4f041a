"""Entities: handles of what was added to a scene, with names and numbers of their parts."""

from typing import Any

import torch

from .errors import SceneOrderError
from .handles import RigidGeom, RigidJoint, RigidLink
from .outline import Outline
from .ranges import Ranges
from .records import nearest
from .world import World


class RigidEntity:
    """An entity of a scene.

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
    """

    def __init__(self, scene: Any, idx: int, name: str, made_of: tuple[Any, Any, Any], outline: Outline) -> None:
        self.scene, self.idx, self.name = scene, idx, name
        self.morph, self.material, self.surface = made_of
        self._outline = outline
        self.links = [
            RigidLink(self, link, number, parent)
            for number, (link, parent) in enumerate(zip(outline.links, outline.parents, strict=True))
        ]
        self.joints = [
            RigidJoint(self, self.links[joint.link], number, joint) for number, joint in enumerate(outline.joints)
        ]
        self.geoms: list[RigidGeom] = []
        self._world: World | None = None
        self._ranges: Ranges | None = None

    def __repr__(self) -> str:
        return f"RigidEntity('{self.name}', {self.n_links} links, {self.n_dofs} dofs)"

    def place(self, world: World, ranges: Ranges) -> None:
        """Give it its place in a built scene."""
        self._world, self._ranges = world, ranges
        mj = world.model.mj
        for number, geom in enumerate(range(ranges.start["geom"], ranges.end["geom"])):
            link = self.links[int(mj.geom_bodyid[geom]) - 1 - ranges.start["link"]]
            self.geoms.append(RigidGeom(self, link, number, mj.geom(geom).name.removeprefix(f"{self.name}/")))

    @property
    def world(self) -> World:
        """The built scene.

        Raises:
            SceneOrderError: it is not built yet.
        """
        if self._world is None:
            raise SceneOrderError(f"entity '{self.name}': call scene.build() first")
        return self._world

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

    def get_link(self, name: str) -> RigidLink:
        """Return a link by its name.

        Raises:
            KeyError: for an unknown name, with the nearest.
        """
        return self._part("link", name, self.links)

    def get_joint(self, name: str) -> RigidJoint:
        """Return a joint by its name.

        Raises:
            KeyError: for an unknown name, with the nearest.
        """
        return self._part("joint", name, self.joints)

    def _part(self, kind: str, name: str, parts: list) -> Any:
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

    @property
    def n_geoms(self) -> int:
        """Number of geoms."""
        return self.geom_end - self.geom_start

    # state

    def get_pos(self, envs_idx: Any = None) -> torch.Tensor:
        """Return the position of its first link, (n, 3) m; (3,) without a batch."""
        return self.world.out(self.world.get("xpos", self.world.envs(envs_idx))[:, self.base_link.body])

    def get_quat(self, envs_idx: Any = None) -> torch.Tensor:
        """Return the orientation of its first link, (n, 4), w first; (4,) without a batch."""
        return self.world.out(self.world.get("xquat", self.world.envs(envs_idx))[:, self.base_link.body])

    def get_qpos(self, envs_idx: Any = None) -> torch.Tensor:
        """Return its coordinates, (n, n_qs) m or rad; (n_qs,) without a batch."""
        return self.world.out(self.world.get("qpos", self.world.envs(envs_idx))[:, self.q_start : self.q_end])

    def set_pos(self, pos: Any, envs_idx: Any = None, *, zero_velocity: bool = True) -> None:
        """Put its first link, which must be free, to a position.

        Args:
            pos: (n, 3) or (3,) m.
            envs_idx: of n environments; None for all.
            zero_velocity: whether the entity stops.

        Raises:
            ValueError: for a wrong shape, and for an entity that is not free.
        """
        self._write_base("set_pos", pos, slice(0, 3), envs_idx, zero_velocity)

    def set_quat(self, quat: Any, envs_idx: Any = None, *, zero_velocity: bool = True) -> None:
        """Turn its first link, which must be free, to a quaternion, (n, 4) or (4,), as `set_pos` moves it."""
        self._write_base("set_quat", quat, slice(3, 7), envs_idx, zero_velocity)

    def set_qpos(self, qpos: Any, envs_idx: Any = None, *, zero_velocity: bool = True) -> None:
        """Write its coordinates, (n, n_qs) or (n_qs,) m or rad, as `set_pos` moves its base."""
        self._write_qpos("qpos", qpos, slice(0, self.n_qs), envs_idx, zero_velocity)

    def _write_base(self, call: str, values: Any, columns: slice, envs_idx: Any, zero_velocity: bool) -> None:
        if not self.is_free:
            raise ValueError(f"{call}: entity '{self.name}' is not free to move")
        self._write_qpos(call.removeprefix("set_"), values, columns, envs_idx, zero_velocity)

    def _write_qpos(self, name: str, values: Any, columns: slice, envs_idx: Any, zero_velocity: bool) -> None:
        world = self.world
        envs = world.envs(envs_idx)
        qpos = world.solver.get("qpos", envs)
        start = self.q_start
        rows = world.rows(name, values, len(qpos), columns.stop - columns.start)
        qpos[:, start + columns.start : start + columns.stop] = rows
        changed = {"qpos": qpos}
        if zero_velocity:
            changed["qvel"] = world.solver.get("qvel", envs)
            changed["qvel"][:, self.dof_start : self.dof_end] = 0.0
        world.solver.state.set(envs, **changed)
