"""The page of a live view in a browser: find colors in it, compute where they should be, press its controls."""

import math
import time
from collections.abc import Callable

import numpy as np

from tumble.viewer import Viewer
from tumble.viewer.stage import FIELD_OF_VIEW

from .browser import OFFLINE, PATIENCE, Browser

WIDTH, HEIGHT = 800, 450
SCALE = 0.4  # fewer pixels: machines of tests draw in software
NEAR = 12  # pixels: a fifth of the ball's radius
TABS = "[...document.querySelectorAll('[role=tab]')]"


def opened(viewer: Viewer, folder) -> Browser:
    """A browser with the page of a viewer, when its panel is there; it reaches this machine alone."""
    browser = Browser(folder, OFFLINE + ", EXCLUDE localhost", size=(WIDTH, HEIGHT), scale=SCALE)
    browser.open(viewer.url)
    browser.until(f"{TABS}.length >= 4 && document.querySelector('canvas') !== null")
    return browser


def wait(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.5)


def tab(browser: Browser, name: str) -> None:
    """Turn to a tab of the panel."""
    browser.click(f"{TABS}.find(t => t.textContent.includes('{name}'))")


def button(browser: Browser, name: str) -> None:
    """Press the button with a text."""
    browser.click(f"[...document.querySelectorAll('button, label')].find(b => b.textContent.trim() === '{name}')")


def red(browser: Browser) -> np.ndarray | None:
    """Mean place (column, row) of what is red; None where nothing is, as while the page fades in."""
    pixels = browser.picture().astype(int)[:, : int(SCALE * (WIDTH - 340))]  # the rest is under the panel
    is_red = pixels[..., 0] > 3 * pixels[..., 1:].max(axis=2) + 15  # in light and in the dark: by hue
    rows, columns = np.nonzero(is_red)
    return np.array([columns.mean(), rows.mean()]) / SCALE if len(rows) > 40 else None


def projected(viewer: Viewer, point: np.ndarray) -> np.ndarray:
    """Return where a point of the world is in the picture, by the first camera."""
    eye, target = (np.array(getattr(viewer._server.initial_camera, name)) for name in ("position", "look_at"))
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross([0, 0, 1], back)
    right /= np.linalg.norm(right)
    at = np.stack([right, np.cross(back, right), back]) @ (point - eye)
    size = HEIGHT / 2 / math.tan(FIELD_OF_VIEW / 2)
    return np.array([WIDTH / 2 + size * at[0] / -at[2], HEIGHT / 2 - size * at[1] / -at[2]])


def drag(browser: Browser, start: np.ndarray, end: np.ndarray) -> None:
    """Press the mouse at a place of the page and move it to another one, where it stays pressed."""
    browser.mouse("mouseMoved", *start, buttons=0)
    browser.mouse("mousePressed", *start)
    for share in np.linspace(0.1, 1, 10):
        browser.mouse("mouseMoved", *(start + share * (end - start)))
        time.sleep(0.1)


def scene_of(browser):
    """The picture without the panel."""
    return browser.picture().astype(int)[:, : int(SCALE * (WIDTH - 340))]


def unlike(one, other):
    """Return the number of pixels that differ clearly."""
    return int((np.abs(one - other).max(axis=2) > 40).sum())


def still(browser):
    """The picture, when all is drawn and nothing changes any more."""
    one, other = scene_of(browser), None
    while other is None or unlike(one, other):
        time.sleep(3)
        one, other = scene_of(browser), one
    return one
