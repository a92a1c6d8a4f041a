"""Rays that a task wants in its state: height scans around a body, rings around feet, distance sensors."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ..arrays import Array, ArrayKind

if TYPE_CHECKING:
    from ...physics.base.arguments import CheckedEnvs
    from ..simulators import Simulator

ALIGNMENTS = ("yaw", "frame", "world")
_OF_BODIES, _OF_SITES, _OF_GEOMS = ("xpos", "xmat"), ("site_xpos", "site_xmat"), ("geom_xpos", "geom_xmat")


def grid_points(size: tuple[float, float] = (1.6, 1.0), resolution: float = 0.1) -> np.ndarray:
    """Points of a centred grid in the plane z = 0, (k, 3) m, x fastest; by default 17 x 11.

    Args:
        size: lengths along x and y, m.
        resolution: distance of points, m.

    Raises:
        ValueError: the resolution is not above zero, or a length is below zero or not finite.
    """
    if not (resolution > 0.0 and all(0.0 <= length < np.inf for length in size)):
        raise ValueError(f"grid_points: size={size}, resolution={resolution}: they must be above zero, and finite")
    along = [(np.arange(n := round(length / resolution) + 1) - (n - 1) / 2) * resolution for length in size]
    x, y = np.meshgrid(*along)
    return np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], -1)


def ring_points(radius: float = 0.04, count: int = 4) -> np.ndarray:
    """Points of a circle in the plane z = 0, (count, 3) m, the first along x.

    Raises:
        ValueError: there are no rays, or the radius is not above zero.
    """
    if not (count >= 1 and 0.0 < radius < np.inf):
        raise ValueError(f"ring_points: radius={radius}, count={count}: they must be above zero, and finite")
    angle = 2.0 * np.pi * np.arange(count) / count
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], -1)


@dataclass(frozen=True, eq=False, kw_only=True)
class RayScan:
    """Rays that move with bodies or sites.

    `state.rays` has a distance for each point: from the point along its ray to the first surface, m. It is negative if
    the surface lies behind the point, and `reach` if the ray hits nothing. With the default direction, a distance d
    from a frame at height h means ground at h - d.

    Attributes:
        body: name of the body whose frame the rays move with, or several names.
        site: name of a site, or several names, instead of `body`.
        points: (k, 3), in the frame, m: `grid_points()`, `ring_points()` or your own.
        direction: of all rays, in the frame.
        align: "yaw": the rays turn only about the vertical, with the heading of the frame's x axis; "frame": they turn
            with the body or site; "world": they do not turn.
        above: rays begin this far before their points, m, so that they also hit ground above the points.
        reach: the longest distance, m.
        geoms: names or ids of the geoms that rays hit; None: all geoms that stand still.
    """

    body: str | Sequence[str] | None = None
    site: str | Sequence[str] | None = None
    points: Any = field(default_factory=grid_points)
    direction: tuple[float, float, float] = (0.0, 0.0, -1.0)
    align: str = "yaw"
    above: float = 20.0
    reach: float = 20.0
    geoms: Any = None


def poses_for(rays: Mapping[str, RayScan]) -> tuple[str, ...]:
    """Return the quantities that scans are made of, which every step is to deliver: else each scan evaluates them."""
    frames = (_OF_BODIES if getattr(scan, "site", None) is None else _OF_SITES for scan in rays.values())
    return tuple(dict.fromkeys(name for names in frames for name in (*names, *_OF_GEOMS)))


class Scanner:
    """Casts the rays of a scan in a solver's environments.

    Args:
        solver: the solver.
        name: of the scan, for messages.
        scan: the scan.
        kind: of arrays.

    Attributes:
        quantities: the names of positions and orientations of the scan's frames.
    """

    def __init__(self, solver: "Simulator", name: str, scan: RayScan, kind: ArrayKind) -> None:
        """Look up frames and geoms.

        Raises:
            TypeError: it is no `RayScan`.
            ValueError: a number or name is wrong; the message says which.
        """
        if not isinstance(scan, RayScan):
            raise TypeError(f"rays[{name!r}] is {scan!r}; needed is a RayScan")
        self._solver, self._scan, self._name, self._kind = solver, scan, f"rays[{name!r}]", kind
        if (scan.body is None) == (scan.site is None):
            raise ValueError(f"{self._name}: give the name of a body or of a site, not both")
        if scan.align not in ALIGNMENTS:
            raise ValueError(f"{self._name}: align={scan.align!r}: there is {', '.join(ALIGNMENTS)}")
        if not (scan.reach > 0.0 and scan.above >= 0.0):
            raise ValueError(f"{self._name}: reach={scan.reach} must be above zero and above={scan.above} not below")
        named = scan.site if scan.body is None else scan.body
        self._one = isinstance(named, str)
        self.quantities = _OF_BODIES if scan.site is None else _OF_SITES
        names: Sequence[str] = [named] if isinstance(named, str) else list(named or ())
        ids = [self._id("body" if scan.site is None else "site", each) for each in names]
        points, length = np.array(scan.points, float), np.linalg.norm(scan.direction)
        if points.ndim != 2 or points.shape[1] != 3 or not len(points) or not np.isfinite(points).all():
            raise ValueError(f"{self._name}: points have the shape {points.shape}; needed are finite numbers (k, 3)")
        if np.shape(scan.direction) != (3,) or not 0.0 < length < np.inf:
            raise ValueError(f"{self._name}: direction={scan.direction!r} must be three numbers that are not all 0")
        self._frames = kind.xp.asarray(ids, device=kind.device)
        self._points = kind.numbers(points)
        self._direction = kind.numbers(np.array(scan.direction)[None] / length)
        self._geoms = self._still() if scan.geoms is None else scan.geoms

    def distances(self, found: Mapping[str, Array], envs: "CheckedEnvs | None") -> Array:
        """Return the distances along the rays, (n, k), or (n, frames, k) of several frames, m.

        Args:
            found: `quantities` of n environments, by name.
            envs: those environments; None: all.
        """
        scan, kind, xp = self._scan, self._kind, self._kind.xp
        position, rotation = (found[name][:, self._frames] for name in self.quantities)
        turns = self._turns(rotation)
        points = position[:, :, None] + _turned(turns, self._points)
        along = xp.empty_like(points)
        along[:] = _turned(turns, self._direction)
        n, frames, k, _ = points.shape
        rays = (kind.to_tensor(xp.reshape(part, (n, -1, 3))) for part in (points - scan.above * along, along))
        hits = self._solver.queries.ray(*rays, geoms=self._geoms, envs_idx=envs)
        distance = kind.from_tensor(hits.distance) - scan.above
        beyond = (kind.from_tensor(hits.geom) < 0) | (distance > scan.reach)
        distance = xp.where(beyond, scan.reach, distance)
        return distance if self._one else xp.reshape(distance, (n, frames, k))

    def _turns(self, matrices: Array) -> Array:
        """Return how frames are turned, (n, frames, 9), as `align` says, where their matrices are these."""
        if self._scan.align == "frame":
            return matrices
        xp = self._kind.xp
        turns = xp.zeros_like(matrices)
        turns[..., 0] = turns[..., 4] = turns[..., 8] = 1.0
        if self._scan.align == "yaw":
            x, y = matrices[..., 0], matrices[..., 3]
            length = xp.sqrt(x * x + y * y)
            vertical = length < 1e-6
            length = xp.where(vertical, 1.0, length)
            turns[..., 0] = turns[..., 4] = xp.where(vertical, 1.0, x / length)
            turns[..., 3] = xp.where(vertical, 0.0, y / length)
            turns[..., 1] = -turns[..., 3]
        return turns

    def _id(self, kind: str, name: str) -> int:
        mj = self._solver.model.mj
        number = mujoco.mj_name2id(mj, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), name)
        if number < 0:
            known = [getattr(mj, kind)(i).name for i in range(getattr(mj, f"n{kind}"))]
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there is {', '.join(known)}"
            raise ValueError(f"{self._name}: the model has no {kind} {name!r}: {hint}")
        return number

    def _still(self) -> list[int]:
        mj = self._solver.model.mj
        still = np.flatnonzero(mj.body_weldid[mj.geom_bodyid] == 0).tolist()
        if not still:
            raise ValueError(f"{self._name}: no geom of the model stands still; say which `geoms` the rays meet")
        return still


def _turned(turns: Array, vectors: Array) -> Array:
    """Turn vectors (k, 3) by matrices (n, frames, 9): (n, frames, k, 3), added up in a fixed order."""
    x, y, z = (turns[..., None, i::3] * vectors[:, i, None] for i in range(3))
    return x + y + z
