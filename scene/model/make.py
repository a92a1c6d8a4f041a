"""From what a user says of an entity to a piece of the model: one function for each kind of morph."""

from collections.abc import Callable
from typing import Any

from ..materials import Rigid
from ..morphs import MJCF, PRIMITIVES, URDF, Drone, FileMorph, Mesh, Morph, Terrain
from ..options import RigidOptions
from ..surfaces import Surface
from .compose import Piece
from .dress import show
from .drone_file import drone_spec, is_mjcf
from .ground import terrain_spec
from .mesh_file import choose_shapes, mesh_spec
from .mjcf import mjcf_spec
from .primitives import primitive_spec
from .urdf import urdf_entity_spec

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
        TypeError: the morph is of no kind that a scene knows.
        ModelLoadError: its file is missing or broken.
    """
    morph, material, surface = made_of
    maker = MAKERS.get(type(morph))
    if maker is None:
        known = ", ".join(kind.__name__ for kind in MAKERS)
        raise TypeError(f"morph: {type(morph).__name__} is none that a scene can build; there are {known}")
    spec = maker(morph, material, surface, options)
    show(spec, vis_mode or surface.vis_mode)
    pos, quat = morph.place
    piece = Piece(name, spec, pos, quat)
    if isinstance(morph, FileMorph):
        piece.distance_fields = choose_shapes(spec, morph, material)
        if is_mjcf(morph):  # the others take it themselves
            piece.scale = float(morph.scale)
    return piece
