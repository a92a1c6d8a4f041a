"""Entities of ground that is not flat: a field of heights, which stands still."""

import mujoco

from ..materials import Rigid
from ..morphs import Terrain
from ..morphs.morph import ALL_BITS
from ..options import RigidOptions
from ..surfaces import Surface, says_nothing
from .dress import put_look
from .mjcf import settle
from .primitives import put_own_touch

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
