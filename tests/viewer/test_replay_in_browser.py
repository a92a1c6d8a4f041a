"""The page of a replay in a real browser without a network: it draws the bodies where they are."""

import time

import numpy as np
import pytest

from tumble.viewer import record

from .browser import OFFLINE, PATIENCE, Browser, needs_chromium

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def page(slider, tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay")
    slider.reset()
    slider.set_state(qvel=[[1.0, 1.0], [1.0, 1.0]])
    slider.ctrl = [[1.0], [1.0]]  # m/s: the servo keeps the ball going
    path = record(slider, seconds=2.0, envs=[0]).save(folder / "slider.html")
    browser = Browser(folder / "profile", OFFLINE)
    browser.open(path.as_uri())
    browser.until("window.replay && replay.drawn > 0")
    browser.ask("replay.play(false)")
    yield browser
    browser.close()


def drawn_at(page, seconds: float) -> np.ndarray:
    """The canvas at a time, (height, width, 3) from the lowest row up."""
    numbers = page.ask(f"""(() => {{
        replay.seek({seconds});
        replay.draw();
        const gl = replay.renderer.gl, [w, h] = [replay.canvas.width, replay.canvas.height];
        const pixels = new Uint8Array(4 * w * h);
        gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
        let text = "";
        for (let i = 0; i < pixels.length; i += 4) text += String.fromCharCode(pixels[i], pixels[i + 1], pixels[i + 2]);
        return [w, h, btoa(text)];
    }})()""")
    import base64

    return np.frombuffer(base64.b64decode(numbers[2]), np.uint8).reshape(numbers[1], numbers[0], 3).astype(int)


def middle(pixels: np.ndarray, channel: int) -> np.ndarray:
    """Mean place (column, row) of the pixels in which one channel is well above the others."""
    others = np.delete(pixels, channel, axis=2).max(axis=2)
    rows, columns = np.nonzero(pixels[..., channel] > others + 60)
    assert len(rows) > 100, "nothing of this color is drawn"
    return np.array([columns.mean(), rows.mean()])


def projected(page, geom: int) -> np.ndarray:
    """Where the page's own camera puts the middle of a geom: (column, row)."""
    return np.array(
        page.ask(f"""(() => {{
        const r = replay, o = r.orbit, place = r.motion.position(r.now, 0, {geom});
        const look = lookAt(o.eye(), o.target, [0, 0, 1]), f = 1 / Math.tan(o.fovy / 2);
        const at = [0, 1, 2].map((k) => dot([look[k], look[4 + k], look[8 + k]], place) + look[12 + k]);
        const {{ width, height }} = r.canvas;
        return [width / 2 + at[0] / -at[2] * f * height / 2, height / 2 * (1 + r.lift() + at[1] / -at[2] * f)];
    }})()""")
    )


def test_the_page_draws_without_a_network_and_without_errors(page):
    assert not page.problems
    assert {address.split(":")[0] for address in page.requests} <= {"file", "data", "about"}
    pixels = drawn_at(page, 0.0)
    assert pixels.reshape(-1, 3).std(axis=0).min() > 5  # not one color


@pytest.mark.slow
def test_bodies_have_their_colors_and_are_where_the_recording_has_them(page):
    page.ask("replay.follow(-1), replay.orbit.home()")
    places = []
    for seconds in (0.0, 1.0):
        pixels = drawn_at(page, seconds)
        red = middle(pixels, 0)
        assert np.abs(red - projected(page, 0)).max() < 8  # pixels; light and shade are not even
        places.append(red)
    assert np.linalg.norm(places[1] - places[0]) > 30  # 1 m on
    middle(pixels, 2)  # the flag is blue


@pytest.mark.slow
def test_the_followed_body_stays_in_the_picture(page):
    page.ask("replay.seek(0), replay.follow(0), replay.home()")
    first, last = (middle(drawn_at(page, seconds), 0) for seconds in (0.0, 1.0))
    assert np.abs(first - last).max() < 8


@pytest.mark.slow
def test_buttons_mouse_and_wheel_act(page):
    page.ask("replay.seek(0), replay.home()")
    page.ask("document.getElementById('next').click()")
    assert page.ask("replay.now") == pytest.approx(0.02, abs=1e-6)
    azimuth, distance = page.ask("replay.orbit.azimuth"), page.ask("replay.orbit.distance")
    for kind, x in (("mousePressed", 200), ("mouseMoved", 260), ("mouseReleased", 260)):
        page.mouse(kind, x, 100)
    assert page.until("replay.orbit.azimuth") == pytest.approx(azimuth - 60 * 0.35)
    page.call("Input.dispatchMouseEvent", type="mouseWheel", x=200, y=100, deltaX=0, deltaY=100)
    page.until(f"replay.orbit.distance > {distance} * 1.1")
    now = page.ask("replay.play(true), replay.now")
    page.until(f"replay.now !== {now} && replay.drawn > 3")
    page.ask("replay.play(false)")
    assert not page.problems


@pytest.mark.slow
def test_a_notebook_shows_it_in_a_frame_without_a_network(slider, tmp_path):
    slider.reset()
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!DOCTYPE html><body>{record(slider, seconds=0.2, envs=[0])._repr_html_()}</body>", "utf-8")
    browser = Browser(tmp_path / "profile", OFFLINE)
    try:
        browser.open(cell.as_uri())
        browser.until("document.readyState === 'complete' && document.querySelector('iframe') !== null")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            pixels = browser.picture().astype(int)
            if (pixels[..., 0] > pixels[..., 1:].max(axis=2) + 60).sum() > 200:  # the ball is red
                break
        else:
            raise AssertionError("the ball was never drawn")
        assert not browser.problems
        assert {address.split(":")[0] for address in browser.requests} <= {"file", "data", "about", "blob"}
    finally:
        browser.close()
