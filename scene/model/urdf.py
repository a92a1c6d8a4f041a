"""Entities from URDF files: the spec of `tumble.physics.files.urdf`, with the settings of a material and a surface."""

import warnings

import mujoco

from ...physics.files.urdf import urdf_spec
from ..materials import Rigid
from ..morphs import URDF, Drone
from ..options import RigidOptions
from ..surfaces import Surface, says_nothing
from .dress import put_look
from .mjcf import settle
from .primitives import OBJECT_DENSITY, ROBOT_DENSITY, put_density, put_touch


def urdf_entity_spec(morph: URDF, material: Rigid, surface: Surface, options: RigidOptions) -> mujoco.MjSpec:
    """Return the spec of an entity from a URDF file.

    Raises:
        UrdfError: the file is missing or broken, or mesh files of its collision shapes are missing.
    """
    with warnings.catch_warnings():
        if isinstance(morph, Drone):  # it reads that element itself
            warnings.filterwarnings("ignore", ".*<robot> has an unknown element <properties>")
        spec = urdf_spec(
            morph.path,
            packages=morph.packages,
            fixed=morph.fixed,
            merge_fixed_links=morph.merge_fixed_links,
            links_to_keep=morph.links_to_keep,
            balance_inertia=morph.balance_inertia,
            default_armature=morph.default_armature or 0.0,
            scale=float(morph.scale),
            visuals=morph.visualization,
            prioritize_urdf_material=morph.prioritize_urdf_material,
        )
    settle(spec)
    jointed = any(joint.type != mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints)
    put_density(spec, material.rho or (ROBOT_DENSITY if jointed else OBJECT_DENSITY))
    for geom in spec.geoms:
        put_touch(geom, material)
        if not morph.collision:  # it weighs all the same
            geom.contype = geom.conaffinity = 0
    if not says_nothing(surface):
        put_look(spec, list(spec.geoms), surface)
    for body in spec.bodies[1:] if material.gravity_compensation else []:
        body.gravcomp = material.gravity_compensation
    return spec
