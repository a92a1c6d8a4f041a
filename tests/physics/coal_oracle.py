"""What coal says of pairs of convex shapes, and proofs that need nobody: gaps between planes across a direction.

No direction has a wider gap than the signed distance of two convex shapes, and one has just that. So a direction with a
gap proves shapes apart, and of two answers the one whose direction has the wider gap is nearer to the truth.
"""

from typing import NamedTuple

import coal
import mujoco
import numpy as np
import torch

from tumble.physics.base.rotations import quat_to_rows

RNG = np.random.default_rng(11)
TOLERANCE, ITERATIONS = 1e-10, 500


class Shape(NamedTuple):
    """A shape: MuJoCo's type and size (m), or a hull's corners (n, 3), in a file's frame and in the geom's."""

    kind: str
    size: tuple[float, ...] = ()
    given: np.ndarray | None = None
    corners: np.ndarray | None = None

    @property
    def asset(self) -> str:
        """A hull's mesh in MJCF, called by its number of corners."""
        if self.given is None:
            return ""
        return f'<mesh name="hull{len(self.given)}" vertex="{" ".join(map(str, self.given.ravel()))}"/>'

    @property
    def attributes(self) -> str:
        """Of a geom in MJCF."""
        if self.given is not None:
            return f'type="mesh" mesh="hull{len(self.given)}"'
        return f'type="{self.kind}" size="{" ".join(map(str, self.size))}"'

    def in_coal(self) -> "coal.ShapeBase":
        """The same in coal's words."""
        if self.corners is not None:
            points = coal.StdVec_Vec3s()
            for corner in self.corners:
                points.append(corner)
            return coal.ConvexBase.convexHull(points, True, "Qt")
        x = self.size
        if self.kind == "sphere":
            return coal.Sphere(x[0])
        if self.kind == "box":
            return coal.Box(2 * x[0], 2 * x[1], 2 * x[2])
        if self.kind == "ellipsoid":
            return coal.Ellipsoid(*x)
        return {"capsule": coal.Capsule, "cylinder": coal.Cylinder}[self.kind](x[0], 2 * x[1])

    def farthest(self, d: np.ndarray) -> np.ndarray:
        """How far the shape reaches along directions (n, 3) of its own frame, (n,)."""
        x = self.size
        if self.corners is not None:
            return (d @ self.corners.T).max(axis=1)
        if self.kind == "box":
            return np.abs(d) @ np.array(x)
        if self.kind == "ellipsoid":
            return np.linalg.norm(d * x, axis=1)
        length = np.abs(d[:, 2]) * (x[1] if len(x) > 1 else 0.0)
        return length + x[0] * (np.hypot(d[:, 0], d[:, 1]) if self.kind == "cylinder" else 1.0)


def round_hull(count: int) -> Shape:
    """As many points around an ellipsoid, all of them corners of their hull, whose frame MuJoCo chooses."""
    points = RNG.standard_normal((count, 3))
    points *= (0.1, 0.08, 0.06) / np.linalg.norm(points, axis=1)[:, None]
    shape = Shape("mesh", given=np.float32(points).astype(float))
    geom = f"<worldbody><geom {shape.attributes}/></worldbody>"
    mjm = mujoco.MjModel.from_xml_string(f"<mujoco><asset>{shape.asset}</asset>{geom}</mujoco>")
    return shape._replace(corners=mjm.mesh_vert.astype(float))


SHAPES = {
    "sphere": Shape("sphere", (0.07,)),
    "capsule": Shape("capsule", (0.04, 0.08)),
    "ellipsoid": Shape("ellipsoid", (0.05, 0.09, 0.07)),
    "cylinder": Shape("cylinder", (0.06, 0.08)),
    "box": Shape("box", (0.05, 0.07, 0.09)),
    "hull": round_hull(20),
    "finer hull": round_hull(60),
}
NAMES = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "hull")
PAIRS = [(a, "finer hull" if a == b == "hull" else b) for i, a in enumerate(NAMES) for b in NAMES[i:]]


class Poses(NamedTuple):
    """Where the second shape of a pair is, seen from the first: positions (n, 3), unit quaternions (n, 4)."""

    position: np.ndarray
    turn: np.ndarray


class Answers(NamedTuple):
    """Signed distances (n,) and directions (n, 3) from the first shape to the second."""

    dist: np.ndarray
    normal: np.ndarray


def rotations(turn: np.ndarray) -> np.ndarray:
    """Matrices (n, 3, 3)."""
    return quat_to_rows(torch.as_tensor(turn)).numpy().reshape(-1, 3, 3)


def ask_coal(pair: tuple[str, str], poses: Poses) -> Answers:
    """Coal's GJK and EPA, to the end; NaN where it has no answer, which it tells by the largest numbers there are."""
    first, second = (SHAPES[name].in_coal() for name in pair)
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = TOLERANCE
    request.gjk_max_iterations = request.epa_max_iterations = ITERATIONS
    still, dist, normal = coal.Transform3s.Identity(), np.zeros(len(poses.turn)), np.zeros((len(poses.turn), 3))
    for k, (position, turn) in enumerate(zip(poses.position, rotations(poses.turn), strict=True)):
        result.clear()
        coal.distance(first, still, second, coal.Transform3s(turn, position), request, result)
        dist[k], normal[k] = result.min_distance, result.normal
    lost = ~(np.abs(dist) < 1e3)
    dist[lost], normal[lost] = np.nan, np.nan
    return Answers(dist, normal)


def gap_along(pair: tuple[str, str], poses: Poses, direction: np.ndarray) -> np.ndarray:
    """How far apart the planes of both shapes across unit directions (n, 3) are, (n,); -inf where there is none."""
    first, second = (SHAPES[name] for name in pair)
    d = np.nan_to_num(direction)
    local = np.einsum("nij,ni->nj", rotations(poses.turn), d)
    gap = np.einsum("ni,ni->n", d, poses.position) - second.farthest(-local) - first.farthest(d)
    return np.where(np.abs(np.linalg.norm(d, axis=1) - 1) < 1e-6, gap, -np.inf)


def draw_poses(pair: tuple[str, str], count: int, seed: int) -> Poses:
    """Any orientation, or with sides parallel up to 0.1 rad; a third each about touching, near, and anywhere."""
    rng = np.random.default_rng(seed)
    turn = rng.standard_normal((count, 4))
    flat = rng.random(count) < 0.4
    quarter = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]])[rng.integers(4, size=count)]
    tilt = np.array([0, 1e-9, 1e-6, 1e-3, 1e-2, 0.1])[rng.integers(6, size=count)]
    turn[flat] = (quarter + tilt[:, None] * turn)[flat]
    turn /= np.linalg.norm(turn, axis=1)[:, None]
    poses = Poses(rng.standard_normal((count, 3)) * rng.choice([0.03, 0.08, 0.15], (count, 1)), turn)
    start, kind = ask_coal(pair, poses), rng.integers(3, size=count)
    small = 10.0 ** rng.uniform(-9, -3, count) * rng.choice([-1, 1], count)
    wanted = np.select([kind == 0, kind == 1], [small, rng.uniform(-0.01, 0.01, count)], start.dist)
    return Poses(poses.position + np.nan_to_num(start.normal * (wanted - start.dist)[:, None]), turn)
