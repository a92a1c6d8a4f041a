"""Entities of one shape: a body with a geom, and a free joint unless it stands still."""

import mujoco
import numpy as np

from .. import morphs
from ..materials import Rigid
from ..options import RigidOptions
from ..poses import quat_of_z
from ..surfaces import Surface
from .dress import put_look

OBJECT_DENSITY, ROBOT_DENSITY = 600.0, 1500.0
"""Density of bodies without joints, and with joints, if neither the material nor the file sets it, kg/m3."""


def primitive_spec(morph: morphs.Primitive, material: Rigid, surface: Surface, options: RigidOptions) -> mujoco.MjSpec:
    """Return the spec of an entity that is one shape; it stands at the origin."""
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name=f"{morph.NAME}_baselink", gravcomp=material.gravity_compensation)
    if not morph.fixed:
        body.add_freejoint(name=f"{morph.NAME}_baselink_joint")
    geom = body.add_geom(name=morph.NAME, **_shape(morph))
    put_own_touch(geom, material, options)
    geom.contype, geom.conaffinity = (morph.contype, morph.conaffinity) if morph.collision else (0, 0)
    put_look(spec, [geom], surface, visible=morph.visualization, tiles=getattr(morph, "tile_size", None))
    return spec


def put_own_touch(geom: mujoco.MjsGeom, material: Rigid, options: RigidOptions) -> None:
    """Give a shape or mesh, which no file describes, its density and its contacts."""
    geom.density = OBJECT_DENSITY if material.rho is None else material.rho
    geom.condim = 6 if options.enable_rolling_friction else 4 if options.enable_torsional_friction else 3
    geom.solref = [options.constraint_timeconst, 1.0]
    put_touch(geom, material)


def put_density(spec: mujoco.MjSpec, rho: float) -> None:
    """Give a density (kg/m3) to the geoms of a file that weigh by their volume.

    The others keep the file's value: a density of 0, as of shapes that are only seen, a mass, or a mass by area.
    """
    shells = {mesh.name for mesh in spec.meshes if mesh.inertia == mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL}
    for geom in spec.geoms:
        is_shell = geom.typeinertia == mujoco.mjtGeomInertia.mjINERTIA_SHELL or geom.meshname in shells
        if geom.density > 0.0 and not is_shell:
            geom.density = rho


def put_touch(geom: mujoco.MjsGeom, material: Rigid) -> None:
    """Set the friction and contact parameters of a geom that its material has; it keeps the rest."""
    friction = np.array(geom.friction)
    for place, value in enumerate((material.friction, material.friction_torsional, material.friction_rolling)):
        if value is not None:
            friction[place] = value
    geom.friction = friction
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
