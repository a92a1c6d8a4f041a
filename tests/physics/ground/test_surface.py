"""Contacts with the surface of a rough field, against exact distances from its triangles."""

import mujoco
import numpy as np
import pytest
import torch
import trimesh

from tumble.physics import Model, RigidSolver

from ..starts import run_with
from .fields import SOLIDS, add_solid, heights_at, nearest_on, random_poses, rough, surface, with_field

EXACT = 1e-7
"""m: trimesh's own error in millimetres; ours is rounding."""
DEEPEST, MOST = 0.02, 6
"""m: depth up to which poses are compared; contacts of a pair."""
SHAPE, CELL, HEIGHT, WIDE = (19, 23), 0.07, 0.06, 0.4


def found_in(kind: str, poses: np.ndarray, **options: object) -> list[dict[str, np.ndarray]]:
    """Return the contacts of a solid in poses (n, 7) on a rough field that is not moved."""
    run_with("64")
    spec = with_field(rough(*SHAPE, HEIGHT), CELL)
    add_solid(spec, kind)
    solver = RigidSolver(Model.from_mjmodel(spec.compile(), **options), len(poses))
    solver.set_state(qpos=torch.from_numpy(poses))
    solver.forward()
    found = [solver.inspect(env) for env in range(len(poses))]
    return [
        {
            "dist": np.ravel(one["contact_dist"]),
            "pos": np.reshape(one["contact_pos"], (-1, 3)),
            "normal": np.reshape(one["contact_frame"], (-1, 9))[:, :3],
        }
        for one in found
    ]


@pytest.fixture(scope="module")
def land():
    """The surface, in the world: its lowest height is z = 0 in the frame of the field."""
    mjm = with_field(rough(*SHAPE, HEIGHT), CELL).compile()
    mesh = surface(mjm)
    mesh.vertices += mjm.geom_pos[0]
    return mesh


def poses_of(count: int, low: float, high: float, seed: int = 0) -> np.ndarray:
    return random_poses(np.random.default_rng(seed), count, WIDE, low, high)


def on_surface(land, contacts: dict[str, np.ndarray]) -> None:
    """Check that the point of the ground of each contact is on it, that normals are units that point up.

    The point of the plane of a triangle that is nearest to a corner may be beside the triangle, by less than the depth.
    """
    at = contacts["pos"] - 0.5 * contacts["normal"] * contacts["dist"][:, None]
    np.testing.assert_array_less(nearest_on(land, at)[0], EXACT + np.maximum(-contacts["dist"], 0.0))
    np.testing.assert_allclose(np.linalg.norm(contacts["normal"], axis=1), 1, atol=1e-12)
    assert (contacts["normal"][:, 2] > 0).all()
    assert len(at) <= MOST


def test_a_sphere_is_as_deep_as_its_centre_is_near(land):
    radius = SOLIDS["sphere"][1][0]
    poses = poses_of(150, 0.0, HEIGHT + 1.2 * radius)
    distance, nearest = nearest_on(land, poses[:, :3])
    over = poses[:, 2] > heights_at(land, poses[:, :3], SHAPE)
    touching = 0
    for contacts, dist, near, above, pose in zip(
        found_in("sphere", poses), distance, nearest, over, poses, strict=True
    ):
        if not above:  # deep: out along the normal of a triangle, by at least most of the way
            assert len(contacts["dist"]) == 1 and contacts["dist"][0] <= -radius - 0.7 * dist
            continue
        if dist > radius:
            assert not len(contacts["dist"])
            continue
        touching += 1
        deepest = contacts["dist"].argmin()
        np.testing.assert_allclose(contacts["dist"][deepest], dist - radius, atol=EXACT)
        np.testing.assert_allclose(contacts["normal"][deepest], (pose[:3] - near) / dist, atol=EXACT / dist + 1e-6)
        on_surface(land, contacts)
    assert touching > 30


def test_a_capsule_is_as_deep_as_its_axis_is_near(land):
    radius, half = SOLIDS["capsule"][1][:2]
    poses = poses_of(60, HEIGHT * 0.8, HEIGHT + 2 * radius, seed=1)
    axes = np.array([rotation(pose[3:])[:, 2] for pose in poses])
    shares = np.linspace(-1, 1, 161)
    touching = 0
    for contacts, pose, axis in zip(found_in("capsule", poses), poses, axes, strict=True):
        points = pose[:3] + half * shares[:, None] * axis
        if (points[:, 2] < heights_at(land, points, SHAPE)).any():
            continue  # the axis is below the surface
        least = nearest_on(land, points)[0].min() - radius
        if least > 0.0005:  # samples of the axis are a millimetre apart
            assert not len(contacts["dist"])
        elif least < -0.0005:
            touching += 1
            np.testing.assert_allclose(contacts["dist"].min(), least, atol=3e-4)
            on_surface(land, contacts)
    assert touching > 15


@pytest.mark.parametrize("kind", ["ellipsoid", "cylinder", "box", "mesh"])
def test_a_solid_touches_if_and_only_if_it_overlaps(land, kind):
    """Points of its surface below the ground by more than a cell's sampling error, or none at all."""
    poses = poses_of(120, HEIGHT * 0.7, HEIGHT + 0.1, seed=2)
    samples = points_on(kind)
    touching = 0
    for env, (contacts, pose) in enumerate(zip(found_in(kind, poses), poses, strict=True)):
        points = pose[:3] + samples @ rotation(pose[3:]).T
        depth = (heights_at(land, points, SHAPE) - points[:, 2]).max()
        if depth > 0.002:
            assert len(contacts["dist"]) and contacts["dist"].min() < 0, (env, depth)
            touching += 1
        elif depth < -0.004:
            assert not len(contacts["dist"]), (env, depth, contacts["dist"])
        on_surface(land, contacts)
    assert touching > 40


@pytest.mark.parametrize("kind", list(SOLIDS))
def test_pushed_out_along_its_contacts_a_solid_touches_less(kind):
    """Raised by the greatest depth over the steepest normal's height, a solid is free or nearly so."""
    poses = poses_of(80, HEIGHT * 0.9, HEIGHT + 0.1, seed=3)
    before = found_in(kind, poses)
    raised = poses.copy()
    for contacts, pose in zip(before, raised, strict=True):
        if len(contacts["dist"]):
            pose[2] += (-contacts["dist"] / contacts["normal"][:, 2]).max() + EXACT
    after = found_in(kind, raised)
    deep = [(-a["dist"].min(initial=0), -b["dist"].min(initial=0)) for a, b in zip(before, after, strict=True)]
    shallow = [(one, other) for one, other in deep if 0 < one < DEEPEST]
    assert len(shallow) > 5
    assert np.median([other / one for one, other in shallow]) == 0.0
    assert np.mean([other < 0.6 * one for one, other in shallow]) > 0.95, shallow


def rotation(quat: np.ndarray) -> np.ndarray:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quat)
    return matrix.reshape(3, 3)


def points_on(kind: str) -> np.ndarray:
    """Return points (n, 3) all over the surface of a solid, at most 2 mm apart where it has corners."""
    spec = mujoco.MjSpec()
    add_solid(spec, kind)
    mjm = spec.compile()
    if kind == "mesh":
        hull = trimesh.Trimesh(mjm.mesh_vert, mjm.mesh_face, process=False)
    else:
        size = mjm.geom_size[0]
        hull = {
            "ellipsoid": lambda: trimesh.creation.icosphere(5).apply_scale(size),
            "cylinder": lambda: trimesh.creation.cylinder(size[0], 2 * size[1], sections=256),
            "box": lambda: trimesh.creation.box(2 * size),
        }[kind]()
    vertices, _ = trimesh.remesh.subdivide_to_size(hull.vertices, hull.faces, 0.006)
    return mjm.geom_pos[0] + vertices @ rotation(mjm.geom_quat[0]).T
