"""What the tests of environments share: precision, and a folder that Gymnasium's deprecated files may litter.

Precision belongs to the process and a change compiles the engine anew, so tests in 64 bits run after all others.
"""

import pytest

import tumble
from tumble.physics.runtime import ensure_runtime


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
