"""Benchmarks are tested at 32 bits, in the runtime that the other tests use."""

import pytest

import tumble
from tumble.physics.machine.runtime import Runtime, ensure_runtime


@pytest.fixture
def runtime() -> Runtime:
    current = ensure_runtime()
    return current if current.precision == "32" else tumble.init(precision="32")
