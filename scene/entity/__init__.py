"""Entities: their parts, and the objects that they and all entities together are put together from."""

from .entity import RigidEntity

__all__ = ["RigidEntity"]
