"""The part of `RigidSolver` that answers questions about geoms."""

import math
from typing import Any

import torch

from ..arguments import as_real
from ..batch_numbers import on_host
from .distances import OWN, SOURCES, DistanceQuery, Distances, geom_pairs
from .rays import SolverRays
from .shapes import SolverShapes

_LEAST = 1e-300  # m: above the numbers that processors may take for zero


class SolverQueries(SolverShapes, SolverRays):
    """The part of `RigidSolver` that answers them; their kernel is compiled, or loaded, when it is first needed."""

    _distances: DistanceQuery | None = None

    def distance(self, geom1: Any, geom2: Any, distmax: float = math.inf, envs_idx: Any = None) -> Distances:
        """Signed distances of pairs of geoms, and their nearest points, as MuJoCo's `mj_geomDistance` has them.

        At the last evaluation, as all that `get` returns: after `set_state` call `forward` first. Any two geoms have a
        distance, also of one body or filtered from contacts: planes (the half-space below them), spheres, capsules,
        ellipsoids, cylinders, boxes and the hulls of meshes. Where they overlap it is minus the length of the shortest
        way that parts them. Of two planes it is `distmax`. It is computed in double precision, from poses in the
        solver's, to the model's `ccd_tolerance` within its `ccd_iterations`.

        Args:
            geom1: a geom's name or number, or a sequence of them.
            geom2: the second geoms; as many as `geom1`, or one of them is one for all.
            distmax: m; what is farther apart counts as this far, which costs less.
            envs_idx: indices of environments; None for all.

        Returns:
            Distances (n, npairs) in the solver's precision and their points (n, npairs, 6).

        Raises:
            KeyError: for an unknown name.
            IndexError: for a geom or environment that does not exist.
            ValueError: for lists of different lengths, height fields and signed distance fields, a `distmax` that is no
                number, and geoms that are neither names nor whole numbers.
        """
        found = self._measure(geom1, geom2, distmax, envs_idx, False)
        return Distances(found.dist.to(self.dtype), found.fromto.to(self.dtype))

    def overlap(self, geom1: Any, geom2: Any, margin: float = 0.0, envs_idx: Any = None) -> torch.Tensor:
        """Return True for pairs of geoms no farther apart than `margin`, (n, npairs) bool: quicker than `distance`.

        Arguments and errors are those of `distance`.
        """
        margin = as_real("margin", margin)
        beyond = max(math.nextafter(margin, math.inf), margin + _LEAST)
        return self._measure(geom1, geom2, beyond, envs_idx, margin >= 0.0).dist <= margin

    def _measure(self, geom1: Any, geom2: Any, distmax: float, envs_idx: Any, sign: bool) -> Distances:
        distmax = as_real("distmax", distmax)
        self.runtime.require()
        pairs = geom_pairs(self.model, geom1, geom2)
        index = self._numbers.environments(envs_idx, self.num_envs)
        fields = self._driver.evaluate(SOURCES, index)
        own = {
            name: torch.from_numpy(self._overrides.get(name, on_host(index))).to(self.device)
            for name in OWN
            if name in self._overrides
        }
        if self._distances is None:
            self._distances = DistanceQuery(self.runtime, self.model, self.device)
        return self._distances.measure(pairs, fields, own, distmax, sign)
