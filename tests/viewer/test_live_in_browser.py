"""The live view in a real browser: it loads, bodies move, sliders and drags act; names and foreign pages do not."""

import html
import json

import numpy as np
import pytest

from tumble.viewer import Viewer

from .browser import needs_chromium
from .looking import NEAR, TABS, drag, opened, projected, red, tab, wait

viser = pytest.importorskip("viser")
pytestmark = needs_chromium
slow = pytest.mark.slow
RUNS = (
    "&lt;img src=x onerror='window.ran=1'&gt;&lt;script&gt;window.ran=1&lt;/script&gt;{window.ran=1}[a](javascript:ran)"
)
HOSTILE = f"""
<mujoco model="{RUNS} model">
  <worldbody>
    <body name="{RUNS} body"><joint name="{RUNS} joint" type="slide"/>
      <geom name="{RUNS} geom" type="sphere" size=".3" mass="1"/></body>
    <camera name="{RUNS} camera"/>
  </worldbody>
  <actuator><motor name="{RUNS} motor" joint="{RUNS} joint" ctrlrange="-1 1"/></actuator>
  <keyframe><key name="{RUNS} key" qpos="1"/></keyframe>
</mujoco>
"""


@pytest.fixture(scope="module")
def shown(slider, tmp_path_factory):
    """A started viewer of the first environment, and a browser that shows it."""
    slider.reset()
    viewer = Viewer(slider, envs=[0], play=False, shadows=False).start()
    browser = opened(viewer, tmp_path_factory.mktemp("profile"))
    viewer.do(lambda: setattr(viewer.panel, "side_by_side", False))
    viewer.do(viewer._arrange)
    wait(lambda: red(browser) is not None)
    yield viewer, browser
    browser.close()
    viewer.close()


def place(viewer: Viewer) -> float:
    """Return the distance that the ball has slid, m."""
    return viewer.do(lambda: float(viewer.session.solver.qpos[0, 0]))


def still(viewer: Viewer) -> None:
    """Put the ball back, with its actuator off, and time passing."""

    def put() -> None:
        viewer.session.reset()
        viewer.session.set_joint(0, 0, -0.5)  # clear of pole and panel
        viewer.session.wanted[:] = 0

    viewer.do(put)


@slow
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


@slow
def test_a_slider_acts_on_the_control(shown):
    viewer, browser = shown
    still(viewer)
    tab(browser, "Move")
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


@slow
def test_a_drag_pulls_a_body_and_ends_with_the_mouse(shown):
    viewer, browser = shown
    still(viewer)
    solver = viewer.session.solver
    viewer.do(lambda: viewer.panel.play(True))
    start = projected(viewer, np.array([0.0, -0.5, 0.5]))
    end = projected(viewer, np.array([0.0, -1.1, 0.5]))
    wait(lambda: (seen := red(browser)) is not None and np.abs(seen - start).max() < NEAR)
    drag(browser, start, end)
    wait(lambda: viewer._spring.line is not None and place(viewer) < -0.6)
    browser.mouse("mouseReleased", *end)
    wait(lambda: viewer._spring.line is None)
    viewer.do(lambda: viewer.panel.play(False))
    assert viewer.do(lambda: float(solver.inputs.xfrc_applied.abs().max())) == 0


def test_names_are_shown_letter_by_letter_and_pages_of_other_addresses_are_refused(tmp_path):
    """Names of a file, of numbers of a step, a title and an error may hold HTML, which the page shows as text.

    A foreign page that a browser of this machine shows is told nothing, by itself or by a link to the viewer's page.
    """
    from tumble.physics import Model, RigidSolver

    name = html.unescape(RUNS)
    viewer = Viewer(RigidSolver(Model.from_mjcf(HOSTILE), 1), driven=True, title=name)
    viewer.sync(np.zeros(1), {f"reward {name}": np.zeros(1)})
    viewer.session.solver.step()
    viewer.sync(np.ones(1), {f"reward {name}": np.zeros(1)})
    viewer.panel.tell(ValueError(name))
    viewer._plots.update()
    browser = opened(viewer, tmp_path / "profile")
    try:
        browser.until("document.querySelector('.u-legend') !== null")
        for label in ("Move", "Show", "Model", "Run"):
            tab(browser, label)
            browser.until(f"{TABS}.find(t => t.textContent.includes('{label}')).ariaSelected === 'true'")
            if label == "Model":
                for kind in ("model", "body", "joint"):
                    browser.until(f"document.body.textContent.includes({json.dumps(f'{name} {kind}')})")
        assert browser.ask("[window.ran, document.querySelectorAll('img[src=x], a[href^=javascript]').length]") == [
            None,
            0,
        ]
        foreign = tmp_path / "foreign.html"
        address = viewer.url.replace("http", "ws")
        foreign.write_text(f"""<script>
            const socket = new WebSocket("{address}", "viser-v{viser.__version__}");
            socket.onopen = () => {{ window.told = "opened"; }};
            socket.onerror = () => {{ window.told = "refused"; }};
        </script>""")
        browser.open(foreign.as_uri())
        assert browser.until("window.told") == "refused"
        browser.problems.clear()
        browser.open(f"{viewer.url}/?websocket=ws://localhost:1")
        wait(lambda: browser.ask("1") and any("Content Security Policy" in problem for problem in browser.problems))
    finally:
        browser.close()
        viewer.close()
