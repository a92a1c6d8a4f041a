"""Skip the tests of Meta-World where its files are not installed."""

import pytest

from tumble.assets.packages import folder_of


def pytest_runtest_setup(item):
    """Skip a test of this folder without the files."""
    try:
        folder_of("metaworld")
    except FileNotFoundError as error:
        pytest.skip(str(error))
