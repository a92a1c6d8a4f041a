"""The looks of an entity's geoms: a surface becomes a material of MuJoCo's, with an image or the tiles of a plane."""

from collections.abc import Sequence
from typing import Any

import mujoco

from ...physics.files.geometry.visual import IOR_SUFFIX
from ..surfaces import RIGID_MODES, Surface
from ..textures import ImageTexture

HIDDEN_GROUP = 3
"""Geoms of this group touch, and are not drawn."""
GREY = (0.8, 0.8, 0.8)
TILES = ([0.75] * 3, [0.6] * 3)
_COLOR = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)
_UNSET = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's default: the material's colour


def put_look(
    spec: mujoco.MjSpec,
    geoms: Sequence[Any],
    surface: Surface,
    visible: bool = True,
    tiles: Sequence[float] | None = None,
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
    name = _free("surface", {material.name for material in spec.materials})
    roughness = surface.ROUGHNESS if surface.roughness is None else surface.roughness
    metallic = surface.METALLIC if surface.metallic is None else surface.metallic
    color, shining = surface.emissive or surface.color or GREY, 0.0
    if surface.emissive:
        shining = max(1.0, *surface.emissive)
        color = [part / shining for part in color]
    material = spec.add_material(
        name=name,
        rgba=[*(min(part, 1.0) for part in color), 1.0 if surface.opacity is None else surface.opacity],
        specular=0.5 * (1.0 - roughness) + 0.5 * metallic,
        shininess=1.0 - roughness,
        roughness=roughness,
        metallic=metallic,
        emission=shining,
    )
    if surface.ior is not None and material.rgba[3] < 1.0:  # glass, for path tracing
        spec.add_numeric(name=f"{name}{IOR_SUFFIX}", data=[surface.ior], size=1)
    kind = mujoco.mjtTexture.mjTEXTURE_2D
    texture = _free("image", {texture.name for texture in spec.textures})
    if isinstance(surface.diffuse_texture, ImageTexture):
        spec.add_texture(name=texture, type=kind, file=surface.diffuse_texture.image_path)
        material.textures[_COLOR] = texture
        material.rgba = [*(surface.color or (1.0, 1.0, 1.0)), material.rgba[3]]
    elif tiles is not None and surface.color is None:
        checker = mujoco.mjtBuiltin.mjBUILTIN_CHECKER
        spec.add_texture(name=texture, type=kind, builtin=checker, width=64, height=64, rgb1=TILES[0], rgb2=TILES[1])
        material.textures[_COLOR] = texture
        material.rgba = [1.0, 1.0, 1.0, material.rgba[3]]
        material.texuniform, material.texrepeat = True, [1.0 / edge for edge in tiles]
    for geom in geoms:
        geom.material, geom.rgba = name, _UNSET


def show(spec: mujoco.MjSpec, vis_mode: str | None) -> None:
    """Draw what touches instead of what a file wants seen, if the mode is "collision".

    Raises:
        ValueError: for another mode.
    """
    if vis_mode not in (None, *RIGID_MODES):
        raise ValueError(f"vis_mode={vis_mode!r}: of a rigid body it is {' or '.join(map(repr, RIGID_MODES))}")
    if vis_mode != "collision":
        return
    for geom in spec.geoms:
        geom.group = 0 if geom.contype or geom.conaffinity else HIDDEN_GROUP


def _free(base: str, taken: set[str]) -> str:
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name
