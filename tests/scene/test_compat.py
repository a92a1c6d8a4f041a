"""Options of Genesis' scripts that change nothing are accepted, and warn once each."""

import warnings

import pytest

import tumble.scene as gs
from tumble.scene.compat import ignored
from tumble.scene.surfaces import Surface


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    monkeypatch.setattr(ignored, "_warned", set())


def test_an_option_warns_once_with_the_reason():
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = gs.options.ViewerOptions(max_FPS=30, camera_fov=50)
            shown = [str(each.message) for each in caught]
        assert found.camera_fov == 50 and found.given == {"camera_fov": 50}
        if shown:
            first = shown
    assert first == ["ViewerOptions: max_FPS=30 changes nothing: the browser chooses how often it draws"] and not shown


def test_what_asks_for_nothing_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gs.options.RigidOptions(max_collision_pairs=None, enable_multi_contact=True)
        gs.sensors.IMU(debug_acc_color=(1.0, 0.0, 0.0, 0.6), draw_debug=False)
        gs.Scene(show_FPS=False).add_camera(GUI=False)


def test_options_of_base_classes_and_of_calls():
    for make in (
        lambda: gs.morphs.Box(size=(1, 1, 1), batch_fixed_verts=True),
        lambda: gs.surfaces.Gold(smooth=False),
        lambda: gs.sensors.Contact(draw_debug=True),
        lambda: gs.Scene(show_FPS=True),
        lambda: gs.Scene().add_camera(GUI=True),
        lambda: gs.init(performance_mode=True),
    ):
        with pytest.warns(UserWarning, match="changes nothing"):
            make()


def test_a_misspelt_one_is_refused():
    with pytest.raises(TypeError, match="RigidOptions has no argument 'max_colision_pairs'"):
        gs.options.RigidOptions(max_colision_pairs=3)


def test_the_table_names_classes_and_arguments_that_exist():
    rooms = (gs.options, gs.materials, gs.morphs, gs.surfaces, gs.renderers, gs.recorders, gs.sensors)
    known = {name for room in rooms for name in vars(room)} | {Surface.__name__, "Scene", "init", "add_camera"}
    assert {owner for owner, _ in ignored.IGNORED} <= known
