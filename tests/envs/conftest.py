"""What the tests of environments share: precision, and a folder that Gymnasium's deprecated files may litter.

Precision belongs to the process and a change compiles the engine anew, so tests in 64 bits run after all others.
"""

import sys
import types

import numpy as np
import pytest

import tumble
from tumble.physics.machine.runtime import ensure_runtime


def pytest_collection_modifyitems(items):
    """Put the tests in 64 bits last, otherwise in order."""
    items.sort(key=_wants_double)


def _wants_double(item: pytest.Item) -> bool:
    """Whether a test runs in 64 bits."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return "double_precision" in getattr(item, "fixturenames", ()) or parameters.get("each_precision") == "64"


def _use(bits: str) -> None:
    """Change the precision if it is another one now."""
    if ensure_runtime().precision != bits:
        tumble.init(precision=bits)


@pytest.fixture(autouse=True)
def chosen_precision(request) -> None:
    """32 bits, unless the test asks for 64."""
    _use("64" if _wants_double(request.node) else "32")


@pytest.fixture
def double_precision() -> None:
    """Ask for 64 bits."""


@pytest.fixture(params=["32", "64"])
def each_precision(request) -> str:
    """Run a test once in each precision."""
    return request.param


@pytest.fixture(autouse=True)
def clean_folder(tmp_path, monkeypatch) -> None:
    """Run elsewhere: MuJoCo writes a log for a deprecated attribute in Gymnasium's cheetah."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def opencv(monkeypatch):
    """Stand in for OpenCV, with which two of Gymnasium's wrappers change the size of pictures: nearest neighbours."""

    def resize(picture: np.ndarray, size: tuple[int, int], interpolation: int = 0) -> np.ndarray:
        rows, columns = (np.arange(n) * old // n for n, old in zip(size[::-1], picture.shape[:2], strict=True))
        return picture[rows][:, columns]

    monkeypatch.setitem(sys.modules, "cv2", types.SimpleNamespace(resize=resize, INTER_AREA=3))
    return resize


@pytest.fixture
def window(monkeypatch):
    """Let pygame draw into memory; return what is on the screen, (height, width, 3)."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = pytest.importorskip("pygame")
    yield lambda: pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)
    pygame.display.quit()
