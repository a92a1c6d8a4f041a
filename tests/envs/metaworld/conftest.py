"""Skip the tests of Meta-World where its files are not installed."""

import pytest

from tumble.assets.packages import find_in_source


def pytest_runtest_setup(item):
    """Skip a test of this folder without the files."""
    try:
        find_in_source("metaworld:sawyer_xyz/sawyer_reach_v3.xml")
    except FileNotFoundError as error:
        pytest.skip(str(error))
