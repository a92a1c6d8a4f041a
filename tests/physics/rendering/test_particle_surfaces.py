"""Surfaces of liquids: marching cubes beside trimesh's volumes, areas and closedness, and pictures of them."""

import mujoco
import numpy as np
import pytest
import torch
import trimesh

from tumble.physics.rendering import BatchRenderer, Camera, Look, ParticleGroup, PathTracer, WithParticles
from tumble.physics.rendering.particles.cubes import table, triangles_of
from tumble.physics.rendering.particles.surface import surface

from .conftest import MujocoPoses

CAMERA = Camera(distance=1.6, azimuth=70, elevation=-25, lookat=(0, 0, 0.3))
RADIUS = 0.02
DEVICE = torch.device("cpu")


def solid(corners, scale=1.0):
    """The mesh of trimesh of triangles (t, 3, 3), whose corners in one place are one vertex."""
    mesh = trimesh.Trimesh(
        scale * corners.reshape(-1, 3).double().numpy(), np.arange(3 * len(corners)).reshape(-1, 3), process=False
    )
    mesh.merge_vertices(digits_vertex=7)
    return mesh


def nodes(size):
    return torch.stack(torch.meshgrid(*[torch.arange(size, dtype=torch.float64)] * 3, indexing="ij"), dim=-1)


def test_a_ball_has_its_volume_area_and_normals():
    """Of 12.4 cells radius; a polyhedron in a ball of n cells has 1 - O(1 / n^2) of it, here within half a per cent."""
    centre, radius = torch.tensor([19.3, 20.1, 19.7], dtype=torch.float64), 12.4
    corners, normals, inside = triangles_of((nodes(40) - centre).norm(dim=-1) - radius)
    mesh = solid(corners)
    assert mesh.is_watertight and mesh.is_winding_consistent and mesh.euler_number == 2
    assert mesh.volume == pytest.approx(4 / 3 * np.pi * radius**3, rel=5e-3)
    assert mesh.area == pytest.approx(4 * np.pi * radius**2, rel=5e-3)
    outward = torch.nn.functional.normalize(corners - centre, dim=-1)
    assert (torch.nn.functional.normalize(normals, dim=-1) * outward).sum(dim=-1).min() > 0.999
    at = torch.stack(torch.unravel_index(inside, (40, 40, 40)), dim=-1)
    assert ((at - centre).norm(dim=-1) < radius).all() and ((at - corners[:, 0]).norm(dim=-1) <= 1).all()


@pytest.mark.parametrize("values", ["numbers", "signs"])
def test_surfaces_of_noise_are_closed(values):
    """All 256 cases beside each other, with all kinds of faces; of signs all corners are in the middle of edges."""
    field = torch.randn(24, 24, 24, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for axis in range(3):
        field.index_fill_(axis, torch.tensor([0, 23]), 1.0)
    mesh = solid(triangles_of(field.sign() if values == "signs" else field)[0])
    assert mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0
    inside = (field < 0).to(torch.uint8)
    parts = [inside[x : x + 23, y : y + 23, z : z + 23] << (x + 2 * y + 4 * z) for x, y, z in np.ndindex(2, 2, 2)]
    assert len(torch.stack(parts).sum(dim=0).unique()) == 256 == len(table())


def pool(envs=1, seed=0):
    """Particles that fill a box of 0.4 x 0.4 x 0.2 m, 1.8 radii apart, other ones in each environment."""
    rng, step = np.random.default_rng(seed), 1.8 * RADIUS
    axes = [np.arange(-0.2 + RADIUS, 0.2, step)] * 2 + [np.arange(0.2 + RADIUS, 0.4, step)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    places = places + rng.normal(0, 0.1 * RADIUS, (envs, *places.shape))
    return torch.as_tensor(places, dtype=torch.float32)


def liquid(centers, **more):
    return ParticleGroup(centers=centers, radius=RADIUS, as_surface=True, **more)


def made(group, env=0):
    """The corners of the triangles of an environment's surface, from the middle, and the middle."""
    found = surface(group, group.look.cell, 0, torch.float32, DEVICE)
    items = found.items[env]
    return items[(items != 0).any(dim=1)].unflatten(-1, (3, 3)), found.middle[env, 0]


def test_a_pool_is_closed_flat_and_as_large_as_its_particles():
    """Its volume is that of its particles, each of a cube of 1.8 radii, to 10 per cent: its edges are round."""
    corners, middle = made(liquid(pool()))
    mesh = solid(corners)
    assert mesh.is_watertight and mesh.is_winding_consistent and mesh.euler_number == 2
    assert mesh.volume == pytest.approx(pool().shape[1] * (1.8 * RADIUS) ** 3, rel=0.1)
    points = (corners + middle).reshape(-1, 3)
    top = points[(points[:, :2].abs() < 0.12).all(dim=1) & (points[:, 2] > 0.3), 2]
    assert len(top) > 100 and top.std() < 0.1 * RADIUS  # as the noise of the places


def test_a_drop_is_round():
    """Of a single particle the surface is a ball: that of its radius, to what the smoothing takes of so few cells."""
    corners, middle = made(liquid(torch.tensor([[[0.3, 0.1, 0.2]]]), cell=RADIUS / 6))
    distance = corners.norm(dim=-1)
    assert (middle - torch.tensor([0.3, 0.1, 0.2])).norm() < 0.02 * RADIUS
    assert distance.min() > 0.9 * RADIUS and distance.max() < 1.02 * RADIUS


def around(envs, groups):
    text = '<mujoco><worldbody><geom type="plane" size="3 3 1"/><geom size=".1" pos=".3 .2 .1"/></worldbody></mujoco>'
    return WithParticles(MujocoPoses(mujoco.MjModel.from_xml_string(text), envs), groups)


OUTPUTS = "rgb", "depth", "segmentation", "normals"


def test_a_picture_depends_on_its_environment_only():
    """Environment 3 of 4 and of 6, whose largest surface has more triangles; its grid and its order are its own."""
    centers = pool(6)
    centers[5] *= 1.2
    active = torch.ones(centers.shape[:2], dtype=torch.bool)
    active[2], active[4, 100:] = False, False
    found = []
    for envs in (4, 6):
        source = around(envs, [liquid(centers[:envs], active=active[:envs], rgba=(0.3, 0.6, 0.9, 1))])
        renderer = BatchRenderer(source.model, 64, 48, camera=CAMERA)
        found.append(renderer.draw(source, OUTPUTS))
    for name in OUTPUTS:
        assert torch.equal(found[0][name], found[1][name][:4]), name
    seen = (found[1]["segmentation"] == 2).flatten(1).sum(dim=1)
    assert seen[2] == 0 and (seen[[0, 1, 3, 4, 5]] > 0).all()


def test_pictures_are_those_of_the_mesh():
    """A geom of the same triangles, made by trimesh: depth and numbers, and colours but for normals, which are smooth.

    A mesh is compiled to be about its own middle, in double precision, so that its corners are others by rounding.
    """
    corners, middle = made(liquid(pool()))
    mesh = solid(corners + middle)
    vertices, faces = (" ".join(map(str, part.flatten())) for part in (mesh.vertices, mesh.faces))
    text = f"""<mujoco><asset><mesh name="pool" vertex="{vertices}" face="{faces}"/></asset><worldbody>
      <geom type="plane" size="3 3 1"/><geom size=".1" pos=".3 .2 .1"/>
      <geom type="mesh" mesh="pool" rgba=".3 .6 .9 1"/></worldbody></mujoco>"""
    expected = MujocoPoses(mujoco.MjModel.from_xml_string(text), 1)
    look = Look(occlusion=0.0)
    source = around(1, [liquid(pool(), rgba=(0.3, 0.6, 0.9, 1), roughness=0.5, specular=0.5)])
    one, other = (
        BatchRenderer(s.model, 120, 90, camera=CAMERA, look=look).draw(s, OUTPUTS) for s in (expected, source)
    )
    assert ((one["segmentation"] != other["segmentation"]).sum()) <= 4  # pixels at the edge
    same = (one["segmentation"] == 2) & (other["segmentation"] == 2)
    assert same.sum() > 400 and (one["depth"] - other["depth"])[same].abs().max() < 1e-4
    assert (one["normals"] - other["normals"])[same].abs().mean() < 1e-3  # the true ones


def test_light_passes_through_water():
    """The ball behind a pool of water is red in the picture of paths; behind a pool of paint it is not seen."""
    ball = '<geom size=".3" pos="0 -.8 .3" rgba="1 0 0 1"/>'
    text = f'<mujoco><worldbody><geom type="plane" size="3 3 1"/>{ball}</worldbody></mujoco>'
    red = []
    for ior in (1.33, None):
        source = WithParticles(
            MujocoPoses(mujoco.MjModel.from_xml_string(text), 1),
            [liquid(pool(), rgba=(1, 1, 1, 1), roughness=0.0, ior=ior)],
        )
        camera = Camera(distance=1.6, azimuth=-90, elevation=0, lookat=(0, 0, 0.3))
        tracer = PathTracer(source.model, 40, 30, camera=camera, environment=(1, 1, 1), denoise=False)
        light = tracer.expose(source, samples=32).light[0, 12:18, 15:25].mean(dim=(0, 1))
        red.append(float(light[0] / light[1]))
    assert red[0] > 1.5 > 1.2 > red[1]


def test_a_grid_that_is_too_large_is_refused():
    far = torch.tensor([[[0.0, 0.0, 0.0], [900.0, 900.0, 900.0]]])
    with pytest.raises(ValueError, match=r"a surface in cells of 0.02 m has a grid of \d+ x \d+ x \d+ nodes"):
        surface(liquid(far), RADIUS, 0, torch.float32, DEVICE)


def test_spheres_and_surfaces_share_tables():
    """Rows of both kinds of groups begin where the tables of nodes, corners and trees say."""
    text = '<mujoco><worldbody><geom size=".1"/></worldbody></mujoco>'
    poses = MujocoPoses(mujoco.MjModel.from_xml_string(text), 2)
    water = liquid(pool(2), rgba=(0.2, 0.4, 0.9, 1))
    sand = ParticleGroup(centers=pool(2, seed=1) + torch.tensor([0.0, 0.5, 0.0]), radius=RADIUS)
    camera = Camera(distance=2.5, azimuth=0, elevation=-20, lookat=(0, 0.25, 0.3))
    renderer = BatchRenderer(poses.model, 128, 96, camera=camera)
    both = renderer.draw(WithParticles(poses, [water, sand, water]), ("segmentation", "depth"))
    for number, group in ((1, water), (2, sand)):
        one = renderer.draw(WithParticles(poses, [group]), ("segmentation", "depth"))
        seen = both["segmentation"] == number
        assert seen.sum() > 200 and torch.equal(both["depth"][seen], one["depth"][seen])
