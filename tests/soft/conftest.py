"""The precision of the tests of matter."""

import pytest

from ..physics.starts import run_with


@pytest.fixture(scope="module")
def single() -> None:
    """Run a module in single precision."""
    run_with("32")
