"""Parts of an entity: links and joints, by name and by number, within the entity and in the whole scene."""

import mujoco
import numpy as np
import torch

from ...physics.solver.readout.anchors import anchor_of
from ..checks import Indices, Numbers
from ..friction import Friction, WithFriction
from ..model.outline import JointOutline
from .base import EntityBase
from .contacts import bounds_of, vertices_of
from .geoms import EntityPart, RigidGeom
from .index import LinkIndex

JOINT_TYPES = ("free", "ball", "slide", "hinge")
"""Names by MuJoCo's mjtJoint."""


class RigidLink(LinkIndex, WithFriction):
    """A link of an entity: a body of MuJoCo.

    `envs_idx` and tensors are as of the entity: (n, ...), without their first dimension in a scene without a batch.

    Attributes:
        entity: the entity.
        name: without the entity's.
        idx_local: number within the entity.
        parent_idx_local: number of its parent within the entity, -1 for the world.
        joints: the joints between it and its parent.
        geoms: its geoms; empty until the scene is built.
    """

    def __init__(self, entity: EntityBase, name: str, idx_local: int, parent_idx_local: int) -> None:
        super().__init__(entity.index, name, idx_local, parent_idx_local)
        self.entity = entity
        self.joints: list[RigidJoint] = []
        self.geoms: list[RigidGeom] = []

    def __repr__(self) -> str:
        return f"RigidLink('{self.entity.name}/{self.name}')"

    @property
    def parent_idx(self) -> int:
        """Number of its parent in the scene, -1 for the world."""
        return int(self.index.world.model.mj.body_parentid[self.body]) - 1

    @property
    def n_geoms(self) -> int:
        """Number of its geoms."""
        return len(self.geoms)

    @property
    def geom_start(self) -> int:
        """Number of its first geom in the scene."""
        return int(self.geoms[0].idx) if self.geoms else self.index.start("geom")

    @property
    def geom_end(self) -> int:
        """One more than the number of its last geom in the scene."""
        return self.geom_start + self.n_geoms

    @property
    def is_free(self) -> bool:
        """True if it is free to move."""
        return any(joint.type == "free" for joint in self.joints)

    @property
    def is_fixed(self) -> bool:
        """True if nothing can move it: it and all above it have no joints."""
        mj = self.index.world.model.mj
        return bool(mj.body_weldid[self.body] == 0)

    @property
    def visualize_contact(self) -> bool:
        """True if pictures show its contacts."""
        return self.entity.visualize_contact

    # state

    def get_pos(self, envs_idx: Indices = None, *, relative: bool = True) -> torch.Tensor:
        """Return the position of its origin, (n, 3) m."""
        return self.entity.state.get_links_pos([self.idx_local], envs_idx, relative=relative)[..., 0, :]

    def get_quat(self, envs_idx: Indices = None, *, relative: bool = True) -> torch.Tensor:
        """Return its orientation, (n, 4), w first."""
        return self.entity.state.get_links_quat([self.idx_local], envs_idx, relative=relative)[..., 0, :]

    def get_vel(self, envs_idx: Indices = None, *, relative: bool = True) -> torch.Tensor:
        """Return the velocity of its origin, (n, 3) m/s."""
        return self.entity.state.get_links_vel([self.idx_local], envs_idx, relative=relative)[..., 0, :]

    def get_ang(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return its angular velocity in the world's axes, (n, 3) rad/s."""
        return self.entity.state.get_links_ang([self.idx_local], envs_idx)[..., 0, :]

    def get_verts(self) -> torch.Tensor:
        """Return the vertices in the world of its meshes and boxes, (n, vertices, 3) m; ValueError if it has none."""
        return vertices_of(self.index, self._geom_numbers(), visual=False)

    def get_AABB(self) -> torch.Tensor:
        """Return the bounds of its geoms, (n, 2, 3) m: lower and upper corner; ValueError if it has none."""
        return bounds_of(self.index, self._geom_numbers(), None, f"geom of link '{self.name}'")

    def _geom_numbers(self) -> np.ndarray:
        return np.array([geom.idx for geom in self.geoms], int)

    def _frictional(self) -> tuple[Friction, np.ndarray]:
        return self.index.world.friction, self._geom_numbers()

    # wrenches

    def apply_external_wrench(
        self,
        force: Numbers | None = None,
        torque: Numbers | None = None,
        envs_idx: Indices = None,
        *,
        pos: Numbers | None = None,
        ref: str = "link_origin",
        local: bool = False,
    ) -> None:
        """Push and turn it during the next `scene.step`, (n, 3) or (3,) N and N m.

        Arguments and errors as in `RigidEntity.apply_links_external_wrench`.
        """
        world, envs = self.index.envs(envs_idx)
        given = {"force": force, "torque": torque, "pos": pos}
        vectors = {n: None if v is None else world.tensor(n, v, envs, 3)[:, None] for n, v in given.items()}
        self.entity.dynamics.apply_links_external_wrench(
            **vectors, links_idx_local=[self.idx_local], envs_idx=envs_idx, ref=ref, local=local
        )

    def apply_external_force(
        self,
        force: Numbers,
        envs_idx: Indices = None,
        *,
        pos: Numbers | None = None,
        ref: str = "link_origin",
        local: bool = False,
    ) -> None:
        """Push it during the next `scene.step`, (n, 3) or (3,) N, as `apply_external_wrench` does."""
        self.apply_external_wrench(force, None, envs_idx, pos=pos, ref=ref, local=local)

    def apply_external_torque(
        self, torque: Numbers, envs_idx: Indices = None, *, ref: str = "link_origin", local: bool = False
    ) -> None:
        """Turn it during the next `scene.step`, (n, 3) or (3,) N m; `ref` makes no difference."""
        self.apply_external_wrench(None, torque, envs_idx, ref=ref, local=local)

    # physical numbers

    def set_mass(self, mass: Numbers, envs_idx: Indices = None) -> None:
        """Set its mass, (n,) or one number, kg; its inertia is scaled with it."""
        world, envs = self.index.envs(envs_idx)
        bodies, numbers = np.array([self.body]), world.solver.parameters
        new_mass = world.doubles("mass", mass, envs)[:, None]
        masses, inertia = (numbers.get(n, envs).numpy()[:, bodies] for n in ("body_mass", "body_inertia"))
        if not masses.all():
            raise ValueError(f"{self!r} has no mass: give its file one")
        scaled = inertia * (new_mass / masses)[..., None]
        numbers.set_items(envs, body_mass=(bodies, new_mass), body_inertia=(bodies, scaled))

    def set_COM(self, com: Numbers, envs_idx: Indices = None) -> None:
        """Set its centre of mass in its frame, (n, 3) or (3,) m."""
        world, envs = self.index.envs(envs_idx)
        self.entity.parameters.set_links_COM(world.doubles("com", com, envs, 3)[:, None], [self.idx_local], envs_idx)

    def set_inertia(self, inertia: Numbers, envs_idx: Indices = None) -> None:
        """Set its inertia about its centre of mass, in its frame's axes, (n, 3, 3) or (3, 3) kg m2."""
        world, envs = self.index.envs(envs_idx)
        matrices = world.doubles("inertia", inertia, envs, 3, 3)[:, None]
        self.entity.parameters.set_links_inertia(matrices, [self.idx_local], envs_idx)

    def get_mass(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return its mass, (n,) kg."""
        return self.entity.parameters.get_links_mass([self.idx_local], envs_idx)[..., 0]


class RigidJoint(EntityPart):
    """A joint of an entity.

    Attributes:
        entity: the entity.
        name: without the entity's.
        idx_local: number within the entity.
        type: "free", "ball", "slide" or "hinge".
        link: the link that it moves.
        n_qs, n_dofs: number of its coordinates and dofs.
    """

    KIND, PREFIX = "joint", "jnt"

    def __init__(self, entity: EntityBase, link: RigidLink, idx_local: int, outline: JointOutline) -> None:
        super().__init__(entity, idx_local)
        self.link, self._outline = link, outline
        self.name, self.type = outline.name, JOINT_TYPES[outline.type]
        self.n_qs, self.n_dofs = outline.n_qs, outline.n_dofs

    def __repr__(self) -> str:
        return f"RigidJoint('{self.entity.name}/{self.name}', {self.type})"

    @property
    def uid(self) -> str:
        """Its name, of which its entity has no other joint."""
        return self.name

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
        return self.index.start("dof") + self._outline.dof_start

    @property
    def dof_end(self) -> int:
        """One more than the number of its last dof in the scene."""
        return self.dof_start + self.n_dofs

    @property
    def q_start(self) -> int:
        """Number of its first coordinate in the scene."""
        return self.index.start("q") + self._outline.q_start

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

    @property
    def init_qpos(self) -> np.ndarray:
        """Its coordinates in the model's reference state, (n_qs,) m or rad."""
        return self._mj.qpos0[self.q_start : self.q_end].copy()

    @property
    def pos(self) -> np.ndarray:
        """Its anchor in the frame of its link, (3,) m."""
        return self._mj.jnt_pos[self.idx].copy()

    @property
    def quat(self) -> np.ndarray:
        """The orientation of its frame in its link's frame, (4,): no rotation, as joints have none."""
        return np.array([1.0, 0.0, 0.0, 0.0])

    @property
    def _mj(self) -> mujoco.MjModel:
        return self.index.world.model.mj

    def get_pos(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return where it is in the world, (n, 3) m: its anchor."""
        return self.get_anchor_pos(envs_idx)

    def get_quat(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the orientation of its link, (n, 4), w first."""
        return self.link.get_quat(envs_idx)

    def get_anchor_pos(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return its anchor in the world, (n, 3) m; of a free joint, the origin of its link."""
        world, envs = self.index.envs(envs_idx)
        anchors = anchor_of(
            *(world.model.mj, self.idx), lambda name: world.get(name, envs), lambda name: world.parameter(name, envs)
        )
        return world.out(anchors)

    def get_anchor_axis(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return its axis in the world, (n, 3); of a ball or free joint, the z axis of MuJoCo's xaxis."""
        world, envs = self.index.envs(envs_idx)
        return world.out(world.get("xaxis", envs)[:, self.idx])
