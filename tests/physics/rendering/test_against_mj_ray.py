"""Depth and segmentation against MuJoCo's mj_ray."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.rendering import BatchRenderer, Camera

MODELS = (
    "primitives",
    "ant",
    "half_cheetah",
    "hopper",
    "humanoid",
    "inverted_double_pendulum",
    "inverted_pendulum",
    "pusher_v5",
    "reacher",
    "swimmer",
    "walker2d_v5",
)
PIXELS = 1000
DEPTH_TOLERANCE = 1e-4  # relative; float32 rounding of positions is 1e-7 of the distance, more where a ray grazes
EDGE = 2e-5  # radians: a pixel whose geom changes when its ray turns by this much sits on an edge
EDGE_BUDGET = 5  # of the 1,000 pixels may sit on an edge and fall to the other side

VISIBLE_GROUPS = np.array([1, 1, 1, 0, 0, 0], dtype=np.uint8)


def mj_ray(mj, data, position, ray):
    """Distance in units of the ray's length and geom id, (-1, -1) for the sky."""
    geom = np.zeros(1, dtype=np.int32)
    distance = mujoco.mj_ray(mj, data, position, ray, VISIBLE_GROUPS, 1, -1, geom)
    return distance, int(geom[0])


def beside(ray):
    """Rays turned a little to eight sides."""
    across = np.cross(ray, [0.3, 0.5, 0.8])
    across /= np.linalg.norm(across)
    upward = np.cross(ray, across)
    for angle in np.arange(8) * np.pi / 4:
        yield ray + EDGE * np.linalg.norm(ray) * (np.cos(angle) * across + np.sin(angle) * upward)


def cameras(mj, rng):
    """Three free cameras around the model's middle, outside everything that moves."""
    for _ in range(3):
        yield Camera(
            distance=rng.uniform(2.5, 5.0),
            azimuth=rng.uniform(0, 360),
            elevation=rng.uniform(-60, -5),
            lookat=rng.normal([0.0, 0.0, 0.7], 0.2),
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", MODELS)
def test_depth_and_segmentation(name, dtype, poses):
    rng = np.random.default_rng(MODELS.index(name))
    source = poses(name, 4, dtype).scatter(seed=5)
    mj = source.model.mj
    compared, on_edge, bodies_seen = 0, [], set()
    for camera in cameras(mj, rng):
        renderer = BatchRenderer(source.model, 160, 120, camera=camera)
        depth, segmentation = renderer.depth(source).double(), renderer.segmentation(source)
        position, rotation = renderer.camera_poses(source)
        rays = torch.einsum("nij,hwj->nhwi", rotation.double(), renderer.rays().double()).numpy()
        for _ in range(PIXELS // 3 + 1):
            env, y, x = rng.integers(4), rng.integers(120), rng.integers(160)
            data, eye, ray = source.data[env], position[env].double().numpy(), rays[env, y, x]
            expected, geom = mj_ray(mj, data, eye, ray)
            found = int(segmentation[env, y, x])
            compared += 1
            bodies_seen.add(geom)
            if geom >= 0 and found >= 0 and abs(float(depth[env, y, x]) / expected - 1) < DEPTH_TOLERANCE:
                assert found == geom or coincide(mj, data, eye, ray, expected, found), (name, env, y, x)
            elif geom < 0 and found < 0:
                assert torch.isinf(depth[env, y, x])
            else:
                around = {mj_ray(mj, data, eye, turned)[1] for turned in beside(ray)}
                assert found in around, (name, env, y, x, found, geom, float(depth[env, y, x]), expected)
                on_edge.append((env, y, x))
    assert compared >= PIXELS
    assert len(on_edge) <= EDGE_BUDGET, on_edge
    assert len(bodies_seen - {-1}) >= 2, "the pictures show too little to prove anything"


def coincide(mj, data, eye, ray, distance, found):
    """Whether the geom found instead is as near as the one expected: two surfaces in one place, as at a joint."""
    pos, mat = data.geom_xpos[found], data.geom_xmat[found]
    other = mujoco.mju_rayGeom(pos, mat, mj.geom_size[found], eye, ray, int(mj.geom_type[found]))
    return abs(other / distance - 1) < DEPTH_TOLERANCE


def test_random_primitives(poses):
    """Every kind of geom, long and flat ones too, at random poses and seen from nearby and from afar."""
    rng = np.random.default_rng(7)
    kinds = ("sphere", "capsule", "cylinder", "ellipsoid", "box")
    geoms = []
    for i in range(60):
        size = " ".join(f"{v:.4f}" for v in np.exp(rng.uniform(np.log(0.02), np.log(0.6), 3)))
        place = " ".join(f"{v:.4f}" for v in rng.uniform(-3, 3, 3))
        turn = " ".join(f"{v:.4f}" for v in rng.normal(size=4))
        geoms.append(f'<geom type="{kinds[i % 5]}" size="{size}" pos="{place}" quat="{turn}"/>')
    xml = f"<mujoco><worldbody>{''.join(geoms)}</worldbody></mujoco>"
    source = poses(mujoco.MjModel.from_xml_string(xml))
    mj, data = source.model.mj, source.data[0]
    wrong, seen = [], set()
    for distance in (6.0, 60.0):
        camera = Camera(distance=distance, azimuth=30, elevation=-20, lookat=(0, 0, 0), fovy=50 * 6 / distance)
        renderer = BatchRenderer(source.model, 200, 200, camera=camera)
        images = renderer.images(source)
        position, rotation = (x[0].double().numpy() for x in renderer.camera_poses(source))
        rays = renderer.rays().double().numpy() @ rotation.T
        for y, x in rng.integers(200, size=(2000, 2)):
            expected, geom = mj_ray(mj, data, position, rays[y, x])
            found = int(images.segmentation[0, y, x])
            seen.add(geom)
            if found != geom or (geom >= 0 and abs(float(images.depth[0, y, x]) / expected - 1) > DEPTH_TOLERANCE):
                around = {mj_ray(mj, data, position, turned)[1] for turned in beside(rays[y, x])}
                assert found in around, (distance, y, x, found, geom)
                wrong.append((distance, y, x))
    assert len(wrong) <= 4 * EDGE_BUDGET, wrong
    kinds_seen = [int(mj.geom_type[g]) for g in seen if g >= 0]
    assert all(kinds_seen.count(kind) >= 5 for kind in set(mj.geom_type.tolist())), kinds_seen
