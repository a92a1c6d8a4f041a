"""The looks of an entity's geoms: a surface becomes a material of MuJoCo's, with a texture for the tiles of a plane."""

from collections.abc import Sequence
from typing import Any

import mujoco

from .surfaces import Surface

HIDDEN_GROUP = 3
"""Geoms of this group touch, and are not drawn."""
GREY = (0.8, 0.8, 0.8)


def put_look(
    spec: mujoco.MjSpec, geoms: Sequence[Any], surface: Surface, visible: bool = True, tiles: Any = None
) -> None:
    """Give geoms a material.

    Args:
        spec: theirs; it gets the material.
        geoms: changed.
        surface: what is asked for.
        visible: whether they are drawn.
        tiles: edges of a plane's tiles, (2,) m; None: plain.
    """
    if not visible:
        for geom in geoms:
            geom.group = HIDDEN_GROUP
        return
    color = surface.color if surface.color is not None else GREY
    opacity = 1.0 if surface.opacity is None else surface.opacity
    roughness = 0.5 if surface.roughness is None else surface.roughness
    metallic = 0.0 if surface.metallic is None else surface.metallic
    emission = 0.0 if surface.emissive is None else 1.0
    material = spec.add_material(
        name="surface",
        rgba=[*color, opacity],
        specular=0.5 * (1.0 - roughness) + 0.5 * metallic,
        shininess=1.0 - roughness,
        reflectance=0.0,
        roughness=roughness,
        metallic=metallic,
        emission=emission,
    )
    if tiles is not None and surface.color is None:
        kind = mujoco.mjtTexture.mjTEXTURE_2D
        checker = mujoco.mjtBuiltin.mjBUILTIN_CHECKER
        size = {"width": 512, "height": 512, "rgb1": [0.75] * 3, "rgb2": [0.6] * 3}
        spec.add_texture(name="tiles", type=kind, builtin=checker, **size)
        material.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = "tiles"
        material.texuniform, material.texrepeat = True, [1.0 / edge for edge in tiles]
    for geom in geoms:
        geom.material = "surface"
