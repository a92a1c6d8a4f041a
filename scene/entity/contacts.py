"""Contacts and bounds of an entity."""

import mujoco
import numpy as np
import torch

from ...physics.base.shapes import of_kinds
from ...physics.files.geometry.store import GeometryStore
from ...physics.solver.readout.contacts import Contacts
from ..checks import Indices
from .index import EntityIndex, HasIndex, index_of


class EntityContacts:
    """Contacts of an entity with others and with itself, its bounds and vertices."""

    def __init__(self, index: EntityIndex) -> None:
        self._index = index

    def get_contacts(
        self, with_entity: HasIndex | None = None, exclude_self_contact: bool = False, is_padded: bool = False
    ) -> dict[str, torch.Tensor]:
        """Return its contacts at the present state.

        Args:
            with_entity: only contacts with this entity; the entity itself: only contacts among its links.
            exclude_self_contact: leave out contacts among its links.
            is_padded: True: tensors have room for as many contacts as an environment of the scene can have (`m` below),
                so that their shapes never change; False: for as many as an environment has at most now.

        Returns:
            geom_a, geom_b, link_a, link_b: numbers in the scene, (n, m) int64; -1 without a contact, and as the link
            of geoms that are no entity's. position (n, m, 3) m, between both surfaces; normal (n, m, 3), from a to b;
            penetration (n, m) m, below 0 at a distance within the margin; force_a, force_b (n, m, 3) N: on a and on b,
            in the world's axes; valid_mask (n, m) bool: which of the m are contacts; they come first.

        Raises:
            TypeError: `with_entity` is no entity.
            ValueError: `with_entity` is this entity, whose contacts with itself are excluded.
        """
        world = self._index.world
        other = None if with_entity is None else index_of("with_entity", with_entity)
        if other is self._index and exclude_self_contact:
            raise ValueError("get_contacts: with_entity is the entity itself, and contacts of its links are excluded")
        contacts, own = self._contacts()
        keep = own.all(-1) if other is self._index else own.any(-1)
        if other not in (None, self._index):
            keep = keep & _is_of(contacts.geom, other).any(-1)
        if exclude_self_contact:
            keep = keep & ~own.all(-1)
        keep = keep & contacts.mask
        width = world.model.max_contacts if is_padded else int(keep.sum(1).max()) if keep.numel() else 0
        return {name: world.out(numbers) for name, numbers in _shown(world.model.mj, contacts, keep, width).items()}

    def get_links_net_contact_force(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the sums of contact forces on links, in the world's axes, (n, n_links, 3) N."""
        world, envs = self._index.envs(envs_idx)
        contacts, _ = self._contacts()
        push = _forces(contacts)
        total = push.new_zeros((len(push), int(world.model.mj.nbody), 3))
        body = torch.as_tensor(world.model.mj.geom_bodyid.astype(np.int64), device=push.device)[contacts.geom]
        for side, sign in ((0, -1.0), (1, 1.0)):
            total.scatter_add_(1, body[..., side, None].expand(-1, -1, 3), sign * push)
        total = total[:, self._index.bodies(None)]
        return world.out(total if envs is None else total[torch.as_tensor(envs.index)])

    def detect_collision(self, env_idx: int = 0) -> np.ndarray:
        """Return pairs of geoms of the scene that touch at the present state of one environment, (k, 2) int64.

        Pairs of which no geom is the entity's are left out.
        """
        world = self._index.world
        contacts, own = self._contacts()
        env = 0 if world.n_envs == 0 and env_idx == 0 else int(world.indices(world.envs(env_idx))[0])
        keep = contacts.mask[env] & own[env].any(-1) & (contacts.dist[env] <= 0)
        return np.unique(contacts.geom[env][keep].cpu().numpy().reshape(-1, 2), axis=0)

    def _contacts(self) -> tuple[Contacts, torch.Tensor]:
        """Return the contacts of the scene, and which of their geoms (n, m, 2) are the entity's."""
        contacts = self._index.world.contacts
        return contacts, _is_of(contacts.geom, self._index)

    # bounds and vertices

    def get_AABB(self, envs_idx: Indices = None, *, allow_fast_approx: bool = False) -> torch.Tensor:
        """Return the bounds of its geoms that touch, (n, 2, 3) m: lower and upper corner; infinite for planes.

        Args:
            envs_idx: which environments.
            allow_fast_approx: changes nothing: bounds are as tight as the shapes allow.

        Raises:
            ValueError: it has no geom that touches.
        """
        return bounds_of(self._index, self._touching(), envs_idx, "geom that touches")

    def get_vAABB(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the bounds of its geoms that are drawn, (n, 2, 3) m: lower and upper corner; infinite for planes.

        Raises:
            ValueError: it has no geom that is drawn.
        """
        return bounds_of(self._index, drawn_geoms(self._index), envs_idx, "geom that is drawn")

    def get_verts(self) -> torch.Tensor:
        """Return the vertices in the world of its meshes and boxes that touch, (n, vertices, 3) m, by geom.

        Raises:
            ValueError: it has none.
        """
        return vertices_of(self._index, self._touching(), visual=False)

    def get_vverts(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the vertices in the world of its meshes that are drawn, (n, vertices, 3) m, by geom.

        Raises:
            ValueError: it has none.
        """
        return vertices_of(self._index, drawn_geoms(self._index), visual=True, envs_idx=envs_idx)

    def _touching(self) -> np.ndarray:
        """Return the numbers in the scene of its geoms that touch."""
        geoms = self._index.geoms()
        return geoms[self._index.world.model.geometry.collides[geoms]]


def drawn_geoms(index: EntityIndex) -> np.ndarray:
    """Return the numbers in the scene of an entity's geoms that are drawn."""
    return index.world.model.geometry.vgeoms.geom[index.all("vgeom")]


def bounds_of(index: EntityIndex, geoms: np.ndarray, envs_idx: Indices, what: str) -> torch.Tensor:
    """Return the bounds of an entity's geoms (k,), (n, 2, 3) m: lower and upper corner.

    Raises:
        ValueError: there are no geoms of the kind `what`.
    """
    world, envs = index.envs(envs_idx)
    if not len(geoms):
        raise ValueError(f"entity '{index.name}' has no {what}")
    world.solver.forward_changed()
    corners = world.solver.geom_aabb(geoms.tolist(), envs)
    return world.out(torch.stack((corners[:, :, 0].amin(1), corners[:, :, 1].amax(1)), 1))


def vertices_of(index: EntityIndex, geoms: np.ndarray, visual: bool, envs_idx: Indices = None) -> torch.Tensor:
    """Return the vertices in the world of an entity's geoms (k,), (n, vertices, 3) m, by geom.

    Raises:
        ValueError: the geoms have no vertices.
    """
    world, envs = index.envs(envs_idx)
    world.solver.forward_changed()
    having = [geom for geom in geoms.tolist() if _has_vertices(world.model.geometry, geom, visual)]
    if not having:
        raise ValueError(f"entity '{index.name}' has no vertices: round shapes and planes have none")
    return world.out(torch.cat([world.solver.geom_verts(geom, envs, visual) for geom in having], 1))


def _has_vertices(store: GeometryStore, geom: int, visual: bool) -> bool:
    if visual:
        row = np.flatnonzero(store.vgeoms.geom == geom)
        return bool((store.vgeoms.vert_end[row] > store.vgeoms.vert_start[row]).any())
    return geom in store.outline or int(store.type[geom]) in of_kinds("vertices")


def _is_of(geom: torch.Tensor, index: EntityIndex) -> torch.Tensor:
    """Return which geoms are an entity's."""
    return (geom >= index.start("geom")) & (geom < index.end("geom"))


def _forces(contacts: Contacts) -> torch.Tensor:
    """Return the forces of contacts on their second geoms, in the world's axes, (n, m, 3) N."""
    return (contacts.frame * contacts.force[..., :3, None]).sum(-2) * contacts.mask[..., None]


def _shown(mj: mujoco.MjModel, contacts: Contacts, keep: torch.Tensor, width: int) -> dict[str, torch.Tensor]:
    """Return the contacts that `keep` (n, slots) has, in the first of `width` places."""
    order = torch.argsort(~keep, dim=1, stable=True)
    spare = max(0, width - keep.shape[1])
    valid = torch.nn.functional.pad(torch.gather(keep, 1, order), (0, spare))[:, :width]
    link = torch.as_tensor(mj.geom_bodyid.astype(np.int64) - 1, device=keep.device)[contacts.geom]
    push = _forces(contacts)
    ids = {
        "geom_a": contacts.geom[..., 0],
        "geom_b": contacts.geom[..., 1],
        "link_a": link[..., 0],
        "link_b": link[..., 1],
    }
    numbers = {"position": contacts.pos, "normal": contacts.frame[:, :, 0], "penetration": -contacts.dist}
    numbers |= {"force_a": -push, "force_b": push}
    tensors = {}
    for name, value in (ids | numbers).items():
        place = order.reshape(*order.shape, *[1] * (value.ndim - 2)).expand(value.shape)
        rows = torch.gather(value, 1, place)
        rows = torch.nn.functional.pad(rows, (*[0] * (2 * (value.ndim - 2)), 0, spare))[:, :width]
        there = valid.reshape(*valid.shape, *[1] * (value.ndim - 2))
        tensors[name] = torch.where(there, rows, torch.full_like(rows, -1 if name in ids else 0))
    return tensors | {"valid_mask": valid}
