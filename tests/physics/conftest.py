"""What tests of physics share: precision, which belongs to the process."""

from collections.abc import Iterator

import pytest

from .starts import run_with


@pytest.fixture(scope="module")
def double() -> Iterator[None]:
    """Run a module in double precision."""
    run_with("64")
    yield
    run_with("32")
