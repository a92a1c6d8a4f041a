"""Fields in MuJoCo's models: its rays meet the heights that the field says, and its compiler keeps them."""

import imageio.v3 as iio
import mujoco
import numpy as np
import pytest
import trimesh

from tumble import terrain
from tumble.terrain import ROUGH_TERRAINS, SubTerrain, Terrain, TerrainGenerator


def compiled(field: Terrain, **options) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    field.add_to(spec, **options)
    return spec.compile()


def rays_down(model: mujoco.MjModel, xy: np.ndarray, from_z: float) -> np.ndarray:
    """The heights that MuJoCo's rays meet, (n,); NaN where they meet nothing."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    geom, found = np.zeros(1, np.int32), []
    for x, y in xy:
        away = mujoco.mj_ray(model, data, np.array([x, y, from_z]), np.array([0.0, 0.0, -1.0]), None, 1, -1, geom, None)
        found.append(from_z - away if geom[0] >= 0 else np.nan)
    return np.array(found)


def test_heights_between_points_are_those_that_rays_meet():
    rng = np.random.default_rng(0)
    field = Terrain.from_heights(rng.uniform(-0.5, 1.0, (17, 33)), size=(6.0, 4.0))
    xy = rng.uniform([-3.0, -2.0], [3.0, 2.0], (2000, 2))
    np.testing.assert_allclose(field.height_at(xy), rays_down(compiled(field), xy, 3.0), atol=3e-7)


def test_rays_meet_generated_ground():
    field = TerrainGenerator(
        sub_terrains={name: part for name, part in terrain.ALL_TERRAINS.sub_terrains.items()},
        size=(4.0, 4.0), num_rows=2, num_cols=26, border_width=1.0,
    ).generate()  # fmt: skip
    rng = np.random.default_rng(1)
    xy = rng.uniform(-0.5, 0.5, (2000, 2)) * field.size
    np.testing.assert_allclose(field.height_at(xy), rays_down(compiled(field), xy, 8.0), atol=2e-6)


def test_outside_of_the_field_there_is_no_height():
    field = Terrain.from_heights([[0.0, 1.0], [2.0, 3.0]], size=(2.0, 2.0))
    xy = np.array([[1.01, 0.0], [0.0, -1.01], [1.0, 1.0], [-1.0, -1.0], [np.nan, 0.0]])
    np.testing.assert_array_equal(field.height_at(xy), [np.nan, np.nan, 3.0, 0.0, np.nan])
    np.testing.assert_allclose(field.height_at(xy, clamp=True), [2.0, 0.5, 3.0, 0.0, np.nan])
    assert field.height_at([0.0, 0.0]).shape == () and field.height_at(np.zeros((4, 5, 2))).shape == (4, 5)


def test_the_compiler_keeps_heights_in_single_precision():
    for heights in (
        np.random.default_rng(2).normal(size=(9, 7)),
        np.full((3, 3), 0.7),
        ROUGH_TERRAINS.heights(9, 5) - 40.0,
    ):
        field = Terrain.from_heights(heights, horizontal_scale=0.1)
        model = compiled(field, base=0.5)
        spread = np.ptp(heights)
        back = model.geom_pos[0, 2] + model.hfield_size[0, 2] * model.hfield_data.reshape(heights.shape).astype(float)
        np.testing.assert_allclose(back, heights, atol=max(spread, 1e-30) * 2.0**-23)
        assert model.hfield_size[0, 3] == 0.5
        np.testing.assert_allclose(2 * model.hfield_size[0, :2], np.array(heights.shape[::-1]) * 0.1 - 0.1)


def test_the_geom_is_static_and_has_what_was_asked_for():
    field = Terrain.from_heights(np.random.default_rng(0).normal(size=(5, 5)), size=(2.0, 2.0))
    model = compiled(field, name="moon", friction=0.7, condim=6, solref=[0.01, 1.0])
    assert model.geom("moon").bodyid[0] == 0 and model.geom_condim[0] == 6 and model.hfield("moon").id == 0
    np.testing.assert_allclose(model.geom_friction[0], [0.7, 0.005, 0.0001])
    np.testing.assert_allclose(compiled(field, friction=(0.5, 0.1, 0.2)).geom_friction[0], [0.5, 0.1, 0.2])
    np.testing.assert_allclose(compiled(field).geom_friction[0], [1.0, 0.005, 0.0001])


def test_colours_become_a_texture_of_the_geom():
    field = TerrainGenerator(
        sub_terrains={"a": SubTerrain("wave"), "b": SubTerrain("flat")}, num_rows=2, num_cols=2, color_scheme="random"
    ).generate()
    model = compiled(field)
    assert (model.ntex, model.nmat, model.geom_matid[0]) == (1, 1, 0)
    picture = model.tex_data.reshape(model.tex_height[0], model.tex_width[0], 3)
    np.testing.assert_array_equal(picture, field.colors[::-1])  # the first row lies at the largest y
    role = mujoco.mjtTextureRole.mjTEXROLE_RGB
    assert model.mat_texid[0, role] == 0
    large = ROUGH_TERRAINS.generate()
    assert compiled(large).ntex == 0


def test_two_fields_have_two_names():
    spec = mujoco.MjSpec()
    field = Terrain.from_heights(np.zeros((2, 2)), size=(1.0, 1.0))
    field.add_to(spec)
    field.add_to(spec, name="other")
    with pytest.raises(ValueError, match=r"name='other': .*choose another"):
        field.add_to(spec, name="other")
    assert spec.compile().nhfield == 2


def test_images_keep_their_sixteen_bits_and_lie_as_they_are_seen(tmp_path):
    grey = np.random.default_rng(0).integers(0, 2**16, (20, 30)).astype(np.uint16)
    iio.imwrite(tmp_path / "ground.png", grey)
    field = Terrain.from_image(tmp_path / "ground.png", size=(29.0, 19.0), height_range=(-1.0, 3.0))
    np.testing.assert_allclose(field.heights, (-1.0 + 4.0 * grey / 65535)[::-1], atol=1e-12)
    assert field.kinds.tolist() == [["ground"]]
    colour = np.stack([grey >> 8] * 3, -1).astype(np.uint8)
    iio.imwrite(tmp_path / "colour.png", colour)
    np.testing.assert_allclose(
        Terrain.from_image(tmp_path / "colour.png", size=(1, 1)).heights, (grey >> 8)[::-1] / 255
    )
    part = SubTerrain("image", path=tmp_path / "ground.png", height_range=terrain.Ramp((0.0, 0.0), (0.0, 1.0)))
    np.testing.assert_allclose(part.heights((2.9, 1.9), 0.1, 0, 1.0), grey[::-1] / 65535, atol=1e-12)
    assert part.heights((1.0, 1.0), 0.5, 0, 0.5).shape == (3, 3)


def test_meshes_give_their_highest_surface(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=4, radius=1.0)
    ball.apply_translation([5.0, 2.0, 1.0])
    ball.export(tmp_path / "ball.stl")
    field = Terrain.from_mesh(tmp_path / "ball.stl", horizontal_scale=0.05)
    xy = np.random.default_rng(0).uniform(-0.65, 0.65, (500, 2))
    np.testing.assert_allclose(field.height_at(xy), 1.0 + np.sqrt(1.0 - (xy**2).sum(-1)), atol=0.01)
    assert field.heights[0, 0] == pytest.approx(0.0, abs=1e-6) and field.kinds.tolist() == [["ball"]]
    hills = trimesh.util.concatenate([trimesh.creation.box((4, 1, 4)), trimesh.creation.box((1, 3, 1))])
    upright = Terrain.from_mesh(hills, horizontal_scale=0.1, up="y", outside=-9.0)
    assert upright.heights.shape == (41, 41) and upright.height_at([0.0, 0.0]) == pytest.approx(1.5)
    assert upright.height_at([1.5, 1.5]) == pytest.approx(0.5)
    part = SubTerrain("mesh", path=ball, outside=-0.5).heights((4.0, 4.0), 0.1, 0)
    assert part[0, 0] == -0.5 and part[20, 20] == pytest.approx(2.0, abs=0.01)


def test_meshes_without_gaps_have_no_holes():
    """Edges and corners of triangles, and points right on them, belong to some triangle."""
    heights = np.random.default_rng(0).uniform(0, 1, (21, 21))
    row, col = np.meshgrid(np.arange(20), np.arange(20), indexing="ij")
    a = (row * 21 + col).ravel()
    faces = np.concatenate([np.stack([a, a + 1, a + 22], -1), np.stack([a, a + 22, a + 21], -1)])
    y, x = np.meshgrid(np.arange(21) * 0.1, np.arange(21) * 0.1, indexing="ij")
    mesh = trimesh.Trimesh(np.stack([x.ravel(), y.ravel(), heights.ravel()], -1), faces, process=False)
    np.testing.assert_allclose(Terrain.from_mesh(mesh, horizontal_scale=0.1).heights, heights, atol=1e-6)
    twice = Terrain.from_mesh(mesh, horizontal_scale=0.05, outside=-5.0)
    assert twice.heights.min() >= 0.0
    field = Terrain.from_heights(heights, horizontal_scale=0.1)
    np.testing.assert_allclose(twice.heights[3, 5], field.height_at([0.25 - 1.0, 0.15 - 1.0]), atol=1e-6)


def test_pictures_show_the_ground():
    from tumble.terrain.relief import relief

    flat = relief(np.zeros((5, 5)), (2.0, 2.0), width=80)
    box = relief(terrain.box((4.0, 4.0), 0.1, box_height=0.5, platform_width=2.0), (4.0, 4.0), width=80)
    assert flat.dtype == np.uint8 and flat.shape[1] == 80 and flat.shape[0] < box.shape[0] + 20
    assert (flat[0, 0] == 255).all() and len(np.unique(flat.reshape(-1, 3), axis=0)) < len(
        np.unique(box.reshape(-1, 3), axis=0)
    )
