"""The panel's buttons and choices change the solver and what is drawn; no browser is needed."""

import threading
import time

import numpy as np
import pytest
import torch

from tumble.viewer import Viewer

from .conftest import CRATE_WEIGHT
from .pressing import handle_of, press

pytest.importorskip("viser")
SINGLE = 1e-5  # of places that go to the browser in single precision
AT_REST = 0.02  # relative, of the weight: the crate still settles


@pytest.fixture(scope="module")
def viewer(stage):
    viewer = Viewer(stage, play=False)
    yield viewer
    viewer.close()


@pytest.fixture(autouse=True)
def again(viewer):
    press(viewer, "or", "Reset")
    press(viewer, "show", "side by side")


def settle(viewer):
    for _ in range(60):
        viewer._advance()
    viewer.session.solver.forward()
    viewer._draw()


def test_play_speed_step_and_reset(viewer):
    solver = viewer.session.solver
    press(viewer, "Play")
    assert viewer.panel.playing
    press(viewer, "Pause")
    press(viewer, "speed", "1/4")
    assert not viewer.panel.playing and viewer.panel.speed == 0.25
    press(viewer, "speed", "as fast as it goes")
    assert viewer.panel.speed == np.inf
    press(viewer, "or", "Step")
    press(viewer, "or", "Step")
    assert viewer.panel.steps == 2  # for the loop
    viewer._advance()
    press(viewer, "or", "Reset")
    assert float(solver.time.max()) == 0


def test_an_environment_alone_or_all_side_by_side(viewer):
    stage = viewer._stage
    assert stage.shown == [0, 1] and np.linalg.norm(stage.offsets[0] - stage.offsets[1]) > 0.8  # a crate is 0.4 m wide
    far = np.array(viewer._server.initial_camera.position)
    press(viewer, "show", "environment 1")
    assert stage.shown == [1] and viewer.panel.env == 1 and not stage.offsets.any()
    assert np.linalg.norm(far) > np.linalg.norm(viewer._server.initial_camera.position)
    assert all(len(part.handle.batched_positions) == len(set(part.rows)) for part in stage._parts)


def test_contacts_and_their_forces_are_drawn_where_they_are(viewer):
    press(viewer, "contacts", True)
    press(viewer, "contact forces", True)
    settle(viewer)
    overlays = viewer._overlays
    arrows = overlays._arrows["forces"].points.astype(float)  # (contacts, 2, 3)
    assert len(arrows) == len(overlays._arrows["contacts"].points) >= 2 * 3
    up = (arrows[:, 1] - arrows[:, 0])[:, 2] / overlays._length  # N
    assert up.sum() == pytest.approx(2 * CRATE_WEIGHT, rel=AT_REST)
    nearest = np.abs(arrows[:, None, 0, :2] - viewer._stage.offsets[None, :, :2]).max(axis=-1).min(axis=1)
    np.testing.assert_allclose(nearest, 0.2, atol=1e-3)  # at the edges of a crate, each at its environment's place
    assert np.abs(arrows[:, 0, 2]).max() < 2e-3  # on the floor
    for label in ("contacts", "contact forces"):
        press(viewer, label, False)
    viewer._draw()
    assert not overlays._arrows["forces"].visible and not overlays._arrows["contacts"].visible


def test_frames_of_bodies_follow_them(viewer):
    press(viewer, "frames of bodies", True)
    viewer.session.set_joint(1, 0, 0.3)  # x of the crate
    viewer._draw()
    drawn = viewer._overlays._axes.batched_positions.reshape(2, 2, 3) - viewer._stage.offsets[:, None]
    wanted = viewer.session.solver.get("xpos").double().numpy()[:, 1:]
    np.testing.assert_allclose(drawn, wanted, atol=SINGLE)
    assert wanted[1, 0, 0] == pytest.approx(0.3) and wanted[0, 0, 0] == 0
    press(viewer, "frames of bodies", False)
    viewer._draw()
    assert viewer._overlays._axes is None


def test_collision_shapes_are_shown_on_request(viewer):
    parts = {part.collision: part for part in viewer._stage._parts}
    assert not parts[True].handle.visible
    press(viewer, "collision shapes", True)
    press(viewer, "visual shapes", False)
    assert [part.handle.visible for part in viewer._stage._parts] == [part.collision for part in viewer._stage._parts]
    press(viewer, "collision shapes", False)
    press(viewer, "visual shapes", True)
    assert not parts[True].handle.visible and parts[False].handle.visible


def test_a_keyframe_is_of_the_chosen_environment(viewer):
    press(viewer, "show", "environment 1")
    press(viewer, "keyframe", "high")
    press(viewer, "Go there")
    solver = viewer.session.solver
    assert solver.qpos[1].tolist() == [0, 0.5, 1, 1, 0, 0, 0] and float(solver.qpos[0, 2]) == pytest.approx(0.2)
    assert float(solver.get("xpos")[1, 1, 2]) == 1


def test_a_mocap_body_goes_where_the_mouse_drags_it(viewer):
    spring, mj, solver = viewer._spring, viewer.session.mj, viewer.session.solver
    hand = mj.body("hand").id
    grabbed = np.array([0.0, -0.95, 0.5])  # its side: 0.15 m from its middle
    spring.grab(1, hand, grabbed)
    spring.pull(grabbed + np.array([0.4, 0.0, 0.3]))
    viewer._advance()
    solver.forward()
    places = solver.get("xpos").double().numpy()[:, hand]
    np.testing.assert_allclose(places, [[0, -0.8, 0.5], [0.4, -0.8, 0.8]], atol=1e-6)
    viewer._advance()
    viewer._draw()
    solver.forward()
    np.testing.assert_allclose(solver.get("xpos").double().numpy()[1, hand], [0.4, -0.8, 0.8], atol=1e-6)  # it stays
    assert float(solver.inputs.xfrc_applied.abs().max()) == 0
    spring.release()


@pytest.mark.slow
def test_pictures_of_a_camera_are_those_of_the_renderer(viewer):
    from tumble.physics.rendering import BatchRenderer

    press(viewer, "camera", "side")
    press(viewer, "camera picture", True)
    viewer._pictures.update(0)
    image = viewer._pictures._image
    wanted = BatchRenderer(viewer.session.solver.model, 320, 240, camera="side").render(viewer.session.solver, [0])[0]
    np.testing.assert_array_equal(image.image, wanted.numpy())
    press(viewer, "camera picture", False)
    viewer._pictures.update(0)
    assert not image.visible


def test_a_program_that_moves_the_batch_is_shown_paced_and_paused(stage):
    """It steps; the page shows, delays, and keeps it waiting while it says pause."""
    stage.reset()
    viewer = Viewer(stage, driven=True)
    try:
        assert viewer.session.ways == []  # nothing but the program acts
        start = time.perf_counter()
        for number in range(6):
            stage.step(4)
            viewer.sync(torch.tensor([1.0, 2.0]), {"height": np.array([number, 0.0]), "other": np.zeros(3)})
        assert time.perf_counter() - start >= 6 * viewer.session.dt  # not faster than the clock
        assert viewer._plots._names == ["reward"] and viewer.session.info["height"].tolist() == [5, 0]
        assert viewer.frames > 0
        viewer.panel.play(False)
        waiting = threading.Thread(target=viewer.sync)
        waiting.start()
        waiting.join(timeout=0.2)
        assert waiting.is_alive()
        viewer._jobs.put(viewer.panel._one_step)
        waiting.join(timeout=60)
        assert not waiting.is_alive() and handle_of(viewer, "Play")
    finally:
        viewer.close()
    viewer.sync()  # a closed page keeps nothing waiting
    assert not viewer.is_alive()
