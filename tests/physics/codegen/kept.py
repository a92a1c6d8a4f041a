"""What the tests of the store and of starts share: keys, contents, a model, and what may be warned of."""

import contextlib
import hashlib
import os
import random
import warnings

import pytest

HEAD = 52  # bytes: word 8, version 4, length 8, hash 32
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")

FALLING = """
<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .3"><joint axis="0 1 0" damping=".1"/><geom size=".1" pos=".4 0 0"/></body></worldbody></mujoco>
"""
"""A weight that falls onto the ground, with the features of the smallest models."""

IN_A_CHILD = """
import os, random, resource, signal, sys, time
from pathlib import Path
from tumble.physics.machine.codegen.store import Store
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
