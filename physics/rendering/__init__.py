"""Pictures of a solver's environments, by a ray caster or by path tracing in Taichi; films.

Poses come from the solver by name (`geom_xpos`, `cam_xmat`, ...); nothing here knows how it stores them. Camera frames
are MuJoCo's: x right, y up, looking along -z. Lengths are metres, pictures (environment, row from the top, column).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..process.libraries import load_taichi, load_torch

if TYPE_CHECKING:
    from .camera import Camera
    from .captions import caption, label
    from .frustum import Intrinsics
    from .look import Look
    from .mounted import MountedCamera
    from .outputs import OUTPUTS
    from .overlays import Show
    from .path.tracer import PathTracer
    from .renderer import BatchRenderer, Images
    from .rig import CameraRig
    from .sheet import grid
    from .video import save_png, write_video

__all__ = [
    "OUTPUTS",
    "BatchRenderer",
    "Camera",
    "CameraRig",
    "Images",
    "Intrinsics",
    "Look",
    "MountedCamera",
    "PathTracer",
    "Show",
    "caption",
    "grid",
    "label",
    "save_png",
    "write_video",
]

_HOMES = {"BatchRenderer": "renderer", "Camera": "camera", "Images": "renderer", "Look": "look"}
_HOMES |= {"OUTPUTS": "outputs", "Show": "overlays", "Intrinsics": "frustum", "MountedCamera": "mounted"}
_HOMES |= {"CameraRig": "rig", "PathTracer": "path.tracer", "grid": "sheet"}
_HOMES |= {"caption": "captions", "label": "captions"}
_HOMES |= {"save_png": "video", "write_video": "video"}


def __getattr__(name: str) -> Any:
    """Import what is asked for: the process that compiles pictures asks for kernels alone, not for torch."""
    if name in _HOMES:
        load_torch()
        load_taichi()
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
