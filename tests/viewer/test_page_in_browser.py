"""Each control of the live view's page, pressed in a real browser, and what is seen of it."""

import numpy as np
import pytest

import tumble
from tumble.viewer import Viewer

from .browser import needs_chromium
from .looking import NEAR, button, drag, opened, projected, red, scene_of, still, tab, unlike, wait

pytest.importorskip("viser")
pytestmark = [needs_chromium, pytest.mark.slow]
FIELD = "document.getElementById([...document.querySelectorAll('label')].find(l => l.textContent === '%s')?.htmlFor)"
HAND, ASIDE = np.array([0.0, -0.8, 0.5]), np.array([0, -0.4, 0.2])


@pytest.fixture(scope="module")
def shown(stage, tmp_path_factory):
    """A viewer of one environment of the stage, and a browser that shows it."""
    stage.reset()
    viewer = Viewer(stage, envs=[0], play=False, shadows=False)
    viewer._stage.follows = False
    viewer.panel._choose(0)
    viewer.start()
    browser = opened(viewer, tmp_path_factory.mktemp("profile"))
    wait(lambda: red(browser) is not None)
    yield viewer, browser
    browser.close()
    viewer.close()


def seconds(viewer):
    return viewer.do(lambda: float(viewer.session.solver.time[0]))


def test_play_pause_step_and_reset(shown):
    viewer, browser = shown
    tab(browser, "Run")
    button(browser, "Play")
    wait(lambda: seconds(viewer) > 0.1)
    button(browser, "Pause")
    wait(lambda: not viewer.panel.playing)
    before = seconds(viewer)
    button(browser, "Step")
    wait(lambda: seconds(viewer) > before)
    assert seconds(viewer) == pytest.approx(before + viewer.session.dt, abs=1e-5)
    button(browser, "Reset")
    wait(lambda: seconds(viewer) == 0)


def check(browser, label):
    """Set a check, or take it away."""
    browser.until(f"({FIELD % label}) !== null")
    browser.ask(f"({FIELD % label}).click()")


def choose(browser, label, option):
    """Take an option of a list."""
    browser.click(f"[...document.querySelectorAll('input')].find(i => i.value === '{label}')")
    browser.until("document.querySelector('[role=option]') !== null")
    browser.click(f"[...document.querySelectorAll('[role=option]')].find(o => o.textContent.trim() === '{option}')")


def test_speed_and_environment_are_chosen(shown):
    viewer, browser = shown
    tab(browser, "Run")
    choose(browser, "1", "1/4")
    wait(lambda: viewer.panel.speed == 0.25)
    choose(browser, "side by side", "environment 1")
    wait(lambda: viewer._stage.shown == [1] and viewer.panel.env == 1)
    choose(browser, "environment 1", "environment 0")
    wait(lambda: viewer._stage.shown == [0])


@pytest.mark.parametrize("label", ["contacts", "contact forces", "frames of bodies", "collision shapes"])
def test_what_is_shown_on_request_is_seen_and_goes_again(shown, label):
    """The crate touches the floor; its hull for contacts is yellow, in the place of the blue one."""
    viewer, browser = shown

    def settle():
        viewer.session.reset()
        for _ in range(40):
            viewer.session.advance()
        viewer.session.solver.forward()
        viewer._stage.look(np.array([0.9, 0.7, 0.5]), np.array([0.0, 0.0, 0.15]))

    viewer.do(settle)
    tab(browser, "Show")
    before = still(browser)
    check(browser, label)
    wait(lambda: unlike(scene_of(browser), before) > 8)
    check(browser, label)
    wait(lambda: unlike(scene_of(browser), before) == 0)


def test_a_keyframe_is_taken(shown):
    viewer, browser = shown
    viewer.do(viewer.session.reset)
    tab(browser, "Move")
    button(browser, "Go there")
    wait(lambda: viewer.do(lambda: viewer.session.solver.qpos[0].tolist()) == [0, 0.5, 1, 1, 0, 0, 0])


def test_a_camera_picture_is_in_the_panel(shown):
    _, browser = shown
    tab(browser, "Show")
    check(browser, "camera picture")
    browser.until("[...document.querySelectorAll('img')].some(i => i.naturalWidth === 320 && i.naturalHeight === 240)")


def test_the_mouse_drags_a_mocap_body(shown):
    viewer, browser = shown
    viewer.do(viewer.session.reset)
    viewer.do(lambda: viewer._stage._look_at_all(np.zeros((1, 3))))
    viewer.do(lambda: viewer.session.solver.set_inputs([0], mocap_pos=HAND[None, None]))
    viewer.do(lambda: viewer.session.solver.forward())
    viewer.do(lambda: viewer.panel.play(True))
    start, end = projected(viewer, HAND), projected(viewer, HAND + ASIDE)
    wait(lambda: (seen := red(browser)) is not None and np.abs(seen - start).max() < NEAR)
    drag(browser, start, end)
    wait(lambda: (seen := red(browser)) is not None and np.abs(seen - end).max() < 2 * NEAR)
    browser.mouse("mouseReleased", *end)
    wait(lambda: viewer._spring.line is None)
    viewer.do(lambda: viewer.panel.play(False))
    place = viewer.do(lambda: viewer.session.solver.inputs.mocap_pos[0, 0].double().numpy())
    assert np.linalg.norm(place - HAND) > 0.2 and np.abs(projected(viewer, place) - end).max() < 2 * NEAR


def test_twenty_ants_are_shown_with_the_curves_of_their_rewards(tmp_path):
    envs = tumble.make_vec("Ant", num_envs=20)
    viewer = envs.view(envs=range(20), block=False, shadows=False)
    browser = opened(viewer, tmp_path)
    try:
        assert len(viewer._stage.shown) == 20
        browser.until("document.querySelector('.uplot canvas') !== null")
        legend = browser.ask("document.querySelector('.u-legend').textContent")
        assert all(name in legend for name in ("reward forward", "reward ctrl", "reward survive"))
        first = scene_of(browser)
        wait(lambda: unlike(scene_of(browser), first) > 200)
        assert not browser.problems
    finally:
        browser.close()
        viewer.close()
        envs.close()
