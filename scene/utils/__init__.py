"""Functions that scripts use beside scenes: rotations and poses (`geom`), and arrays (`misc`)."""

from . import geom, misc

__all__ = ["geom", "misc"]
