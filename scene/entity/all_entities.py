"""All entities of a built scene as one."""

from collections.abc import Sequence

from ..checks import Indices, Numbers
from ..model.attaching import in_order
from ..model.ranges import KINDS, Ranges
from ..world import World
from .base import EntityParts
from .entity import RigidEntity
from .index import EntityIndex


class AllEntities(EntityParts):
    """All entities of a built scene as one, whose numbers of links, dofs and coordinates are the scene's.

    Args:
        world: the built scene.
        entities: all of them.
    """

    def __init__(self, world: World, entities: Sequence[RigidEntity]) -> None:
        index, mj = EntityIndex("scene"), world.model.mj
        index.links = [link for entity in in_order(entities) for link in entity.links]
        index.n_qs, index.n_dofs, index.is_free = mj.nq, mj.nv, False
        counts = {"link": mj.nbody - 1, "joint": mj.njnt, "q": mj.nq, "dof": mj.nv, "geom": mj.ngeom}
        ends = {kind: counts.get(kind, max(getattr(e, f"{kind}_end") for e in entities)) for kind in KINDS}
        index.place(world, Ranges(dict.fromkeys(KINDS, 0), ends))
        super().__init__(index)

    def apply_links_external_force(
        self, force: Numbers, links_idx_local: Indices = None, envs_idx: Indices = None
    ) -> None:
        """Push links at their centres of mass during the next step, (n, k, 3) or (k, 3) N."""
        self.dynamics.apply_links_external_wrench(force, None, links_idx_local, envs_idx, ref="link_com")

    def apply_links_external_torque(
        self, torque: Numbers, links_idx_local: Indices = None, envs_idx: Indices = None
    ) -> None:
        """Turn links during the next step, (n, k, 3) or (k, 3) N m."""
        self.dynamics.apply_links_external_wrench(None, torque, links_idx_local, envs_idx)
