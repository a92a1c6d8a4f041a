"""The order of the tests: those that take minutes begin first, so that no worker is left alone with one at the end."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that are marked `long` in front."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
