"""Folders that the tests of the store begin with."""

import pytest

from tumble.physics.machine.codegen.store import Store

from .kept import contents_of, key_of, warned


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "parent" / "objects"


@pytest.fixture
def filled(folder):
    """A folder with one file, under the key of 0."""
    with warned():
        Store(folder).save(key_of(0), contents_of(0))
    return folder
