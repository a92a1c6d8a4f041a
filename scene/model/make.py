"""From a user's description of an entity to a piece of the model: one function for each kind of morph."""

from collections.abc import Callable
from typing import Any

import mujoco

from ..materials import Rigid
from ..morphs import MJCF, PRIMITIVES, URDF, Drone, FileMorph, Mesh, Morph, Terrain
from ..morphs.morph import ALL_BITS
from ..options import RigidOptions
from ..surfaces import Surface, says_nothing
from .compose import Piece
from .dress import put_look, show
from .drone_file import drone_spec, is_mjcf
from .mesh_file import choose_shapes, mesh_spec
from .mjcf import mjcf_spec, settle
from .primitives import primitive_spec, put_own_touch
from .urdf import urdf_entity_spec

LINK, GEOM = "baselink", "terrain"


def terrain_spec(morph: Terrain, material: Rigid, surface: Surface, options: RigidOptions) -> mujoco.MjSpec:
    """Return the spec of an entity that is a terrain; its lowest corner in x and y is at the origin."""
    spec = mujoco.MjSpec()
    ground = morph.ground()
    geom = ground.add_to(spec, GEOM)
    geom.pos = [ground.size[0] / 2, ground.size[1] / 2, geom.pos[2]]
    settle(spec, LINK)
    (geom,) = spec.geoms
    put_own_touch(geom, material, options)
    geom.contype = geom.conaffinity = ALL_BITS if morph.collision else 0
    if not (says_nothing(surface) and morph.visualization):
        put_look(spec, [geom], surface, visible=morph.visualization)
    return spec


MAKERS: dict[type, Callable[..., Any]] = {
    **{kind: primitive_spec for kind in PRIMITIVES},
    Mesh: mesh_spec,
    MJCF: mjcf_spec,
    URDF: urdf_entity_spec,
    Drone: drone_spec,
    Terrain: terrain_spec,
}
"""The function that makes a spec, by the kind of the morph."""


def make_piece(
    name: str, made_of: tuple[Morph, Rigid, Surface], options: RigidOptions, vis_mode: str | None = None
) -> Piece:
    """Return the piece of an entity.

    Args:
        name: of the entity.
        made_of: its morph, material and surface.
        options: of the scene.
        vis_mode: "visual" or "collision": which geoms are drawn; None: as the surface says.

    Raises:
        TypeError: the morph is of an unknown kind.
        ModelLoadError: its file is missing or broken.
    """
    morph, material, surface = made_of
    maker = MAKERS.get(type(morph))
    if maker is None:
        known = ", ".join(kind.__name__ for kind in MAKERS)
        raise TypeError(f"morph: a scene cannot build a {type(morph).__name__}; it can build {known}")
    spec = maker(morph, material, surface, options)
    show(spec, vis_mode or surface.vis_mode)
    pos, quat = morph.place
    piece = Piece(name, spec, pos, quat)
    if isinstance(morph, FileMorph):
        piece.distance_fields = choose_shapes(spec, morph, material)
        if is_mjcf(morph):  # the others take it themselves
            piece.scale = float(morph.scale)
    return piece
