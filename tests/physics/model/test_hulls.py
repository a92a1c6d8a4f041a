"""Corners of hulls' faces: those that MuJoCo puts contacts with a plane at."""

import mujoco
import numpy as np

from tumble.physics.model.hulls import Hulls

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
