"""Scenes of entities: `import tumble.scene as gs`.

A `Scene` is composed of entities, each with a morph (its shape), a material (how it weighs and touches) and a surface
(how it looks). `Scene.build` makes one model of all, for as many environments as asked for.
"""

from typing import Any

from ..physics.process.libraries import load_taichi, load_torch

load_torch()
load_taichi()

from . import backend, materials, morphs, options, renderers, sensors, surfaces, textures  # noqa: E402
from .backend import cpu, cuda, gpu, init  # noqa: E402
from .choices import constraint_solver, friction_cone, integrator  # noqa: E402
from .errors import SceneOrderError  # noqa: E402
from .scene import Scene  # noqa: E402
from .scene import close_all as destroy  # noqa: E402

__all__ = [
    "Scene",
    "SceneOrderError",
    "constraint_solver",
    "cpu",
    "cuda",
    "destroy",
    "device",
    "friction_cone",
    "gpu",
    "init",
    "integrator",
    "materials",
    "morphs",
    "options",
    "renderers",
    "sensors",
    "surfaces",
    "tc_float",
    "textures",
]


def __getattr__(name: str) -> Any:
    """Return what depends on the machine chosen: `device` and `tc_float`."""
    if name in ("device", "tc_float"):
        return getattr(backend, name)()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
