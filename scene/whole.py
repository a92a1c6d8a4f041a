"""All entities of a built scene as one."""

from typing import Any

from .attaching import in_order
from .controllers import Controllers
from .dynamics import Dynamics
from .parameters import PhysicalNumbers
from .ranges import KINDS, Ranges
from .writing import Writing


class Whole(Dynamics, Writing, Controllers, PhysicalNumbers):
    """All entities of a built scene as one, whose numbers of links, dofs and coordinates are the scene's.

    Args:
        scene: the scene.
    """

    def __init__(self, scene: Any) -> None:
        self.scene, self.name, self._world = scene, "scene", scene.world
        mj, entities = self.world.model.mj, scene.entities
        order = in_order(entities)
        self.links = [link for entity in order for link in entity.links]
        self.joints = [joint for entity in order for joint in entity.joints]
        self.geoms = [geom for entity in order for geom in entity.geoms]
        self._counts = {"link": mj.nbody - 1, "joint": mj.njnt, "q": mj.nq, "dof": mj.nv, "geom": mj.ngeom}
        ends = {kind: self._counts.get(kind, max(getattr(e, f"{kind}_end") for e in entities)) for kind in KINDS}
        self._ranges = Ranges(dict.fromkeys(KINDS, 0), ends)

    @property
    def n_links(self) -> int:
        """Number of links."""
        return self._counts["link"]

    @property
    def n_dofs(self) -> int:
        """Number of dofs."""
        return self._counts["dof"]

    @property
    def n_qs(self) -> int:
        """Number of coordinates."""
        return self._counts["q"]

    @property
    def is_free(self) -> bool:
        """False: it is no body."""
        return False

    def apply_links_external_force(self, force: Any, links_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Push links at their centres of mass during the next step, (n, k, 3) or (k, 3) N."""
        self.apply_links_external_wrench(force, None, links_idx_local, envs_idx, ref="link_com")

    def apply_links_external_torque(self, torque: Any, links_idx_local: Any = None, envs_idx: Any = None) -> None:
        """Turn links during the next step, (n, k, 3) or (k, 3) N m."""
        self.apply_links_external_wrench(None, torque, links_idx_local, envs_idx)
