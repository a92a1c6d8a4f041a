"""Pictures of a solver's environments, by a ray caster or by path tracing in Taichi; films.

Poses come from the solver by name (`geom_xpos`, `cam_xmat`, ...); nothing here knows how it stores them. Camera frames
are MuJoCo's: x right, y up, looking along -z. Lengths are metres, pictures (environment, row from the top, column).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..machine.libraries import load_taichi, load_torch

if TYPE_CHECKING:
    from .cameras.camera import Camera
    from .cameras.frustum import Intrinsics
    from .cameras.mounted import MountedCamera
    from .film.captions import caption, label
    from .film.video import grid, save_png, write_video
    from .look import Look
    from .outputs import OUTPUTS
    from .particles.group import ParticleGroup, WithParticles
    from .path.tracer import PathTracer
    from .renderer import BatchRenderer, CameraRig, Images
    from .shown.overlays import Show

__all__ = [
    "OUTPUTS",
    "BatchRenderer",
    "Camera",
    "CameraRig",
    "Images",
    "Intrinsics",
    "Look",
    "MountedCamera",
    "ParticleGroup",
    "PathTracer",
    "Show",
    "WithParticles",
    "caption",
    "grid",
    "label",
    "save_png",
    "write_video",
]

_HOMES = {"BatchRenderer": "renderer", "Camera": "cameras.camera", "Images": "renderer", "Look": "look"}
_HOMES |= {
    "OUTPUTS": "outputs",
    "Show": "shown.overlays",
    "Intrinsics": "cameras.frustum",
    "MountedCamera": "cameras.mounted",
}
_HOMES |= {"CameraRig": "renderer", "PathTracer": "path.tracer", "grid": "film.video"}
_HOMES |= {"ParticleGroup": "particles.group", "WithParticles": "particles.group"}
_HOMES |= {"caption": "film.captions", "label": "film.captions"}
_HOMES |= {"save_png": "film.video", "write_video": "film.video"}


def __getattr__(name: str) -> Any:
    """Import a name lazily: the process that compiles pictures needs only kernels, not torch."""
    if name in _HOMES:
        load_torch()
        load_taichi()
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
