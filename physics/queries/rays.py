"""The part of `RigidSolver` that says what rays meet."""

from collections.abc import Sequence
from typing import Any

from ..batch_numbers import Known, on_host
from ..rays.query import RayCaster, RayHits, as_rays
from ..scalars import as_flag
from ..solver_part import SolverPart


class SolverRays(SolverPart):
    """Rays among the geoms of all environments at once, at the poses of the last evaluation."""

    _rays: RayCaster | None = None

    def ray(
        self,
        pnt: Any,
        vec: Any,
        *,
        geomgroup: Sequence[int] | None = None,
        flg_static: bool = True,
        bodyexclude: int = -1,
        envs_idx: Any = None,
        normals: bool = False,
    ) -> RayHits:
        """Find where rays first meet a geom, as MuJoCo's `mj_ray` does.

        Surfaces of solids and meshes are met from inside too; planes from above only, finite ones within their
        rectangle. Geoms whose colour has alpha 0 are not there. A ray that is not finite, or whose vector is shorter
        than 1e-15, hits nothing. After `step()` geoms are where the last evaluation had them; `forward()` brings them
        to the state.

        Args:
            pnt: where rays begin, (num_envs, n, 3), world frame, metres; (n, 3) or (3,) for all environments.
            vec: their directions, of any length, in the same shapes.
            geomgroup: six flags, which geom groups are there; None: all.
            flg_static: whether geoms of bodies that cannot move are there.
            bodyexclude: id of a body whose geoms are not there; -1: none.
            envs_idx: indices of environments, whose number replaces num_envs above; None for all.
            normals: whether to find the surfaces' normals too.

        Returns:
            `RayHits`: distances in units of `vec`, geom ids, and normals; -1 where nothing was hit.

        Raises:
            ValueError: for a wrong shape, group, body or flag, and for what is not made of real numbers.
            IndexError: for an environment that does not exist.
            NotImplementedError: a height field or signed distance function is there.
        """
        if self._rays is None:
            self._rays = RayCaster(self.runtime, self.model.mj)
        normals = as_flag("normals", normals)
        chosen = self._rays.choose(geomgroup, flg_static, bodyexclude)
        index = self._numbers.environments(envs_idx, self.num_envs)
        count = self.num_envs if index is None else len(index)
        rays = as_rays(pnt, vec, count, self.dtype, self.device)
        poses = self.get_many(("geom_xpos", "geom_xmat"), None if index is None else Known(index))
        sizes = None
        if "geom_size" in self._overrides:
            sizes = self._rays.sized(self._overrides.get("geom_size", on_host(index)))
        return self._rays.cast(chosen, (poses["geom_xpos"], poses["geom_xmat"]), rays, sizes, normals)
