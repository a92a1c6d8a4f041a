"""Corners of hulls' faces, those that MuJoCo puts contacts with a plane at, and ways to the farthest vertex."""

import sys

import mujoco
import numpy as np

from tumble.physics.model.tables.hulls import Hulls, large_quadrilaterals

DOWN = 1e-3  # metres by which the whole face is below the plane


def prism(corners: int, rng: np.random.Generator) -> np.ndarray:
    """Vertices (2 corners, 3) of a prism whose ends are irregular convex polygons: points on an ellipse."""
    angle = (np.arange(corners) + rng.uniform(0, 0.8, corners)) * 2 * np.pi / corners
    end = np.stack([0.1 * np.cos(angle), 0.06 * np.sin(angle)], axis=1)
    return np.concatenate([np.column_stack([end, np.full(corners, z)]) for z in (-0.03, 0.03)])


def above_a_plane(points: np.ndarray) -> mujoco.MjModel:
    """A free hull of these points, and a plane."""
    spec = mujoco.MjSpec()
    spec.add_mesh(name="hull", uservert=points.ravel().tolist())
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1], margin=2 * DOWN)
    body = spec.worldbody.add_body()
    body.add_freejoint()
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="hull")
    return spec.compile()


def lowest_and_corners(mjm: mujoco.MjModel, axes: np.ndarray) -> tuple[int, set[int]]:
    """The lowest vertex of a hull turned by `axes`, and the corners that follow it on the face that looks down most."""
    hulls = Hulls()
    hulls.add(mjm, 0)
    lowest = int((hulls.points[0] @ axes[2]).argmin())
    at = hulls.corner_start[lowest]
    around = range(at, at + hulls.corner_count[lowest])
    corner = min(around, key=lambda c: axes[2] @ hulls.normals[c])
    return lowest, {v for v in hulls.following[corner] if v >= 0}


def test_faces_with_many_corners_touch_a_plane_at_those_that_mujoco_takes():
    rng, tested = np.random.default_rng(0), 0
    for corners in (5, 6, 7, 9, 12) * 4:
        mjm = above_a_plane(prism(corners, rng))
        data = mujoco.MjData(mjm)
        for _ in range(5):
            data.qpos[3:] = [1, *(0.001 * rng.standard_normal(3))]
            data.qpos[2] = 0
            mujoco.mj_kinematics(mjm, data)
            axes = data.geom_xmat[1].reshape(3, 3)
            points = mjm.mesh_vert @ axes.T + data.geom_xpos[1]
            data.qpos[2] = -DOWN - points[:, 2].min()
            mujoco.mj_forward(mjm, data)
            points = mjm.mesh_vert @ axes.T + data.geom_xpos[1]
            theirs = {int(np.linalg.norm(points[:, :2] - c.pos[:2], axis=1).argmin()) for c in data.contact}
            lowest, others = lowest_and_corners(mjm, axes)
            assert theirs == {lowest} | others, f"a prism of {corners} corners"
            tested += len(theirs) == 4
    assert tested == 100


def bulging_box(rng: np.random.Generator) -> np.ndarray:
    """Vertices of a box with points all over its sides, which bulge so little that MuJoCo joins them to few faces."""
    points = rng.uniform(-1, 1, (600, 3))
    side = np.abs(points).argmax(axis=1)
    points /= np.abs(points).max(axis=1)[:, None]
    points[np.arange(600), side] += np.sign(points[np.arange(600), side]) * 1e-4 * (2 - (points**2).sum(axis=1) / 2)
    return points * [0.1, 0.08, 0.05]


def test_from_every_vertex_a_way_goes_up_to_the_farthest_one():
    """In a direction only the farthest vertex has no higher neighbour, also where faces are flat but for rounding."""
    rng = np.random.default_rng(0)
    mjm, hulls = above_a_plane(bulging_box(rng)), Hulls()
    hulls.add(mjm, 0)
    vertices = hulls.points[0]
    in_faces = {v for face in hulls.faces for v in face}
    assert len(vertices) > len(in_faces)  # some are within faces
    heights = rng.standard_normal((2000, 3)) @ vertices.T
    highest_neighbour = np.stack([heights[:, way].max(axis=1) for way in hulls.ways], axis=1)
    assert ((highest_neighbour < heights).sum(axis=1) == 1).all()


def large_quadrilateral(polygon: np.ndarray) -> list[int]:
    """The same as `large_quadrilaterals`, for the first corner of one polygon (n, 3), one move after the other."""
    n = len(polygon)

    def area(second: int, third: int, fourth: int) -> float:
        diagonals = np.cross(polygon[third] - polygon[0], polygon[fourth] - polygon[second])
        return float(np.linalg.norm(diagonals))

    b, c, d = 1, 2, 3 if n > 3 else -1
    while 2 < d < n - 1 and area(b, c, d + 1) > area(b, c, d):
        d += 1
        while c + 1 < d and area(b, c + 1, d) > area(b, c, d):
            c += 1
        while b + 1 < c and area(b + 1, c, d) > area(b, c, d):
            b += 1
    return [b, c, d]


def polygons_in_space(rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """Vertices and convex polygons of 3 to 30 corners: irregular ones, and regular ones whose areas tie."""
    vertices, polygons = [], []
    for corners in [*range(3, 31), *range(3, 31, 3)]:
        noise = rng.uniform(0, 0.8, corners) if len(polygons) < 28 else 0.0
        angle = (np.arange(corners) + noise) * 2 * np.pi / corners
        flat = np.stack([0.1 * np.cos(angle), rng.choice([0.06, 0.1]) * np.sin(angle), np.zeros(corners)], axis=1)
        axes = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        polygons.append(rng.permutation(corners) + len(vertices))
        placed = np.empty((corners, 3))
        placed[polygons[-1] - len(vertices)] = flat @ axes
        vertices.extend(placed)
    return np.array(vertices), polygons


def test_all_quadrilaterals_at_once_are_those_found_one_after_the_other():
    points, polygons = polygons_in_space(np.random.default_rng(0))
    expected = []
    for polygon in polygons:
        for first in range(len(polygon)):
            seen = np.roll(polygon, -first)
            expected.append([seen[k] if k > 0 else -1 for k in large_quadrilateral(points[seen])])
    np.testing.assert_array_equal(large_quadrilaterals(points, polygons), expected)
    assert large_quadrilaterals(points, []).shape == (0, 3)


def calls_to_add(corners: int) -> int:
    """How many functions are called while the hull of a prism is added."""
    mjm, hulls = above_a_plane(prism(corners, np.random.default_rng(0))), Hulls()
    count = 0

    def counting(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        hulls.add(mjm, 0)
    finally:
        sys.setprofile(None)
    assert max(map(len, hulls.faces)) == corners
    return count


def test_the_work_for_a_large_face_grows_with_its_corners_not_with_their_square():
    few, many = calls_to_add(60), calls_to_add(240)
    assert many < 6 * few
    assert many < 200 * 240
