"""The live view in a real browser: it loads, bodies move, sliders act, a drag moves a body."""

import math
import time

import numpy as np
import pytest

from tumble.viewer import Viewer
from tumble.viewer.stage import FIELD_OF_VIEW

from .browser import OFFLINE, PATIENCE, Browser, needs_chromium

pytest.importorskip("viser")
pytestmark = [needs_chromium, pytest.mark.slow]
WIDTH, HEIGHT = 800, 450
NEAR = 12  # pixels: a fifth of the ball's radius
SCALE = 0.4  # fewer pixels: machines of tests draw in software


@pytest.fixture(scope="module")
def shown(slider, tmp_path_factory):
    """A started viewer of the first environment, and a browser that shows it."""
    slider.reset()
    viewer = Viewer(slider, envs=[0], play=False, shadows=False).start()
    browser = Browser(
        tmp_path_factory.mktemp("profile"), OFFLINE + ", EXCLUDE localhost", size=(WIDTH, HEIGHT), scale=SCALE
    )
    browser.open(viewer.url)
    browser.until("[...document.querySelectorAll('[role=tab]')].length >= 4")
    browser.until("document.querySelector('canvas') !== null")
    viewer.do(lambda: setattr(viewer.panel, "side_by_side", False))
    viewer.do(viewer._arrange)
    wait(lambda: red(browser) is not None)
    yield viewer, browser
    browser.close()
    viewer.close()


def wait(condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.5)


def red(browser: Browser) -> np.ndarray | None:
    """Mean place (column, row) of the red ball; None where nothing is red, as while the page fades in."""
    pixels = browser.picture().astype(int)[:, : int(SCALE * (WIDTH - 340))]  # the rest is under the panel
    is_red = pixels[..., 0] > 3 * pixels[..., 1:].max(axis=2) + 15  # in light and in the dark: by hue
    rows, columns = np.nonzero(is_red)
    return np.array([columns.mean(), rows.mean()]) / SCALE if len(rows) > 40 else None


def place(viewer: Viewer) -> float:
    """How far the ball has slid, m."""
    return viewer.do(lambda: float(viewer.session.solver.qpos[0, 0]))


def projected(viewer: Viewer, point: np.ndarray) -> np.ndarray:
    """Where a point of the world is in the picture, by the first camera."""
    eye, target = (np.array(getattr(viewer._server.initial_camera, name)) for name in ("position", "look_at"))
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross([0, 0, 1], back)
    right /= np.linalg.norm(right)
    at = np.stack([right, np.cross(back, right), back]) @ (point - eye)
    size = HEIGHT / 2 / math.tan(FIELD_OF_VIEW / 2)
    return np.array([WIDTH / 2 + size * at[0] / -at[2], HEIGHT / 2 - size * at[1] / -at[2]])


def still(viewer: Viewer) -> None:
    """Put the ball back, with its actuator off, and time passing."""

    def put() -> None:
        viewer.session.reset()
        viewer.session.set_joint(0, 0, -0.5)  # clear of pole and panel
        viewer.session.wanted[:] = 0

    viewer.do(put)


def test_the_page_loads_without_errors_and_bodies_are_drawn_where_they_are(shown):
    viewer, browser = shown
    assert not browser.problems
    stage = viewer._stage
    stage.follows = False
    found = []
    for along in (-0.5, -1.0):
        viewer.do(lambda along=along: viewer.session.set_joint(0, 0, along))
        wanted = projected(viewer, np.array([0.0, along, 0.5]))
        wait(lambda wanted=wanted: (seen := red(browser)) is not None and np.abs(seen - wanted).max() < NEAR)
        found.append(wanted)
    assert np.linalg.norm(found[1] - found[0]) > 2 * NEAR


def test_a_slider_acts_on_the_control(shown):
    viewer, browser = shown
    still(viewer)
    browser.click("[...document.querySelectorAll('[role=tab]')].find(t => t.textContent.includes('Move'))")
    browser.until("document.querySelectorAll('[role=slider]').length >= 3")
    browser.ask("document.querySelector('[role=slider]').focus()")
    for _ in range(5):
        for kind in ("keyDown", "keyUp"):
            browser.call(
                "Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39
            )
    wait(lambda: viewer.session.wanted[0, 0] > 0)
    viewer.do(lambda: viewer.panel.play(True))
    wait(lambda: viewer.do(lambda: float(viewer.session.solver.ctrl[0, 0])) > 0 and place(viewer) > -0.45)
    viewer.do(lambda: viewer.panel.play(False))
    assert viewer.session.wanted[1, 0] == 0  # of the environment that was chosen alone


def test_a_drag_pulls_a_body_and_ends_with_the_mouse(shown):
    viewer, browser = shown
    still(viewer)
    solver = viewer.session.solver
    viewer.do(lambda: viewer.panel.play(True))
    start = projected(viewer, np.array([0.0, -0.5, 0.5]))
    end = projected(viewer, np.array([0.0, -1.1, 0.5]))
    wait(lambda: (seen := red(browser)) is not None and np.abs(seen - start).max() < NEAR)
    browser.mouse("mouseMoved", *start, buttons=0)
    browser.mouse("mousePressed", *start)
    for share in np.linspace(0.1, 1, 10):
        browser.mouse("mouseMoved", *(start + share * (end - start)))
        time.sleep(0.1)
    wait(lambda: viewer._spring.line is not None and place(viewer) < -0.6)
    browser.mouse("mouseReleased", *end)
    wait(lambda: viewer._spring.line is None)
    viewer.do(lambda: viewer.panel.play(False))
    assert viewer.do(lambda: float(solver.inputs.xfrc_applied.abs().max())) == 0
