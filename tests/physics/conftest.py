"""What tests of physics share: precision, which belongs to the process."""

import pytest

from .starts import run_with


@pytest.fixture(scope="module")
def double() -> None:
    """Run a module in double precision."""
    run_with("64")
