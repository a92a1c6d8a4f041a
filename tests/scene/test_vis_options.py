"""Options of pictures: what is behind all, light from all sides, shadows and mirrors, in pictures and on a page."""

import numpy as np
import pytest

import tumble.scene as gs
from tumble.physics.machine.runtime import init
from tumble.physics.rendering.look import CURVE
from tumble.scene.pictures.scene_pictures import look_of

# -- Options of pictures: what is behind all, light from all sides, shadows and mirrors, in pictures and on a page


ONE_STEP = 1.0 / 255


def shown(light):
    """Return what a picture shows of linear light, as `Look` says."""
    a, b, c = CURVE
    return np.sqrt(light * (light + a) / (light**2 + b * light + c))


@pytest.fixture(scope="module")
def scene():
    """A ball over a white floor that ends before the edges of the picture, and a plane far away from it."""
    init(precision="32")
    scene = gs.Scene()
    white = gs.surfaces.Rough(color=(1.0, 1.0, 1.0))
    floor = gs.morphs.Box(size=(4, 4, 0.1), pos=(0, 0, -0.05), fixed=True)
    scene.add_entity(floor, surface=white)
    scene.add_entity(gs.morphs.Plane(pos=(10, 0, -2), plane_size=(1, 1)))
    scene.add_entity(
        gs.morphs.Sphere(radius=0.3, pos=(-0.4, -0.6, 1.2), fixed=True), surface=gs.surfaces.Rough(color=(1, 0, 0))
    )
    scene.add_camera(res=(64, 64), pos=(0.1, 0, 6), lookat=(0.1, 0, 0), up=(0, 1, 0), fov=60)
    scene.add_camera(res=(16, 16), pos=(10, -2, -1.7), lookat=(10, 0, -2), fov=10)
    scene.build()
    yield scene
    scene.close()


def picture(scene, camera=0, **options):
    scene.vis_options = gs.options.VisOptions(**options)
    return scene.cameras[camera].render()[0].astype(float) / 255


def test_the_background_has_its_color_above_and_below(scene):
    for color in ((0.04, 0.08, 0.12), (0.9, 0.2, 0.5)):
        corner = picture(scene, background_color=color)[0, 0]
        np.testing.assert_allclose(corner, color, atol=ONE_STEP)
    first, second = picture(scene), picture(scene, background_color=(0.9, 0.2, 0.5))
    np.testing.assert_array_equal(first[20, 44], second[20, 44])  # the floor is lit as it was


def test_light_from_all_sides_is_all_that_shadows_get(scene):
    """The ball's shadow: at noon of the look's sun it falls where the ray from the sun through the ball ends."""
    sun = np.array([-0.35, -0.55, 1.0])
    end = np.array([-0.4, -0.6]) - 1.2 * sun[:2]
    row, column = _pixel(end)
    dark = picture(scene)[row, column].sum()
    for ambient in ((0.2, 0.3, 0.4), (0.8, 0.8, 0.8)):
        value = picture(scene, ambient_light=ambient)[row, column]
        np.testing.assert_allclose(value, shown(0.62 * np.array(ambient)), atol=0.03)  # the ball dims it, a little
    assert value.sum() > dark
    without = picture(scene, shadow=False)
    away = _pixel(np.array([1.2, -1.2]))
    np.testing.assert_allclose(without[row, column], without[away], atol=0.03)
    assert without[row, column].sum() > dark + 0.3


def test_planes_mirror_or_not(scene):
    """In a mirror the black surroundings are seen."""
    black = {"camera": 1, "background_color": (0, 0, 0)}
    dull, mirror = (picture(scene, **black, plane_reflection=it)[8, 8].sum() for it in (False, True))
    assert mirror < dull - 10 * ONE_STEP


def test_a_page_has_them_too(scene):
    pytest.importorskip("viser")
    scene.vis_options = gs.options.VisOptions(
        background_color=(1.0, 0.5, 0.0),
        ambient_light=(0.5, 0.5, 0.5),
        shadow=False,
        show_cameras=True,
        show_world_frame=True,
    )
    viewer = scene.view(block=False, play=False)
    try:
        stage, drawn = viewer._stage, viewer._drawings._shown
        assert stage._backdrop.sky == "rgb(255, 128, 0)" and not stage.shadows
        np.testing.assert_allclose(stage._light.ambient, 0.5)
        eyes = [handle.batched_positions[0] for _, handles in drawn.values() for handle in handles[:1]]
        np.testing.assert_allclose(sorted(map(tuple, eyes)), [(0, 0, 0), (0.1, 0, 6), (10, -2, -1.7)], rtol=1e-6)
        assert [one for one, _ in drawn.values()] == scene.page_objects()  # the same ones again
    finally:
        viewer.close()


def test_paths_of_light_have_other_options(scene):
    scene.vis_options, before = gs.options.VisOptions(ambient_light=(1, 1, 1)), scene.renderer
    scene.renderer = gs.renderers.RayTracer()
    try:
        with pytest.raises(ValueError, match=r"VisOptions: ambient_light=.*: paths of light .*env_surface"):
            look_of(scene)
    finally:
        scene.renderer = before


def test_options_that_cannot_act_are_refused():
    with pytest.raises(ValueError, match=r"VisOptions: lights: .* scene\.add_light"):
        gs.options.VisOptions(lights=[{"type": "directional"}])
    with pytest.raises(ValueError, match=r"background_color=\(2\.0, 0\.0, 0\.0\): red, green and blue are from 0 to 1"):
        gs.options.VisOptions(background_color=(2, 0, 0))
    with pytest.raises(ValueError, match="VisOptions: shadow"):
        gs.options.VisOptions(shadow="no")


def _pixel(place):
    """Row and column of a point of the floor."""
    size = 32 / np.tan(np.radians(30)) / 6
    return int(32 - size * place[1]), int(32 + size * (place[0] - 0.1))


# -- Lights of a scene: they take the place of the sun in pictures, and shine where they are said to


HEIGHT, CUTOFF = 3.0, 20.0
"""A lamp above the floor, m, and the half angle of its cone, degrees."""
EYE = 6.0
"""m above the floor; a field of view of 60 degrees."""


@pytest.fixture(scope="module")
def pictures():
    """The floor from above without lights, under a lamp, and under a weaker one; red, green and blue from 0 to 1."""
    init(precision="32")
    return [made(None), made(1.0), made(0.5)]


def made(intensity):
    scene = gs.Scene()
    scene.add_entity(gs.morphs.Box(size=(8, 8, 0.1), pos=(0, 0, -0.05), fixed=True), surface=gs.surfaces.Rough())
    if intensity is not None:
        scene.add_light((0.5, 0, HEIGHT), (0, 0, -1), color=(1.0, 0.9, 0.8), intensity=intensity, cutoff=CUTOFF)
    camera = scene.add_camera(res=(64, 64), pos=(0, 0, EYE), lookat=(0, 0, 0), up=(0, 1, 0), fov=60)
    scene.build()
    picture = camera.render()[0].astype(float) / 255
    scene.close()
    return picture


def distances():
    """Return the distance of the floor that each pixel sees from the point below the lamp, (64, 64) m."""
    ahead = ((np.arange(64) + 0.5) / 32 - 1) * np.tan(np.radians(30)) * EYE
    return np.hypot(ahead[None, :] - 0.5, -ahead[:, None])


def test_a_lamp_shines_within_its_cone(pictures):
    _, lit, _ = pictures
    far, edge = distances(), HEIGHT * np.tan(np.radians(CUTOFF))
    inside, outside = lit[far < 0.8 * edge].sum(-1), lit[far > edge + 0.1].sum(-1)
    assert inside.min() > outside.max() + 0.1


def test_outside_the_cone_the_headlight_alone_is_left(pictures):
    plain, lit, weak = pictures
    outside = distances() > HEIGHT * np.tan(np.radians(CUTOFF)) + 0.1
    np.testing.assert_array_equal(lit[outside], weak[outside])
    assert (lit[outside].sum(-1) < plain[outside].sum(-1) - 0.1).all(), "the sun is off"


def test_a_stronger_lamp_is_brighter(pictures):
    _, lit, weak = pictures
    below = distances() < 0.5
    assert (lit[below].sum(-1) > weak[below].sum(-1) + 0.05).all()
