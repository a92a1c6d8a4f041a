"""Entities from MJCF files: the file's spec, with its numbers unless a material or an option overrides them."""

from typing import Any

import mujoco

from ...physics.model.loading.loading import open_mjcf
from ..materials import Rigid
from ..morphs import MJCF, Drone
from ..options import RigidOptions
from ..surfaces import Surface, says_nothing
from .dress import put_look
from .primitives import put_density, put_touch

WORLD = "world_link"
"""Name of the link that has the geoms of a file's world."""
OFF_GROUP = 30
"""Group of actuators that do not act."""
_GEOM = (
    *("type", "pos", "quat", "fromto", "size", "contype", "conaffinity", "condim", "priority"),
    *("friction", "solmix", "solref", "solimp", "margin", "gap", "mass", "density", "typeinertia", "fluid_ellipsoid"),
    *("fluid_coefs", "material", "rgba", "group", "hfieldname", "meshname", "fitscale", "userdata", "surfacevel"),
    *("adhesion", "castshadow"),
)
_ORIENTATION = ("type", "axisangle", "xyaxes", "zaxis", "euler")


def mjcf_spec(morph: MJCF, material: Rigid, surface: Surface, options: RigidOptions) -> mujoco.MjSpec:
    """Return the spec of an entity from an MJCF file.

    Raises:
        ModelLoadError: the file is missing or broken.
    """
    spec = open_mjcf(morph.path)
    if morph.exclude_ground_plane:
        for geom in [geom for geom in spec.worldbody.geoms if geom.type == mujoco.mjtGeom.mjGEOM_PLANE]:
            spec.delete(geom)
    return dress_mjcf(spec, morph, material, surface, options)


def dress_mjcf(
    spec: mujoco.MjSpec, morph: MJCF | Drone, material: Rigid, surface: Surface, options: RigidOptions
) -> mujoco.MjSpec:
    """Return the spec of a file with the settings of a morph, a material and a surface."""
    settle(spec)
    if material.rho is not None:
        put_density(spec, material.rho)
    for geom in spec.geoms:
        put_touch(geom, material)
        if not morph.collision:
            geom.contype = geom.conaffinity = 0
    if not (says_nothing(surface) and morph.visualization):
        put_look(spec, list(spec.geoms), surface, visible=morph.visualization)
    for body in spec.bodies[1:] if material.gravity_compensation else []:
        body.gravcomp = material.gravity_compensation
    for joint in spec.joints if morph.default_armature is not None else []:
        if joint.armature == 0.0 and joint.type != mujoco.mjtJoint.mjJNT_FREE:
            joint.armature = morph.default_armature
    for actuator in spec.actuators:
        actuator.group = OFF_GROUP
    return spec


def settle(spec: mujoco.MjSpec, name: str = WORLD) -> None:
    """Move the geoms of a file's world to a separate static body, so that they are one entity's.

    The body is the last of the entity, and has this name, or one that is not taken.

    The physics is the same: geoms of static bodies collide as the world's geoms do.
    """
    geoms = list(spec.worldbody.geoms)
    if not geoms:
        return
    for place, frame in enumerate(spec.frames):
        frame.name = frame.name or f"{WORLD}: {place}"  # frames are distinguished only by name
    taken = {body.name for body in spec.bodies[1:]}
    while name in taken:
        name += "_"
    body = spec.worldbody.add_body(name=name)
    frames: dict[str, Any] = {}
    for geom in geoms:
        own, geom.name = geom.name, f"{geom.name}: moved" if geom.name else ""
        moved = body.add_geom(name=own)
        for attribute in _GEOM:
            setattr(moved, attribute, getattr(geom, attribute))
        _put_orientation(moved.alt, geom.alt)
        if geom.frame is not None:
            moved.set_frame(_frame(body, geom.frame, frames))
        spec.delete(geom)


def _frame(body: mujoco.MjsBody, frame: mujoco.MjsFrame, made: dict[str, mujoco.MjsFrame]) -> mujoco.MjsFrame:
    """Return the copy of a frame of the world in a body; the frames around it are copied, too."""
    if frame.name not in made:
        copy = body.add_frame(pos=frame.pos, quat=frame.quat)
        _put_orientation(copy.alt, frame.alt)
        if frame.frame is not None:
            copy.set_frame(_frame(body, frame.frame, made))
        made[frame.name] = copy
    return made[frame.name]


def _put_orientation(target: Any, source: Any) -> None:
    for name in _ORIENTATION:
        setattr(target, name, getattr(source, name))
