"""Faults that people see in pictures: light lines along seams, specks, and floors burnt to white."""

import mujoco
import numpy as np
import pytest
import torch
import trimesh

from tumble.physics.machine.runtime import ensure_runtime
from tumble.physics.rendering import BatchRenderer, Camera, Look
from tumble.physics.rendering.rays.query import RayCaster

from ...models.meshes import attributes, box_with_hole, icosphere, mug, torus
from ..starts import run_with
from .test_against_mj_ray import mj_ray

RAYS = 4_000  # a mesh


def closed_meshes():
    """Twenty closed meshes, each with a point inside from which rays to its surface are cast."""
    made = [icosphere(n) for n in range(4)]
    made += [box_with_hole(0.5, 0.25, 0.3), torus(0.35, 0.12), torus(0.3, 0.05, 7, 5), mug()]
    kinds = trimesh.creation
    shapes = [kinds.box((1, 2, 0.1)), kinds.cylinder(0.3, 1.0, sections=7), kinds.cylinder(0.01, 2.0, sections=64)]
    shapes += [kinds.cone(0.4, 1.0, sections=12), kinds.capsule(0.5, 0.2, count=(8, 8)), kinds.uv_sphere(0.7, (9, 5))]
    shapes += [kinds.annulus(0.2, 0.4, 0.3, sections=9)]
    rng = np.random.default_rng(0)
    shapes += [trimesh.convex.convex_hull(rng.normal(size=(n, 3)) * scale) for n, scale in ((8, 1), (40, 0.1), (99, 3))]
    shapes += [trimesh.convex.convex_hull(rng.normal(size=(30, 3)) * (1, 1, w)) for w in (1e-2, 1e-3)]
    made += [(np.asarray(shape.vertices), np.asarray(shape.faces)) for shape in shapes]
    return made


def inner_points(vertices, faces, count):
    """Points within a closed mesh, just under the middles of its largest triangles."""
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normals, axis=1)
    largest = np.argsort(-area)[: min(count, len(area))]
    depth = 1e-3 * np.ptp(vertices, axis=0).min()
    return corners[largest].mean(axis=1) - depth * normals[largest] / area[largest, None]


def seams(vertices, faces, rng, count):
    """Vertices, and points on edges, where a ray could slip through between two triangles."""
    corners = vertices[faces]
    triangle, first = rng.integers(len(faces), size=count), rng.integers(3, size=count)
    share = np.where(rng.uniform(size=(count, 1)) < 0.3, 0.0, rng.uniform(size=(count, 1)))
    begin, end = corners[triangle, first], corners[triangle, (first + 1) % 3]
    return begin + share * (end - begin)


def cast_to_seams(precision):
    """The mesh that each ray meets first, (20, RAYS): the one around it, unless it gets out."""
    meshes, rng = closed_meshes(), np.random.default_rng(1)
    assets = "".join(f"<mesh name='m{i}' {attributes(mesh)} inertia='shell'/>" for i, mesh in enumerate(meshes))
    geoms = "".join(f"<geom type='mesh' mesh='m{i}' pos='{9 * i} 3 -5'/>" for i in range(len(meshes)))
    mj = mujoco.MjModel.from_xml_string(f"<mujoco><asset>{assets}</asset><worldbody>{geoms}</worldbody></mujoco>")
    data = mujoco.MjData(mj)
    mujoco.mj_kinematics(mj, data)
    starts, targets = [], []
    for i in range(len(meshes)):
        turn, place, first = data.geom_xmat[i].reshape(3, 3), data.geom_xpos[i], mj.mesh_vertadr[i]
        vertices = mj.mesh_vert[first : first + mj.mesh_vertnum[i]].astype(float)
        faces = mj.mesh_face[mj.mesh_faceadr[i] :][: mj.mesh_facenum[i]]
        inside = inner_points(vertices, faces, 50)
        starts.append(inside[rng.integers(len(inside), size=RAYS)] @ turn.T + place)
        targets.append(seams(vertices, faces, rng, RAYS) @ turn.T + place)
    dtype = {"32": torch.float32, "64": torch.float64}[precision]
    pnt = torch.as_tensor(np.concatenate(starts), dtype=dtype)[None]
    vec = torch.as_tensor(np.concatenate(targets), dtype=dtype)[None] - pnt
    poses = [torch.as_tensor(x, dtype=dtype)[None] for x in (data.geom_xpos, data.geom_xmat)]
    rays = RayCaster(ensure_runtime(), mj)
    return rays.cast(rays.choose(None, True, -1), poses, (pnt, vec), None, normals=False)[1].reshape(20, RAYS)


@pytest.mark.parametrize("precision", ["32", "64"])
def test_no_ray_slips_out_of_a_closed_mesh(precision):
    """From inside, 80,000 rays to vertices and edges of twenty meshes: each meets the mesh that it is in."""
    run_with(precision)
    met = cast_to_seams(precision)
    assert torch.equal(met, torch.arange(20, dtype=met.dtype)[:, None].expand(20, RAYS))


def shells(gap):
    """A white ball in the hollow of a dark one that has a gap about its middle, on a white floor."""
    vertices, faces = icosphere(4)
    closed = np.abs(vertices[faces][:, :, 2].mean(axis=1)) > gap
    return mujoco.MjModel.from_xml_string(f"""
    <mujoco><asset><mesh name="shell" {attributes((vertices, faces[closed]))} inertia="shell"/></asset>
    <worldbody><geom type="plane" size="5 5 1" pos="0 0 -1" rgba="1 1 1 1"/>
      <geom type="mesh" mesh="shell" rgba="0.2 0.05 0.05 1"/></worldbody></mujoco>""")


def test_gaps_of_a_mesh_show_its_inside(poses):
    """The inside is met as by mj_ray, and is dark: the white floor behind would be a light line along the seam."""
    source = poses(shells(0.04))
    camera = Camera(distance=5.0, azimuth=40, elevation=-12, lookat=(0, 0, 0), fovy=30)
    renderer = BatchRenderer(source.model, 96, 96, camera=camera)
    images = renderer.images(source)
    position, rotation = (x[0].double().numpy() for x in renderer.camera_poses(source))
    rays = renderer.rays().double().numpy() @ rotation.T
    middle = images.segmentation[0, 30:66, 30:66] == 1
    assert middle.all()
    for y, x in np.argwhere(np.ones((36, 36)))[::37] + 30:
        expected, geom = mj_ray(source.model.mj, source.data[0], position, rays[y, x])
        assert geom == 1 and abs(float(images.depth[0, y, x]) / expected - 1) < 1e-4
    assert images.rgb[0, 30:66, 30:66].max() < 140


def test_normals_that_a_mesh_smooths_do_not_shine(poses):
    """A box with one normal a corner: seen from the front its edges are no lighter than it is anywhere."""
    box = trimesh.creation.box((1, 1, 1))
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco><asset><mesh name="box" {attributes((box.vertices, box.faces))} smoothnormal="true"/>
      <material name="red" rgba="0.5 0.05 0.05 1" specular="1"/></asset>
    <worldbody><geom type="mesh" mesh="box" material="red" euler="0 0 45"/></worldbody></mujoco>""")
    source = poses(model)
    camera = Camera(distance=6.0, azimuth=90, elevation=-0.01, lookat=(0, 0, 0), fovy=16)
    look = Look(sun_rgb=(1.75, 1.62, 1.42), horizon_rgb=(0.84, 0.92, 1.0), zenith_rgb=(0.2, 0.42, 0.85))
    images = BatchRenderer(source.model, 128, 128, camera=camera, look=look).images(source)
    outside = (images.segmentation[0] != 0).float()
    whole = torch.nn.functional.max_pool2d(outside[None], 3, stride=1, padding=1)[0] == 0  # pixels without sky in them
    seen = images.rgb[0][whole].float()
    assert len(seen) > 2000 and seen[:, 2].max() < 110  # the sky in it would be blue


@pytest.mark.parametrize("elevation", [-25, -70])
def test_white_floors_are_not_burnt(elevation, poses):
    """In the sun a white floor and a white box on it keep their shapes: a sheen below white, faces apart."""
    model = mujoco.MjModel.from_xml_string("""
    <mujoco><worldbody><geom type="plane" size="0 0 1" rgba="1 1 1 1"/>
      <geom type="box" size="0.5 0.5 0.5" pos="0 0 0.5" euler="0 0 30" rgba="1 1 1 1"/></worldbody></mujoco>""")
    source = poses(model)
    camera = Camera(distance=6.0, azimuth=100, elevation=elevation, lookat=(0, 0, 0.3))
    images = BatchRenderer(source.model, 96, 96, camera=camera).images(source)
    colour, geom = images.rgb[0].float(), images.segmentation[0]
    assert colour.max() < 250 and colour[geom == 1].max() > 225
    tiles = colour[geom == 0].mean(dim=1)
    assert tiles.quantile(0.95) - tiles.quantile(0.4) > 4  # the checker, where the sun shines
    assert colour[geom == 1].mean(dim=1).std() > 8
