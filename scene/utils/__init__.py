"""Functions beside scenes: rotations and poses (`geom`), arrays (`misc`), meshes as ground (`terrain`)."""

from . import geom, misc, terrain

__all__ = ["geom", "misc", "terrain"]
