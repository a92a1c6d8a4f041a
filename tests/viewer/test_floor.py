"""Painted floors: files that others read, as bright as lit ones, and only where no shadow is to fall."""

import io

import numpy as np
import pytest
import trimesh

from tumble.viewer import Viewer
from tumble.viewer.floor import SceneLight, linear, painted_glb

from .browser import needs_chromium
from .looking import opened, still, wait

pytest.importorskip("viser")
ALIKE = 3  # of 255: a lit floor has a faint highlight, too


def test_painted_files_have_the_surfaces_and_colors_that_were_given():
    corners = np.random.default_rng(0).normal(size=(2, 4, 3)).astype(np.float32)
    faces = np.array([[0, 1, 2], [0, 2, 3]], np.uint32)
    colors = np.array([[0.25, 0.5, 1.0], [0.0, 0.125, 0.75]])
    file = painted_glb([(one, faces, color) for one, color in zip(corners, colors, strict=True)])
    read = trimesh.load_scene(io.BytesIO(file), file_type="glb", process=False)
    for mesh, vertices, color in zip(read.geometry.values(), corners, colors, strict=True):
        np.testing.assert_array_equal(mesh.vertices, vertices)
        np.testing.assert_array_equal(mesh.faces, faces)
        np.testing.assert_allclose(mesh.visual.material.baseColorFactor[:3] / 255, color, atol=0.5 / 255)
        assert mesh.visual.material.doubleSided


def test_light_is_that_of_the_sun_and_of_the_half_of_the_sky_that_a_surface_faces():
    light = SceneLight()
    sun = np.array([-0.36, -0.48, 0.8])
    away = SceneLight(ambient=(0.5, 0.25, 1.0)).on(-sun)
    np.testing.assert_allclose(away, linear(np.array([0.5, 0.25, 1.0])))  # the sun is behind
    facing, across = light.on(sun), light.on(np.array([0.8, -0.6, 0.0]))
    assert (facing > across).all() and across[2] > across[0]  # half of it is the sky's, which is blue


def test_floors_are_lit_where_shadows_fall_on_them(slider):
    viewer = Viewer(slider, play=False)
    try:
        floor = viewer._stage._floor
        assert viewer._stage.shadows and len(floor._handles[0]) == 2  # two meshes, the fields of either color
        viewer._stage.set_shadows(False)
        assert len(floor._handles[0]) == 1 and not viewer._stage._sun.cast_shadow
    finally:
        viewer.close()


@needs_chromium
@pytest.mark.slow
def test_a_painted_floor_is_as_bright_as_a_lit_one(slider, tmp_path):
    slider.reset()
    viewer = Viewer(slider, envs=[0], play=False, shadows=False)
    stage = viewer._stage
    browser = opened(viewer.start(), tmp_path)

    def floor():
        """Its nearest part."""
        return still(browser)[-60:]

    try:
        pose = stage._laid
        viewer.do(lambda: stage._floor.lay(*pose, True, stage._light))
        wait(lambda: floor().std() > 5)
        lit = floor()
        viewer.do(lambda: stage._floor.lay(*pose, False, stage._light))
        wait(lambda: floor().std() > 5 and (floor() != lit).any())
        dark = floor()
        print(lit.reshape(-1, 3)[::500], dark.reshape(-1, 3)[::500])
        assert np.abs(dark - lit).max() <= ALIKE
    finally:
        browser.close()
        viewer.close()
