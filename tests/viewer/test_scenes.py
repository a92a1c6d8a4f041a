"""Scenes and single environments in the viewer, as sources that take steps of their own, without a browser."""

import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest

import tumble.scene as gs
from tumble.physics.machine.runtime import init
from tumble.viewer import Viewer, record
from tumble.viewer.session import Session

from .pressing import handle_of, press

pytest.importorskip("viser")
SINGLE = 1e-6  # m, of poses in single precision
SPACING = 3.0

ARM = """
<mujoco model="arm">
  <worldbody><body name="arm" pos="0 0 .5">
    <joint name="turn" type="hinge" axis="0 0 1" range="-90 90"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".05" mass="1"/>
  </body></worldbody>
  <actuator><position name="servo" joint="turn" kp="40" kv="8"/></actuator>
</mujoco>
"""


def built(tmp_path_factory, **options):
    """A box above a plane, and an arm whose servo holds it, in two environments side by side."""
    init(precision="32")
    file = tmp_path_factory.mktemp("arm") / "arm.xml"
    file.write_text(ARM)
    scene = gs.Scene(sim_options=gs.options.SimOptions(dt=0.02), **options)
    scene.add_entity(gs.morphs.Plane())
    scene.add_entity(gs.morphs.Box(size=(0.2, 0.2, 0.2), pos=(0, 1, 1)), name="box")
    scene.add_entity(gs.morphs.MJCF(file=str(file)), name="arm")
    scene.build(n_envs=2, env_spacing=(SPACING, 0.0))
    return scene


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    scene = built(
        tmp_path_factory,
        show_viewer=True,
        viewer_options=gs.options.ViewerOptions(camera_pos=(4, 0, 2), camera_lookat=(0, 0, 1), realtime_factor=None),
    )
    yield scene
    scene.close()


@pytest.fixture(autouse=True)
def again(request):
    yield
    if "scene" in request.fixturenames:
        request.getfixturevalue("scene").reset()


def test_show_viewer_opens_a_page_that_shows_each_step(scene):
    window = scene.viewer
    assert window.is_alive() and scene.visualizer.viewer is window
    assert window.panel.speed == np.inf and handle_of(window, "speed").value == "as fast as it goes"
    first = window._server.initial_camera
    assert np.allclose(first.position, (4, 0, 2)) and np.allclose(first.look_at, (0, 0, 1))
    np.testing.assert_allclose(window._stage.offsets[1] - window._stage.offsets[0], [SPACING, 0, 0])
    scene.get_entity("box").set_pos([[0, 1, 2], [0, 1, 3]])
    scene.visualizer.update()
    window._draw()
    drawn = np.concatenate([part.handle.batched_positions for part in window._stage._parts])
    for env, height in enumerate((2, 3)):  # at once, before a step
        place = window._stage.offsets[env] + [0, 1, height]
        assert np.abs(drawn - place).max(axis=1).min() < SINGLE
    before = window._plots._rows and window._plots._rows[-1]
    window._drawn = 0.0  # long ago
    frames = window.frames
    scene.step()
    assert window.frames == frames + 1 and scene.t == 1 and not before
    scene.step(update_visualizer=False)
    assert window.frames == frames + 1 and scene.t == 2


def test_scripts_move_the_camera_and_follow(scene):
    window = scene.viewer
    window.set_camera_pose(pos=(1, 2, 3), lookat=(0, 1, 0))
    assert np.allclose(window._server.initial_camera.position, (1, 2, 3))
    pose = np.eye(4)
    pose[:3, 3] = (0, 0, 5)  # looks down
    window.set_camera_pose(pose)
    assert np.allclose(window._server.initial_camera.look_at, (0, 0, 4))
    window.follow_entity(scene.get_entity("box"))
    press(window, "show", "environment 0")
    scene.get_entity("box").set_pos([[2.5, 1, 1], [0, 1, 1]])
    window._draw()
    np.testing.assert_allclose(window._stage.offsets[0], [-2.5, 0, 0], atol=SINGLE)  # what is around it moves
    window.unfollow_entity()
    window.register_keybinds(None)  # of other windows
    press(window, "show", "side by side")


def test_sliders_of_a_scene_are_what_servos_aim_at(scene):
    session = Session(scene)
    assert session.controls.names == ["arm/turn"] and session.ways == ["sliders"]
    np.testing.assert_allclose([session.controls.low[0], session.controls.high[0]], [-np.pi / 2, np.pi / 2])
    session.want(1, 0, 0.6)
    for _ in range(100):
        session.advance()
    turned = scene.get_entity("arm").get_dofs_position().flatten().tolist()
    assert turned == pytest.approx([0, 0.6], abs=1e-3)
    assert scene.t == 100
    session.reset()
    assert scene.t == 0 and float(scene.get_time().max()) == 0


def test_a_scene_is_viewed_from_its_present_state_and_acted_on(scene):
    scene.get_entity("box").set_pos([[0, 1, 4], [0, 1, 4]])
    acted = []
    viewer = scene.view(act=lambda it: acted.append(it.t), block=False, play=False)
    try:
        assert viewer.do(lambda: float(scene.get_entity("box").get_pos()[0, 2])) == 4
        viewer.do(viewer.panel._one_step)
        while viewer.do(lambda: viewer.panel.steps):
            pass
        assert acted == [0] and viewer.do(lambda: scene.t) == 1
        np.testing.assert_allclose(viewer._stage.offsets[1] - viewer._stage.offsets[0], [SPACING, 0, 0])
    finally:
        viewer.close()


def test_a_replay_of_a_scene_has_the_poses_of_its_entities(scene):
    box = scene.get_entity("box")
    box.set_pos([[0, 1, 4], [0, 1, 3]])
    heights = []

    def act(it):
        heights.append(it.get_entity("box").get_pos()[:, 2].tolist())

    replay = record(scene, seconds=0.1, act=act, title="falling")
    assert replay.frames == 6 and len(heights) == 5  # a frame a step, of 0.02 s
    (row,) = [k for k, name in enumerate(replay._bodies) if name.startswith("box")]
    np.testing.assert_allclose(replay.pos[:5, :, row, 2], heights, rtol=SINGLE)
    assert replay._repr_html_().startswith("<iframe srcdoc=") and "http" not in replay.html()


def test_what_scripts_draw_is_on_the_page_where_it_is_in_pictures(scene):
    """A sphere, an arrow that moves, a box: their corners are where the shapes have their surface."""
    window = scene.viewer
    ball = scene.draw_debug_sphere((0.5, 0, 1), radius=0.2, color=(0, 1, 0, 0.5))
    arrow = scene.draw_debug_arrow((0, 0, 1), (0, 0, 2), radius=0.1, color=(1, 0, 0, 1))
    scene.draw_debug_box([[1, 1, 1], [2, 3, 4]], wireframe=False, color=(0, 0, 1, 1))
    try:
        window._draw()
        shown = [(handle, handle.vertices) for _, handles in window._drawings._shown.values() for handle in handles]
        (green, sphere), (red, pin), (_, block) = shown
        np.testing.assert_allclose(np.linalg.norm(sphere - [0.5, 0, 1], axis=1), 0.2, rtol=SINGLE)
        assert green.opacity == 0.5 and red.opacity is None and red.batched_colors.tolist() == [255, 0, 0]
        assert pin[:, 2].max() == pytest.approx(3.01) and np.abs(pin[:, 0]).max() == pytest.approx(0.25)  # its head
        np.testing.assert_allclose([block.min(axis=0), block.max(axis=0)], [[1, 1, 1], [2, 3, 4]])
        assert len(green.batched_positions) == 1  # the environments stand in one world
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], (1, 2, 3)
        scene.update_debug_objects([arrow], [pose])
        scene.clear_debug_object(ball)
        window._draw()
        np.testing.assert_allclose(red.batched_positions, [[1, 2, 3]])
        np.testing.assert_allclose(red.batched_wxyzs, [np.sqrt([0.5, 0, 0, 0.5])], rtol=SINGLE)
        assert len(window._drawings._shown) == 2
    finally:
        scene.clear_debug_objects()
    window._draw()
    assert not window._drawings._shown


def test_bodies_have_the_sizes_of_their_environments(scene):
    """The box of the second environment is larger, which is seen with the next frame."""
    window = scene.viewer
    geom = scene.get_entity("box").geoms[0].idx
    solver = scene.rigid_solver
    sizes = solver.get_parameters("geom_size")
    before = sizes.clone()
    sizes[1, geom] = sizes.new_tensor([0.3, 0.2, 0.4])
    window._draw()
    count = len(window._stage._parts)
    try:
        solver.update_parameters({"geom_size": sizes})
        window._draw()
        parts = [part for part in window._stage._parts if geom in window._stage._drawn.geom[part.rows]]
        assert len(window._stage._parts) == count + 1 and [part.places.tolist() for part in parts] == [[0], [1]]
        wide = [np.abs(part.surface.vertices).max(axis=0) for part in parts]
        np.testing.assert_allclose(wide, [[0.1, 0.1, 0.1], [0.3, 0.2, 0.4]], rtol=SINGLE)
        assert [len(part.handle.batched_positions) for part in parts] == [1, 1]
    finally:
        solver.update_parameters({"geom_size": before})
    window._draw()
    assert len(window._stage._parts) == count


def test_without_viser_a_script_runs_on_with_one_warning(tmp_path_factory, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.warns(UserWarning, match=r'show_viewer=True: .* needs viser .*pip install "tumble\[viewer\]"'):
        scene = built(tmp_path_factory, show_viewer=True)
    assert scene.viewer is not None and not scene.viewer.is_alive()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.step()
        scene.viewer.set_camera_pose(pos=(1, 1, 1))
        scene.close()


def test_a_scene_that_is_not_built_says_so():
    with pytest.raises(gs.SceneOrderError, match=r"view: call scene\.build\(\) first"):
        gs.Scene().view()


def test_a_single_environment_is_viewed_and_recorded():
    env = gym.make("tumble/InvertedPendulum-v0")
    seen = []

    def act(observation):
        seen.append(observation.shape)
        return np.array([1.0], np.float32)

    replay = record(env, seconds=1.0, act=act)
    assert seen[0] == env.observation_space.shape and replay.envs == [0] and "reward" in replay.curves
    assert replay.frames == 1 + 25 and np.diff(replay.time[:, 0]).min() < 0  # it fell, and began anew
    viewer = Viewer(env, play=False)
    try:
        viewer._advance()
        assert viewer.session.info["reward"].shape == (1,) and viewer.session.ways[0] == "random"
        press(viewer, "actions", "zero")
        viewer._advance()
    finally:
        viewer.close()
    shown = env.unwrapped.view(block=False, play=False)
    shown.close()
    env.close()
