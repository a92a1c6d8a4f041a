"""What the tests of the store share: keys, contents, and what may be warned of."""

import contextlib
import hashlib
import os
import random
import warnings

import pytest

HEAD = 52  # bytes: word 8, version 4, length 8, hash 32
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")

IN_A_CHILD = """
import os, random, resource, signal, sys, time
from pathlib import Path
from tumble.physics.codegen.store import Store
store = Store(Path(sys.argv[1]))
"""


def key_of(number):
    return hashlib.sha256(str(number).encode()).hexdigest()


def contents_of(number, size=3000):
    return random.Random(number).randbytes(size)


def path_of(folder, number):
    return folder / f"{key_of(number)}.code"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@contextlib.contextmanager
def warned(*texts):
    """Every text is in a warning of its own, and there are no others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    said = [str(warning.message) for warning in caught]
    assert len(said) == len(texts) and all(text in one for text, one in zip(texts, said, strict=True)), said
