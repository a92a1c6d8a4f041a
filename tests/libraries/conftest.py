"""What the tests of libraries share: single precision, whatever tests ran before them in the process."""

import pytest

import tumble
from tumble.physics.machine.runtime import ensure_runtime


@pytest.fixture(scope="module", autouse=True)
def single_precision() -> None:
    """Begin anew if another precision was left behind; libraries' networks are float32."""
    if ensure_runtime().precision != "32":
        tumble.init(precision="32")
