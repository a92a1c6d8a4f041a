"""Meshes in pictures: mj_ray's geometry, surfaces as smooth as their normals, textures, shadows, trees of boxes."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.machine.runtime import ensure_runtime
from tumble.physics.rendering import BatchRenderer, Camera, Look
from tumble.physics.rendering.cast import casting
from tumble.physics.rendering.cast.casting import shared_ray_kernels
from tumble.physics.rendering.cast.raycast import Has
from tumble.physics.rendering.rays.mesh_tree import MOST_IN_LEAF, box_tree

from ...models.meshes import attributes, box_with_hole, icosphere, torus
from .test_against_mj_ray import DEPTH_TOLERANCE, EDGE_BUDGET, beside, mj_ray

SIZE = {"width": 120, "height": 90}
BALL = attributes(icosphere(3))
SCENE = f"""
<mujoco>
  <asset>
    <mesh name="ball" {attributes(icosphere(2))} scale="0.3 0.3 0.3"/>
    <mesh name="ring" {attributes(torus(0.35, 0.12))}/>
    <mesh name="mirrored" {attributes(torus(0.3, 0.1, 7, 5))} scale="-1 1 1.5"/>
    <mesh name="frame" {attributes(box_with_hole(0.5, 0.25, 0.3))}/>
    <mesh name="wedge" vertex="0 0 0 0.5 0 0 0 0.3 0 0 0 0.4"/>
  </asset>
  <worldbody>
    <geom type="plane" size="3 3 1"/>
    <geom type="mesh" mesh="frame" pos="0 0.9 0.4" euler="70 10 15"/>
    <geom type="mesh" mesh="wedge" pos="0.5 -0.9 0.2"/>
    <geom type="mesh" mesh="ball" pos="0.7 0.4 0.9" group="3"/>
    <body pos="0 0 0.6"><freejoint/><geom type="mesh" mesh="ball"/></body>
    <body pos="-0.8 0.2 0.6"><freejoint/><geom type="mesh" mesh="ring"/></body>
    <body pos="0.9 0.1 0.5"><freejoint/><geom type="mesh" mesh="mirrored" group="2" contype="0" conaffinity="0"/></body>
    <body pos="-0.3 -0.8 0.5"><freejoint/><geom type="mesh" mesh="ball" rgba="1 1 1 0.4"/></body>
    <body pos="-0.6 -0.6 0.9"><freejoint/><geom type="box" size="0.1 0.2 0.1"/></body>
  </worldbody>
</mujoco>
"""


def look_at_every_pixel(source, camera):
    """Compare pictures whole with mj_ray; a pixel at an edge sees what a ray beside it does, at its distance.

    All geoms are seen but number 3, which is of a hidden group.
    """
    mj = source.model.mj
    renderer = BatchRenderer(source.model, **SIZE, camera=camera)
    images = renderer.images(source)
    position, rotation = (x.double().numpy() for x in renderer.camera_poses(source))
    wrong, seen = 0, set()
    for env, data in enumerate(source.data):
        rays = renderer.rays().double().numpy() @ rotation[env].T
        for y, x in np.ndindex(SIZE["height"], SIZE["width"]):
            expected, geom = mj_ray(mj, data, position[env], rays[y, x])
            found, depth = int(images.segmentation[env, y, x]), float(images.depth[env, y, x])
            seen.add(found)
            if found != geom or (geom >= 0 and abs(depth / expected - 1) > DEPTH_TOLERANCE):
                near = [mj_ray(mj, data, position[env], turned) for turned in beside(rays[y, x])]
                assert any(g == found and (g < 0 or abs(depth / t - 1) < DEPTH_TOLERANCE) for t, g in near), (env, y, x)
                wrong += 1
    assert wrong <= EDGE_BUDGET
    assert seen == {-1, *range(mj.ngeom)} - {3}, "a geom of a hidden group is seen, or another one never"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_pixel_sees_what_mj_ray_does(dtype, poses):
    """Both pictures whole: 21,600 rays; meshes are closed, so that only fronts can be seen."""
    source = poses(mujoco.MjModel.from_xml_string(SCENE), 2, dtype).scatter(seed=2, amount=0.4)
    camera = Camera(distance=3.0, azimuth=100, elevation=-25, lookat=(0, 0, 0.5))
    look_at_every_pixel(source, camera)


def balls(mesh):
    """A picture's model: a ball on the left, and its shadow on a floor; as a mesh or a sphere."""
    shape = 'type="mesh" mesh="ball"' if mesh else 'type="sphere" size="0.3"'
    return mujoco.MjModel.from_xml_string(f"""
    <mujoco><asset><mesh name="ball" {BALL} scale="0.3 0.3 0.3" smoothnormal="true"/>
      <material name="red" rgba="0.8 0.2 0.1 1" specular="0.9"/></asset>
    <worldbody><geom type="plane" size="5 5 1"/><geom {shape} pos="0 0 0.5" material="red"/></worldbody></mujoco>""")


def test_a_mesh_of_a_sphere_looks_like_a_sphere(poses):
    """1,280 triangles with smooth normals: shading, highlight, shadow on the floor and reflection in it."""
    camera = Camera(distance=1.5, azimuth=70, elevation=-30, lookat=(0, 0, 0.3))
    pictures = []
    for mesh in (False, True):
        source = poses(balls(mesh))
        pictures.append(BatchRenderer(source.model, **SIZE, camera=camera).images(source))
    sphere, smooth = pictures
    inside = (sphere.segmentation == 1) & (smooth.segmentation == 1)
    assert inside.sum() > 1000
    unlike = (sphere.rgb.float() - smooth.rgb.float()).abs()
    # of 255; at the rim, where light changes most, a triangle's blended normal is up to 0.1 rad off
    assert unlike[inside].mean() < 1.0 and unlike[inside].quantile(0.99) < 10
    assert unlike[~inside].mean() < 0.6


def test_flat_normals_show_the_faces(poses):
    """Of an icosahedron: each face has one colour, where its corners have normals of their own."""
    vertices, faces = icosphere(0)
    own = " ".join(
        f"{x:g}" for x in np.repeat(np.cross(*np.diff(vertices[faces], axis=1).transpose(1, 0, 2)), 3, 0).ravel()
    )
    apart = attributes((vertices[faces].reshape(-1, 3), np.arange(60).reshape(-1, 3)))
    look = Look(occlusion=0.0)
    camera = Camera(distance=4.0, azimuth=70, elevation=-30, lookat=(0, 0, 0), fovy=40)
    counts = []
    for mesh in (f'{apart} normal="{own}"', attributes((vertices, faces)) + ' smoothnormal="true"'):
        xml = f"""<mujoco><asset><mesh name="m" {mesh}/><material name="dull" rgba="1 1 1 1" specular="0"/></asset>
        <worldbody><geom type="mesh" mesh="m" material="dull"/></worldbody></mujoco>"""
        source = poses(mujoco.MjModel.from_xml_string(xml))
        images = BatchRenderer(source.model, **SIZE, camera=camera, samples=1, look=look).images(source)
        counts.append(len(images.rgb[0][images.segmentation[0] == 0].unique(dim=0)))
    assert counts[0] <= 20 < 10 * 20 < counts[1]


def textured(coordinates, material):
    """A square tile 2 m wide with a texture of four colours: red, green in its first row, blue, white in the second."""
    spec = mujoco.MjSpec()
    spec.add_texture(
        name="four", type=mujoco.mjtTexture.mjTEXTURE_2D, width=2, height=2, nchannel=3,
        data=[255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255],
    )  # fmt: skip
    added = spec.add_material(name="m", **material)
    added.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "four"
    square = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [0, 0, -1]]
    faces = [[0, 1, 2], [0, 2, 3], [1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4]]
    mesh = spec.add_mesh(name="tile", uservert=np.ravel(square), userface=np.ravel(faces))
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    if coordinates:
        mesh.usertexcoord = np.ravel([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="tile", material="m")
    return spec.compile()


@pytest.mark.parametrize("coordinates", [True, False])
@pytest.mark.parametrize("repeat", [1, 2])
def test_textures_lie_as_in_mujoco(coordinates, repeat, poses):
    """By the mesh's coordinates its first row is at v = 0; projected, x and -y run from -0.5 to 0.5 over half its size.

    Middles of texels have the texel's colour, in any light with the ratio of channels that it has.
    """
    model = textured(coordinates, {"texrepeat": [repeat, repeat], "specular": 0.0})
    source = poses(model)
    position, turn = source.data[0].geom_xpos[0], source.data[0].geom_xmat[0].reshape(3, 3)
    camera = Camera(distance=4, azimuth=90, elevation=-89.99, lookat=(0, 0, 0), fovy=2.0, orthographic=True)
    rgb = BatchRenderer(source.model, 64, 64, camera=camera, samples=1).render(source)[0].float()
    colours = {(0, 0): (1, 0, 0), (1, 0): (0, 1, 0), (0, 1): (0, 0, 1), (1, 1): (1, 1, 1)}
    for i, j in np.ndindex(2 * repeat, 2 * repeat):
        u, v = (i + 0.5) / (2 * repeat), (j + 0.5) / (2 * repeat)  # of [0, 1]^2 over the tile
        place = np.array([2 * u - 1, 2 * v - 1])
        if coordinates:
            texel = i % 2, j % 2
        else:
            local = turn.T @ (np.array([*place, 0.0]) - position)
            s, t = 0.5 * repeat * local[:2] / model.geom_size[0, :2] * (1, -1) - 0.5
            if abs(2 * s % 1 - 0.5) > 0.1 or abs(2 * t % 1 - 0.5) > 0.1:
                continue  # not a middle of a texel
            texel = int(2 * s % 2), int(2 * t % 2)
        seen = rgb[round(31.5 - 32 * place[1]), round(31.5 + 32 * place[0])]
        wanted = torch.tensor(colours[texel], dtype=torch.float32)
        assert ((seen > 0.5 * seen.max()) == (wanted > 0)).all(), (i, j, seen)


def test_a_camera_in_a_mesh_looks_out_of_it(poses):
    xml = f"""
    <mujoco><asset><mesh name="ball" {attributes(icosphere(2))} scale="0.5 0.5 0.5"/></asset>
    <worldbody><geom type="mesh" mesh="ball"/><geom size="0.5" pos="0 3 0"/>
      <camera name="eyes" xyaxes="1 0 0 0 0 1"/></worldbody></mujoco>"""
    source = poses(mujoco.MjModel.from_xml_string(xml))
    assert set(BatchRenderer(source.model, 32, 32, camera="eyes").segmentation(source).unique().tolist()) == {-1, 1}


def test_models_without_meshes_have_a_kernel_without_them(poses, monkeypatch):
    """They neither compile nor run what meshes need; colours of meshes are in no row of theirs."""
    asked = []
    monkeypatch.setattr(casting, "shared_ray_kernels", lambda *given: asked.append(given) or shared_ray_kernels(*given))
    source, runtime = poses("primitives"), ensure_runtime()
    drawn = BatchRenderer(source.model, 16, 16)
    drawn.render(source)
    assert asked == [(runtime, Has())]
    assert shared_ray_kernels(runtime, Has())[1] is not shared_ray_kernels(runtime, Has(meshes=True))[1]
    assert len(drawn._scene._tables[torch.device("cpu")]["nodes"]) == 1  # as no table may be empty


@pytest.mark.parametrize("count", [1, 4, 5, 37, 1000])
def test_trees_hold_every_triangle_once(count):
    """Leaves as even as can be; each box holds its triangles, also where all triangles are one."""
    rng = np.random.default_rng(count)
    for triangles in (rng.normal(size=(count, 3, 3)), np.tile(rng.normal(size=(1, 3, 3)), (count, 1, 1))):
        order, boxes = box_tree(triangles.astype(np.float32))
        assert sorted(order) == list(range(count))
        leaves = (len(boxes) + 1) // 2
        assert leaves * MOST_IN_LEAF >= count and (leaves == 1 or leaves * MOST_IN_LEAF < 2 * count)
        for node in range(1, 2 * leaves):
            level = node.bit_length() - 1
            first, last = (((node - (1 << level) + k) * count) >> level for k in (0, 1))
            held = triangles[order[first:last]].reshape(-1, 3).astype(np.float32)
            assert last > first and (boxes[node - 1, :3] < held).all() and (held < boxes[node - 1, 3:]).all()
