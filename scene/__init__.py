"""Scenes of entities: `import tumble.scene as gs`.

A `Scene` is composed of entities, each with a morph (its shape), a material (how it weighs and touches) and a surface
(how it looks). `Scene.build` makes one model of all, for as many environments as asked for.

| folder | has |
|---|---|
| `morphs`, `sensors`, `recorders` | options, and what is made of them |
| `model` | from morphs, materials and surfaces to one model |
| `entity` | entities, their links, joints and geoms, and the objects that have their calls |
| `objects` | the objects that have the calls of a scene, and the contents that they share |
| `pictures` | cameras, debug objects, the page in a browser |
| `files` | a scene as text, its state, its recorded movement |
| `compat`, `utils` | names of Genesis, options that change nothing, functions of rotations |
"""

from typing import Any

from ..physics.machine.libraries import load_mujoco, load_taichi, load_torch

load_mujoco()
load_torch()
load_taichi()

from . import machine, materials, morphs, options, recorders, renderers, sensors, surfaces, textures, utils  # noqa: E402
from .compat.names import constraint_solver, friction_cone, integrator  # noqa: E402
from .errors import SceneOrderError  # noqa: E402
from .machine import cpu, cuda, gpu, init, logger  # noqa: E402
from .scene import Scene  # noqa: E402
from .scene import close_all as destroy  # noqa: E402

__all__ = [
    "Scene",
    "SceneOrderError",
    "constraint_solver",
    "cpu",
    "cuda",
    "destroy",
    "friction_cone",
    "gpu",
    "init",
    "integrator",
    "logger",
    "materials",
    "morphs",
    "options",
    "recorders",
    "renderers",
    "sensors",
    "surfaces",
    "textures",
    "utils",
]


def __getattr__(name: str) -> Any:
    """Return a name that depends on the machine, such as `device` and `tc_float`, or a function of `utils.geom`."""
    if name in machine.CONSTANTS:
        return machine.constants()[name]
    if getattr(getattr(utils.geom, name, None), "__module__", "") == utils.geom.__name__:
        return getattr(utils.geom, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
