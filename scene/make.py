"""From what a user says of an entity to a piece of the model: one function for each kind of morph."""

from collections.abc import Callable
from typing import Any

from .compose import Piece
from .materials import Rigid
from .mjcf import mjcf_spec
from .morphs import MJCF, PRIMITIVES, Morph
from .options import RigidOptions
from .primitives import primitive_spec
from .surfaces import Surface

MAKERS: dict[type, Callable[..., Any]] = {**{kind: primitive_spec for kind in PRIMITIVES}, MJCF: mjcf_spec}
"""The function that makes a spec, by the kind of the morph."""


def make_piece(name: str, morph: Morph, material: Rigid, surface: Surface, options: RigidOptions) -> Piece:
    """Return the piece of an entity.

    Raises:
        TypeError: the morph is of no kind that a scene knows.
        ModelLoadError: its file is missing or broken.
    """
    maker = MAKERS.get(type(morph))
    if maker is None:
        known = ", ".join(kind.__name__ for kind in MAKERS)
        raise TypeError(f"morph: {type(morph).__name__} is none that a scene can build; there are {known}")
    pos, quat = morph.place
    return Piece(name, maker(morph, material, surface, options), pos, quat)
