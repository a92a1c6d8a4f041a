"""Entities of one shape: a body with a geom, and a free joint unless it stands still."""

import mujoco
import numpy as np

from . import morphs
from .dress import put_look
from .materials import Rigid
from .options import RigidOptions
from .poses import quat_of_z
from .surfaces import Surface

DENSITY = 200.0
"""Density of shapes and meshes whose material says nothing, kg/m3."""


def primitive_spec(morph: morphs.Primitive, material: Rigid, surface: Surface, options: RigidOptions) -> mujoco.MjSpec:
    """Return the spec of an entity that is one shape; it stands at the origin."""
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name=f"{morph.NAME}_baselink", gravcomp=material.gravity_compensation)
    if not morph.fixed:
        body.add_freejoint(name=f"{morph.NAME}_baselink_joint")
    geom = body.add_geom(name=morph.NAME, **_shape(morph))
    put_touch(geom, material, options, DENSITY)
    geom.contype, geom.conaffinity = (morph.contype, morph.conaffinity) if morph.collision else (0, 0)
    put_look(spec, [geom], surface, visible=morph.visualization, tiles=getattr(morph, "tile_size", None))
    return spec


def put_touch(geom: mujoco.MjsGeom, material: Rigid, options: RigidOptions, density: float | None) -> None:
    """Give a geom what its material says of mass and contact; a shape or mesh has a density, a file's may be its own.

    Args:
        geom: changed.
        material: what is asked for.
        options: of the scene.
        density: of a geom whose material says nothing, kg/m3; None: a file's geom, which keeps its own numbers.
    """
    own = density is not None
    if own or material.rho is not None:
        geom.density = material.rho if material.rho is not None else density
    friction = np.array(geom.friction)
    for place, value in enumerate((material.friction, material.friction_torsional, material.friction_rolling)):
        if value is not None:
            friction[place] = value
    geom.friction = friction
    if own:
        geom.condim = 6 if options.enable_rolling_friction else 4 if options.enable_torsional_friction else 3
        geom.solref = [options.constraint_timeconst, 1.0]
    if material.sol_params is not None:
        geom.solref, geom.solimp = material.sol_params[:2], material.sol_params[2:]


def _shape(morph: morphs.Primitive) -> dict:
    """Return type, size and pose of a morph's geom, by MuJoCo's names."""
    kind = mujoco.mjtGeom
    if isinstance(morph, morphs.Box):
        return {"type": kind.mjGEOM_BOX, "size": [edge / 2 for edge in morph.size]}
    if isinstance(morph, morphs.Sphere):
        return {"type": kind.mjGEOM_SPHERE, "size": [morph.radius, 0.0, 0.0]}
    if isinstance(morph, morphs.Cylinder | morphs.Capsule):
        is_capsule = isinstance(morph, morphs.Capsule)
        name = kind.mjGEOM_CAPSULE if is_capsule else kind.mjGEOM_CYLINDER
        return {"type": name, "size": [morph.radius, morph.height / 2, 0.0]}
    if isinstance(morph, morphs.Ellipsoid):
        return {"type": kind.mjGEOM_ELLIPSOID, "size": [edge / 2 for edge in morph.size]}
    assert isinstance(morph, morphs.Plane)
    size = [morph.plane_size[0] / 2, morph.plane_size[1] / 2, 1.0]
    return {"type": kind.mjGEOM_PLANE, "size": size, "quat": quat_of_z(morph.normal)}
