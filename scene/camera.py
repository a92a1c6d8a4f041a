"""The former address of `scene.pictures.camera`."""

from .pictures.camera import Camera

__all__ = ["Camera"]
